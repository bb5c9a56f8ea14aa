/* The pool: two threads submit, workers come and go, two handlers wait for the result of others, and one
 * makes a successor ready that may stay on its worker.
 *
 * Follows Executors/Pool.swift, and the pool's part of Promise/Await.swift. Every access under the lock
 * is a step of its own, so a section that forgets the lock shows. Threads start when they like.
 *
 * Checked:
 *   G3  each reaction runs exactly once, and none is left without a worker, also where all workers wait
 *   there are never more workers than allowed but those that came back from a wait; all sign off in the
 *   end, and the counts say so
 */

/* Stands for:
 *   Executors/Pool.swift: Pool submitPooled payOwedWorker sendOwedWorker Reinforcement claimWorker send
 *   Executors/Pool.swift: work workUntilNothingIsLeft nextReaction takeFromPool lendPlaceInPool takePlaceInPoolBack
 *   Promise/Await.swift: sleep runPooledInside
 *   Promise/LookAhead.swift: whenReady
 *   Promise/Run.swift: run
 *   Platform/SpinLock.swift: SpinLock
 *   State/HandlerQueue.swift: MemberList
 */

#define REACTIONS 4            /* 0 waits for 2, 1 waits for 3; 2 makes 3 ready */
#ifndef MOST_WORKERS
#define MOST_WORKERS 1
#endif
#ifndef MOST_STAND_INS
#define MOST_STAND_INS 4
#endif
#define NIL 7

chan queue = [REACTIONS] of { byte };
short workers;
short blocked;
bool poolLock;

byte begun;                    /* bits */
byte done;                     /* bits */
byte running;                  /* workers sent and not signed off, wherever they are */
byte finished;
bool ended;

#define HAS(bits, m) (bits & (1 << m))

inline lock() { atomic { !poolLock -> poolLock = true } }
inline unlock() { poolLock = false }

/* claimWorker, under the lock; `reinforced` is what `send` acts on. */
inline claimWorker()
{
    if
    :: workers >= MOST_WORKERS -> reinforced = false
    :: else -> counted = workers; workers = counted + 1; reinforced = true
    fi
}

inline send()
{
    if
    :: reinforced -> atomic { running++; run Worker(); reinforced = false }
    :: else
    fi
}

inline enqueue(m)
{
    lock();
    queue!m;
    claimWorker();
    unlock();
    send();
    counted = 0
}

/* submitPooled, after a handler has returned: the successor may stay if nothing else is waiting. */
inline submitPooled(m)
{
    lock();
    isEmpty = empty(queue);
    unlock();
    if
    :: isEmpty && successor == NIL -> successor = m
    :: else -> enqueue(m)
    fi;
    isEmpty = false
}

/* nextReaction: `m` is NIL when the worker is signed off. */
inline nextReaction()
{
    if
    :: successor != NIL -> m = successor; successor = NIL
    :: else ->
        lock();
        if
        :: queue?m
        :: empty(queue) -> counted = workers; workers = counted - 1; m = NIL
        fi;
        unlock();
        counted = 0
    fi
}

/* work, with run and complete */
proctype Worker()
{
    byte m = NIL, successor = NIL;
    short counted;
    bool isEmpty, reinforced;

    do
    :: true ->
        nextReaction();
        if
        :: m == NIL -> break
        :: else
        fi;
        atomic { run Handler(m) };
        HAS(done, m);
        if
        :: m == 2 -> submitPooled(3)
        :: else
        fi
    od;
    atomic { running--; m = 0; successor = 0 }
}

/* takeFromPool: takes out of the queue what the handler waits for. */
inline takeFromPool(wanted)
{
    lock();
    reinforced = queue??[eval(wanted)];
    if
    :: reinforced -> queue??eval(wanted); other = wanted; reinforced = false
    :: else -> other = NIL
    fi;
    unlock()
}

/* lendPlaceInPool: `other` is what to run instead. */
inline lendPlaceInPool(canRunOther)
{
    lock();
    if
    :: canRunOther && blocked >= MOST_STAND_INS && len(queue) > 0 -> queue?other; unlock()
    :: else ->
        other = NIL;
        counted = blocked;
        blocked = counted + 1;
        counted = workers;
        workers = counted - 1;
        if
        :: empty(queue) -> reinforced = false
        :: nempty(queue) -> claimWorker()
        fi;
        unlock();
        counted = 0;
        send()
    fi
}

inline takePlaceInPoolBack()
{
    lock();
    counted = blocked;
    blocked = counted - 1;
    counted = workers;
    workers = counted + 1;
    unlock();
    counted = 0
}

/* runNested: on this thread, which stands still meanwhile; what 2 makes ready is not kept here. */
inline runNested(m)
{
    atomic { run Handler(m) };
    HAS(done, m);
    if
    :: m == 2 -> enqueue(3)
    :: else
    fi
}

/* A handler; the loop is `sleep` in Await.swift. */
proctype Handler(byte m)
{
    byte wanted = NIL, other = NIL;
    short counted;
    bool reinforced, hasStack;

    atomic { assert(!HAS(begun, m)); begun = begun | (1 << m) };
    if
    :: m <= 1 ->
        wanted = m + 2;
        if
        :: hasStack = true
        :: hasStack = false
        fi;
        do
        :: HAS(done, wanted) -> break
        :: else ->
            if
            :: hasStack -> takeFromPool(wanted)
            :: else
            fi;
            if
            :: other != NIL -> skip
            :: else -> lendPlaceInPool(hasStack)
            fi;
            if
            :: other != NIL -> runNested(other); other = NIL
            :: else -> HAS(done, wanted); takePlaceInPoolBack()
            fi
        od
    :: else
    fi;
    atomic { done = done | (1 << m); wanted = 0; other = 0; hasStack = false }
}

proctype Submitter(byte m; byte last)
{
    short counted;
    bool reinforced;

    enqueue(m);
    if
    :: last != m -> enqueue(last)
    :: else
    fi;
    atomic { finished++; m = 0; last = 0 }
}

init {
#ifdef ONE_WAITS
    finished = 1;
    begun = 2;
    done = 2;
#else
    run Submitter(1, 1);
#endif
    run Submitter(0, 2);
    finished == 2 && done == (1 << REACTIONS) - 1 && running == 0;
    assert(begun == done && workers == 0 && blocked == 0 && empty(queue) && !poolLock);
    ended = true
}

ltl ends { <> ended }
