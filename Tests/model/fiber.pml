/* A fiber that waits twice, on an executor with two threads. A thread settles what the fiber waits for, another one
 * cancels the fiber, the clock's thread fires the time-outs, and the executor may refuse the step: any of these, or all.
 * PINNED: the fiber is a handler of a loop with its one thread, and threads make its waits endless and nudge them.
 *
 * Follows Thread/FiberState.swift, Waiting/Fibers.swift, Waiting/LoopFibers.swift and Thread/WaitingThreads.swift.
 *
 * Checked:
 *   one thread at a time enters the stack, and only while the fiber is off it
 *   each suspension has its step handed over once, and not before the fiber has left
 *   a wait ends once its promise has settled, its time is up, its fiber was cancelled or refused, or it is endless;
 *   its result names a reason that has come
 *   no thread touches a wait or its timer after the wait's end, nor the fiber's memory after the fiber's
 */

/* Stands for:
 *   awaited awake cancellation cancelOne complete endIdle enlist enter FiberPointer FiberWait handOver hasFired
 *   leave nudge nudgeFiber nudgeOwnFiber nudgeThose Parking pin refuse refuseSuspended result sleep startTimer stopTimer
 *   suspend suspended suspendedStep timeIsUp TimerNode unparkDone unpin waitUntilDone wake whileListed withdraw withWait
 *   yieldFiber
 */

#define WAITS 2
#define NOBODY 0
#define NONE 9

/* The word of a waiter: awake and suspended stand for the fiber's address with 6 and with 7. */
#define AWAKE 0
#define SUSPENDED 1
#define NUDGED 2
#define DONE 3

/* Fiber.Leaving */
#define WAITING 1
#define YIELDS 2
#define ENDED 3

/* WaitResult */
#define SETTLED 1
#define TIMED_OUT 2
#define CANCELLED 3
#define REFUSED 4
#define DEADLOCK 5

/* The promises that are waited for: each one's word, with the queue, in which the waiter is or is not. */
bool hasValue[WAITS], isLocked[WAITS], inQueue[WAITS];

/* FiberWait, on the fiber's stack: valid while `here`. */
bool here[WAITS], hasFired[WAITS], isUp[WAITS];
byte word[WAITS], result[WAITS];
/* The clock's heap, under its lock. */
bool inHeap[WAITS];

/* Of the events that may come: those of this run. */
bool settles[WAITS], hasTimeout[WAITS], isShield[WAITS], cancels, mayRefuse;

/* The work's record: its lock, its phase and its mark; and the fiber's fields under that lock. */
bool workLocked, isRunning = true, isCancelled, isAwaited;
byte waiter = NONE;

/* The fiber: its memory, the thread on its stack, and its fields. */
bool fiberHere = true, isRefused, isPinned;
byte onStack = NOBODY;
byte leaving;

/* The step is in the executor's queue, first as the fiber's work. */
bool isQueued = true;
/* The fiber is off its stack, and its step was not handed over since. */
bool isOff;

/* WaitingThreads.swift */
bool listLock, isListed[WAITS], isEndless[WAITS];

bool ended;

inline alive(w) { assert(w < WAITS && here[w]) }

/* handOver(step:) */
inline handOver()
{
    atomic { assert(isOff && !isQueued && onStack == NOBODY && fiberHere); isOff = false; isQueued = true }
}

/* nudgeFiber: `gotStep` says that the caller has the step to hand over. */
inline nudgeFiber(w)
{
    do
    :: true ->
        atomic { alive(w); found = word[w]; gotStep = false };
        if
        :: found == AWAKE || found == SUSPENDED ->
            /* replaceAcquireRelease(word, nudged) */
            atomic {
                alive(w);
                if
                :: word[w] == found -> word[w] = NUDGED; gotStep = (found == SUSPENDED); found = NUDGED
                :: else
                fi
            };
            if
            :: found == NUDGED -> break
            :: else
            fi
        :: else -> break
        fi
    od
}

/* leave: `onStack` names the thread until the switch is through; then the stack is free. */
inline leave(why)
{
    leaving = why;
    onStack = NOBODY;
    onStack != NOBODY
}

inline lockWork() { atomic { !workLocked -> workLocked = true } }

/* unlink, and waitUntilDone for a waiter that the settling thread has */
inline withdraw(w)
{
    atomic { !isLocked[w] -> isLocked[w] = true };
    found = inQueue[w];
    atomic { inQueue[w] = false; isLocked[w] = false };
    if
    :: !found -> word[w] == DONE; result[w] = SETTLED
    :: else
    fi
}

/* FiberWaitPointer.result */
inline look(w)
{
    /* replaceAcquire(nudged, awake) */
    atomic {
        if
        :: word[w] == NUDGED -> word[w] = AWAKE
        :: else
        fi
    };
    if
    :: word[w] == DONE -> result[w] = SETTLED
    :: else ->
        if
        :: isRefused -> result[w] = REFUSED
        :: else ->
            if
            :: isUp[w] -> result[w] = TIMED_OUT
            :: else
            fi
        fi
    fi
}

/* sleep */
inline sleep(w)
{
#ifdef PINNED
    do
    :: true ->
        look(w);
        if
        :: result[w] != NONE -> break
        :: else
        fi;
        /* lookAhead */
        if
        :: isEndless[w] -> result[w] = DEADLOCK; break
        :: else
        fi;
        atomic { waiter = w; isPinned = true };
        leave(WAITING);
        isPinned = false
    od
#else
    do
    :: true ->
        leave(WAITING);
        look(w);
        if
        :: result[w] != SETTLED && isCancelled ->
            lockWork();
            if
            :: !isShield[w] -> result[w] = CANCELLED
            :: else
            fi;
            workLocked = false
        :: else
        fi;
        if
        :: result[w] != NONE -> break
        :: else
        fi
    od
#endif
}

/* startTimer, of the wait and of the clock */
inline startTimer(w)
{
    if
    :: hasTimeout[w] -> inHeap[w] = true
    :: else
    fi
}

/* stopTimer, of the wait and of the clock: then Backoff, until the clock's thread is through */
inline stopTimer(w)
{
    if
    :: hasTimer ->
        atomic { found = inHeap[w]; inHeap[w] = false };
        if
        :: !found -> hasFired[w]
        :: else
        fi
    :: else
    fi
}

/* suspend, with withWait */
inline wait(w)
{
    atomic { here[w] = true; word[w] = AWAKE; result[w] = NONE; hasTimer = false };
#ifdef PINNED
    /* whileListed */
    atomic { !listLock -> isListed[w] = true };
#else
    lockWork();
    if
    :: isCancelled && !isShield[w] -> result[w] = CANCELLED
    :: else -> atomic { waiter = w; isAwaited = true }
    fi;
    workLocked = false;
#endif
    if
    :: result[w] == NONE ->
        /* enlist(waiter, while: .ofWaiters) */
        atomic {
            hasValue[w] || !isLocked[w] ->
                if
                :: hasValue[w] -> result[w] = SETTLED
                :: else -> inQueue[w] = true
                fi
        };
        if
        :: result[w] == NONE ->
            atomic { hasTimer = hasTimeout[w] };
            startTimer(w);
            sleep(w);
            if
            :: result[w] != SETTLED -> withdraw(w)
            :: else
            fi
        :: else
        fi;
#ifndef PINNED
        lockWork();
        isAwaited = false;
        workLocked = false
#endif
    :: else
    fi;
#ifdef PINNED
    atomic { !listLock -> isListed[w] = false };
#endif
    stopTimer(w);
    atomic {
        assert(result[w] != SETTLED || hasValue[w]);
        assert(result[w] != TIMED_OUT || isUp[w]);
        assert(result[w] != CANCELLED || (isCancelled && !isShield[w]));
        assert(result[w] != REFUSED || isRefused);
        assert(result[w] != DEADLOCK || isEndless[w]);
        here[w] = false;
        hasFired[w] = false; isUp[w] = false; word[w] = AWAKE; result[w] = NONE; found = 0; hasTimer = false
    }
}

/* The function of the fiber, with runFiber around it. */
proctype Function()
{
    byte found;
    bool hasTimer;

    onStack != NOBODY;
    wait(0);
    /* yieldFiber */
    if
    :: !isRefused -> leave(YIELDS)
    :: else
    fi;
#ifndef LIVENESS
    if
    :: !isRefused -> wait(1)
    :: else
    fi;
#endif
    /* complete */
    lockWork();
    atomic { isRunning = false; workLocked = false };
    atomic { leaving = ENDED; onStack = NOBODY }
}

/* A thread of the executor. */
proctype Thread(byte me)
{
    byte w, found;
    bool gotStep;

    do
    :: ended -> break
#ifdef PINNED
    :: atomic { mayRefuse && isPinned && onStack == NOBODY -> mayRefuse = false };
        /* refuseSuspended */
        isRefused = true;
        atomic { w = waiter };
        nudgeFiber(w);
        if
        :: gotStep -> atomic { assert(isOff && !isQueued); isOff = false }; goto entering
        :: else
        fi
#endif
    :: atomic { isQueued -> isQueued = false };
        /* refuse: then the step is this thread's ready work */
        if
        :: mayRefuse && leaving != 0 -> atomic { mayRefuse = false; isRefused = true }
        :: true
        fi;
entering:
        do
        :: true ->
            /* vow_platform_begin_stack, vow_platform_enter_stack */
            atomic { assert(fiberHere && onStack == NOBODY && !isOff); onStack = me };
            onStack != me;
            if
            :: leaving == WAITING ->
                /* From the step to suspended on, the fiber may go on on another thread. */
                atomic {
                    w = waiter;
                    alive(w);
                    found = word[w];
                    if
                    :: found == AWAKE -> word[w] = SUSPENDED; isOff = true
                    :: else
                    fi
                };
                if
                :: found == AWAKE -> break
                :: else
                fi
            :: leaving == YIELDS -> atomic { isOff = true }; handOver(); break
            :: leaving == ENDED -> atomic { fiberHere = false; ended = true }; break
            fi
        od;
        atomic { w = 0; found = 0; gotStep = false }
    od
}

/* settle, enqueueBatch, and wake for the waiter */
proctype Settler(byte w)
{
    byte found;

    /* lock, and publish, which takes the queue */
    atomic { !isLocked[w] -> isLocked[w] = true };
    atomic { hasValue[w] = true; found = inQueue[w]; inQueue[w] = false; isLocked[w] = false };
    if
    :: found ->
        /* unparkDone */
        atomic { alive(w); found = word[w]; word[w] = DONE };
        if
        :: found == SUSPENDED -> handOver()
        :: else
        fi
    :: else
    fi;
    found = 0
}

/* cancelOne of running work, with nudgeOwnFiber */
proctype Canceller()
{
    byte w, found;
    bool gotStep;

    lockWork();
    if
    :: isRunning ->
        isCancelled = true;
        atomic { assert(fiberHere); w = waiter };
        if
        :: isAwaited -> nudgeFiber(w)
        :: else
        fi;
        workLocked = false;
        if
        :: gotStep -> handOver()
        :: else
        fi
    :: else -> workLocked = false
    fi;
    atomic { w = 0; found = 0; gotStep = false }
}

/* timeIsUp, by the thread that runs the clock */
proctype Clock()
{
    byte w, found;
    bool gotStep;

    do
    :: ended -> break
    :: atomic { inHeap[0] -> inHeap[0] = false; w = 0 }; goto fire
    :: atomic { inHeap[1] -> inHeap[1] = false; w = 1 };
fire:
        atomic { alive(w); isUp[w] = true };
        nudgeFiber(w);
        atomic { alive(w); hasFired[w] = true };
        if
        :: gotStep -> handOver()
        :: else
        fi;
        atomic { w = 0; found = 0; gotStep = false }
    od
}

/* Makes a wait endless, then nudges it: nudgeThose */
proctype Nudger(byte w)
{
    byte found;
    bool gotStep;

    isEndless[w] = true;
    atomic { !listLock -> listLock = true };
    if
    :: isListed[w] -> nudgeFiber(w)
    :: else
    fi;
    listLock = false;
    if
    :: gotStep -> handOver()
    :: else
    fi;
    atomic { found = 0; gotStep = false }
}

inline either(flag)
{
    if
    :: flag = true
    :: flag = false
    fi
}

/* A wait that nothing else ends has its promise settled. */
inline endsBy(w, another)
{
    if
    :: !hasTimeout[w] && !(another) -> settles[w] = true
    :: else
    fi
}

init {
    bool nudges[WAITS];

    atomic {
        either(settles[0]); either(settles[1]);
        either(hasTimeout[0]); either(hasTimeout[1]);
        either(mayRefuse);
#ifdef PINNED
        either(nudges[0]); either(nudges[1]);
        endsBy(0, nudges[0]); endsBy(1, nudges[1]);
#else
        either(isShield[0]); either(isShield[1]);
        either(cancels);
        endsBy(0, cancels && !isShield[0]); endsBy(1, cancels && !isShield[1]);
#endif
        run Function();
        run Thread(1);
#ifdef PINNED
        if
        :: nudges[0] -> run Nudger(0)
        :: else
        fi;
        if
        :: nudges[1] -> run Nudger(1)
        :: else
        fi;
#else
#if THREADS > 1
        run Thread(2);
#endif
        if
        :: cancels -> run Canceller()
        :: else
        fi;
#endif
        if
        :: settles[0] -> run Settler(0)
        :: else
        fi;
        if
        :: settles[1] -> run Settler(1)
        :: else
        fi;
        run Clock()
    };
    /* A process that never ends is a deadlock here. */
    ended;
    _nr_pr == 1;
    assert(!isQueued && !isOff && !workLocked && !listLock && !inQueue[0] && !inQueue[1])
}

/* No run goes on for ever without reaching the end. */
ltl ends { <> ended }
