/* The pool: work of two kinds, workers that come, go and wait, and a system that may give no thread.
 *
 * Follows Executors/Pool.swift, Executors/Worker.swift, and the pool's part of
 * Waiting/Await.swift. What is done under the pool's lock is one step; between two such steps anybody may come. How a
 * handler goes on is nobody's step but its worker's. An idle worker's patience ends at any time, and the keeper looks at
 * any time: it sees each worker that sleeps in the system, and may take all others for such.
 *
 * Checked:
 *   G3   each piece of work is begun exactly once
 *   G11  while one waits, some worker does not
 *   no work stands that has room while a worker is idle and nobody is called; nobody is woken who is not there
 *   every piece ends, also where no thread is to be had: a wait is refused then, or the work
 *   the counts return to what is there; after the end of all work nobody stays
 */

/* Stands for:
 *   block callAfterFailure callForMore callKeeper callOwedWorker callWorker closePool countCalled Crew doPooledWork duty hasMore
 *   hasWaiting isCalledAgain keep keeperMain leave lendPlaceInPool lookAtWorkers make makeIdle makeIndeed mayCall
 *   nextWork payOwedWorker Pool popIdle prepareWorkers refuseAllPooled refusePooled remove run runPooledInside sleep
 *   startWorker startWorkerThread submitDrain submitPooled take takeDuty takeAnother takeFromPool takeIdle
 *   takePlaceInPoolBack takeWork unblock wake takeReady work Worker WorkerCall workerMain workUntilNothingIsLeft
 */

#ifndef WIDTH
#define WIDTH 1
#endif
#ifndef SLOTS
#define SLOTS 3                /* threads that the system gives at most; 3 or fewer */
#endif
#define MOST_WORKERS 9
#define NIL 7

#define REACTION 0
#define DRAIN 1
#define NONE 2

/* Call; below SLOTS: that worker. */
#define NOBODY 10
#define KEEPER 11
#define NEW 12                 /* and the duty */

/* Which pieces are drains (bits); what a piece waits for; what it sleeps for in the system; what it makes ready. */
#define GATE 5                 /* opened by somebody else */
#if SCENARIO == 1              /* two that wait, one of them for the other kind */
#define PIECES 3
#define DRAINS 2
#define WAITS(m) (m == 0 -> 1 : (m == 1 -> 2 : NIL))
#define SLEEPS(m) NIL
#define MAKES(m) NIL
#elif SCENARIO == 2            /* both kinds, nobody waits; one makes a successor ready, which may stay on its worker */
#define PIECES 4
#define DRAINS 8
#define WAITS(m) NIL
#define SLEEPS(m) NIL
#define MAKES(m) (m == 0 -> 1 : NIL)
#elif SCENARIO == 3            /* no thread, or few */
#define PIECES 3
#define DRAINS 2
#define WAITS(m) (m == 0 -> 1 : NIL)
#define SLEEPS(m) NIL
#define MAKES(m) NIL
#define MAY_FAIL
#elif SCENARIO == 4            /* two come back from a wait at once, one sleeps for what the other makes ready */
#define PIECES 3
#define DRAINS 0
#define WAITS(m) (m <= 1 -> GATE : NIL)
#define SLEEPS(m) (m == 0 -> 2 : NIL)
#define MAKES(m) (m == 1 -> 2 : NIL)
#define HAS_GATE
#define HAS_KEEPER
#elif SCENARIO == 5            /* the end of all work */
#define PIECES 3
#define DRAINS 2
#define WAITS(m) (m == 0 -> 1 : NIL)
#define SLEEPS(m) NIL
#define MAKES(m) NIL
#define CLOSES
#endif

#define HAS(bits, m) ((bits >> m) & 1)
#define BIT(m) (1 << m)
#define LOWEST(bits) (HAS(bits, 0) -> 0 : (HAS(bits, 1) -> 1 : 2))
#define COUNT(bits) (HAS(bits, 0) + HAS(bits, 1) + HAS(bits, 2))
#define KIND(m) HAS(DRAINS, m)
#define ALL_SLOTS (BIT(SLOTS) - 1)

/* Pool */
chan reactions = [PIECES] of { byte };
chan drains = [PIECES] of { byte };
short busy[2];
byte asleep[2];
byte called[2];
short workers, starting, blocked;
byte idle;                     /* bits, as all below */
bool isWatched, hasKeeper, isClosed;

/* Worker */
byte duty[SLOTS];
byte alive;                    /* the thread is there, and its record */
byte woken;                    /* the word says `done` */
byte waiting;

/* What the core does not know, or nobody else: who is called and has not come, owes a worker, sleeps in the system. */
byte coming;
byte owing;
byte sleeping;
bool keeperIsThere, keeperIsCalled, keeperLooks;

byte begun;
byte done;
byte finished;
bool ended;

#define HAS_WORK(k) (k == REACTION -> len(reactions) > 0 : len(drains) > 0)
#define HAS_ROOM(k) (busy[k] < WIDTH + asleep[k])
#define MAY_BEGIN(k) (HAS_WORK(k) && HAS_ROOM(k))
#define LEN(k) (k == REACTION -> len(reactions) : len(drains))
#define MAY_CALL(k) (LEN(k) > 0 && (called[k] == 0 || LEN(k) > 1) && HAS_ROOM(k))
#define WAITING(k) (HAS_WORK(k) && !HAS_ROOM(k))
#define SOMEBODY_COMES (coming != 0 || starting > 0 || owing != 0 || keeperLooks)
#define STANDS(k) (MAY_BEGIN(k) && idle != 0 && !SOMEBODY_COMES)

/* At the end of each section under the lock. */
inline check()
{
    assert(!STANDS(REACTION) && !STANDS(DRAIN));
    assert(waiting == 0 || (alive & ~waiting) != 0 || isClosed);
    assert(busy[0] >= 0 && busy[1] >= 0 && blocked >= 0)
}

/* Under the lock: what stands in `call` is made after it. */
inline callWorker(k)
{
    if
    :: idle != 0 ->
        call = LOWEST(idle);
        idle = idle & ~BIT(call);
        coming = coming | BIT(call);
        duty[call] = k;
        busy[k]++;
        called[k]++;
#ifndef CLOSES
        /* Nobody can take its leave meanwhile; so this is no step of its own. */
        wake()
#endif
    :: idle == 0 && workers + starting < MOST_WORKERS ->
        starting++;
        busy[k]++;
        called[k]++;
        call = NEW + k
    :: else -> call = NOBODY
    fi
}

inline callKeeper()
{
    if
    :: isWatched -> call = NOBODY
    :: else -> isWatched = true; call = KEEPER
    fi
}

inline callForMore()
{
    if
    :: MAY_CALL(REACTION) -> callWorker(REACTION)
    :: !MAY_CALL(REACTION) && MAY_CALL(DRAIN) -> callWorker(DRAIN)
    :: else ->
        if
        :: WAITING(REACTION) || WAITING(DRAIN) -> callKeeper()
        :: else -> call = NOBODY
        fi
    fi
}

/* call(for:), after work of this kind was added */
inline callForKind(k)
{
    if
    :: MAY_CALL(k) -> callWorker(k)
    :: !MAY_CALL(k) && WAITING(k) -> callKeeper()
    :: else -> call = NOBODY
    fi
}

inline callAfterFailure()
{
    if
    :: idle != 0 -> callForMore()
    :: idle == 0 && (HAS_WORK(REACTION) || HAS_WORK(DRAIN)) -> callKeeper()
    :: else -> call = NOBODY
    fi
}

/* The reaction, and what would have come of it, is rejected. */
inline refuse(p)
{
    assert(!HAS(begun, p));
    begun = begun | BIT(p);
    done = done | BIT(p);
    if
    :: MAKES(p) != NIL -> begun = begun | BIT(MAKES(p)); done = done | BIT(MAKES(p))
    :: else
    fi
}

inline refuseAllPooled()
{
    do
    :: atomic { reactions?piece -> refuse(piece); piece = NIL }
    :: empty(reactions) -> break
    od;
    do
    :: atomic { drains?piece -> refuse(piece); piece = NIL }
    :: empty(drains) -> break
    od
}

inline startWorker(k)
{
    /* startWorkerThread */
    atomic {
        if
        :: alive != ALL_SLOTS ->
            slot = LOWEST(~alive);
            alive = alive | BIT(slot);
            coming = coming | BIT(slot);
            duty[slot] = k;
            isThere = true
#ifdef MAY_FAIL
        :: isThere = false
#else
        :: else -> isThere = false
#endif
        fi;
        slot = 0
    };
    atomic {
        starting--;
        call = NOBODY;
        if
        :: isThere -> workers++
        :: else ->
            if
            :: k != NONE -> busy[k]--; called[k]--
            :: else
            fi;
            isHopeless = (workers + starting <= blocked);
            if
            :: isHopeless
            :: else -> callAfterFailure()
            fi
        fi;
        check()
    };
    if
    :: isHopeless -> refuseAllPooled(); isHopeless = false
    :: else
    fi;
    makeQuickly()
}

inline wake()
{
    assert(HAS(alive, call) && !HAS(woken, call));
    woken = woken | BIT(call);
    call = NOBODY
}

/* No thread is made. */
inline makeQuickly()
{
    if
    :: call < SLOTS -> atomic { wake() }
#ifdef HAS_KEEPER
    :: call == KEEPER ->
        atomic { isKept = hasKeeper; hasKeeper = true; call = NOBODY };
        if
        :: isKept -> keeperIsCalled = true; isKept = false
        :: else ->
            if
            :: atomic { assert(!keeperIsThere); keeperIsThere = true }
#ifdef MAY_FAIL
            :: atomic { hasKeeper = false; isWatched = false }
#endif
            fi
        fi
#endif
    :: else -> call = NOBODY
    fi
}

/* `isThere` is false afterwards where a thread was wanted and there is none. */
inline make()
{
    isThere = true;
    if
    :: call == NEW + REACTION -> startWorker(REACTION)
    :: call == NEW + DRAIN -> startWorker(DRAIN)
    :: else -> makeQuickly()
    fi
}

inline pop(k)
{
    if
    :: k == REACTION -> reactions?m
    :: else -> drains?m
    fi;
    busy[k]++;
    duty[w] = k
}

inline nextWork()
{
    atomic {
        owing = owing & ~BIT(w);
        last = duty[w];
        if
        :: last == REACTION && !HAS(coming, w) && busy[REACTION] <= WIDTH + asleep[REACTION] &&
            (!HAS_WORK(DRAIN) || busy[DRAIN] > 0) && HAS_WORK(REACTION) ->
            /* takeAnother */
            reactions?m;
            call = NOBODY
        :: else ->
            if
            :: HAS(coming, w) && last != NONE -> called[last]--
            :: else
            fi;
            coming = coming & ~BIT(w);
            if
            :: last == NONE -> last = REACTION
            :: else -> busy[last]--; duty[w] = NONE
            fi;
            if
            :: MAY_BEGIN((1 - last)) && (busy[1 - last] == 0 || !MAY_BEGIN(last)) -> pop((1 - last))
            :: else ->
                if
                :: MAY_BEGIN(last) -> pop(last)
                :: else ->
                    if
                    :: MAY_BEGIN((1 - last)) -> pop((1 - last))
                    :: else -> m = NIL; idle = idle | BIT(w)
                    fi
                fi
            fi;
            callForMore()
        fi;
        last = 0;
        check()
    };
    make()
}

/* `isGone`: the thread ends. */
inline leave(isAllowed)
{
    atomic {
        if
        :: isAllowed && duty[w] == NONE && (isClosed || workers - blocked > 2 * WIDTH) ->
            idle = idle & ~BIT(w);
            workers--;
            alive = alive & ~BIT(w);
            isGone = true
        :: else
        fi;
        check()
    }
}

inline isCalledAgain()
{
    if
    :: HAS(woken, w)
    :: leave(HAS(idle, w));    /* its patience has ended */
        if
        :: isGone
        :: else -> end_idle: HAS(woken, w)
        fi
    fi;
    if
    :: isGone
    :: else ->
        woken = woken & ~BIT(w);
        if
        :: isClosed && !HAS_WORK(REACTION) && !HAS_WORK(DRAIN) -> leave(!HAS_WORK(REACTION) && !HAS_WORK(DRAIN))
        :: else
        fi
    fi
}

/* lendPlaceInPool: `isLent`, or the wait is refused. */
inline lendPlace()
{
    do
    :: atomic {
            if
            :: workers - blocked >= 2 ->
                blocked++;
                waiting = waiting | BIT(w);
                busy[duty[w]]--;
                callForMore();
                isLent = true
            :: else -> starting++
            fi;
            check()
        };
        if
        :: isLent -> make(); break
        :: else ->
            startWorker(NONE);
            if
            :: isThere
            :: else -> break
            fi
        fi
    od
}

inline takePlaceBack()
{
    atomic {
        blocked--;
        waiting = waiting & ~BIT(w);
        busy[duty[w]]++;
        isLent = false;
        check()
    }
}

/* sleep, in Await.swift */
inline await(wanted)
{
    do
    :: HAS(done, wanted) -> break
    :: else ->
        if
        :: atomic {            /* takeReady, takeFromPool; what is run inside waits for nothing */
                wanted != GATE && duty[w] == REACTION && reactions??[eval(wanted)] ->
                reactions??eval(wanted);
                assert(!HAS(begun, wanted));
                begun = begun | BIT(wanted);
                check()
            };
            done = done | BIT(wanted)
        :: lendPlace();        /* it was not there, or the stack is too short */
            if
            :: isLent -> HAS(done, wanted); takePlaceBack()
            :: else -> break
            fi
        fi
    od
}

/* run, and drain */
inline doPiece()
{
    atomic { assert(!HAS(begun, m)); begun = begun | BIT(m) };
    if
    :: WAITS(m) != NIL -> await(WAITS(m))
    :: else
    fi;
    if
    :: SLEEPS(m) != NIL ->
        sleeping = sleeping | BIT(w);
        atomic { HAS(done, SLEEPS(m)) -> sleeping = sleeping & ~BIT(w) }
    :: else
    fi;
    done = done | BIT(m);
    if
    :: MAKES(m) != NIL ->
        atomic { reactions!MAKES(m); owing = owing | BIT(w); check() };
        if
        :: skip
        :: atomic {            /* callOwedWorker: foreign code comes first */
                owing = owing & ~BIT(w);
                callForMore();
                check()
            };
            make()
        fi
    :: else
    fi;
    m = NIL
}

active [SLOTS] proctype Worker()
{
    byte w, m = NIL, last, call = NOBODY, slot, piece = NIL;
    bool isThere, isHopeless, isKept, isLent, isGone;

    w = _pid;
    isThere = true;
end_none:
    do
    :: HAS(alive, w) && HAS(coming, w) ->
        do
        :: nextWork();
            if
            :: m != NIL -> doPiece()
            :: else ->
                isCalledAgain();
                if
                :: isGone -> isGone = false; break
                :: else
                fi
            fi
        od
    od
}

#define SLEEPS_AT(i, k) (HAS(sleeping, i) * (duty[i] == k))
#if SLOTS == 1
#define SEEN(k) SLEEPS_AT(0, k)
#elif SLOTS == 2
#define SEEN(k) SLEEPS_AT(0, k) + SLEEPS_AT(1, k)
#else
#define SEEN(k) SLEEPS_AT(0, k) + SLEEPS_AT(1, k) + SLEEPS_AT(2, k)
#endif

#ifdef HAS_KEEPER
active proctype Keeper()
{
    byte call = NOBODY, slot, piece = NIL;
    bool isThere, isHopeless, isKept, isWatching;

end_none:
    do
    :: keeperIsThere ->
        isWatching = true;
end_rest:
        do
        :: keeperIsCalled || isWatching ->
            keeperIsCalled = false;
            atomic {           /* lookAtWorkers */
                asleep[0] = 0;
                asleep[1] = 0;
                if
                :: !HAS_WORK(REACTION) && !HAS_WORK(DRAIN) ->
                    isWatched = false;
                    isWatching = false;
                    if
                    :: isClosed -> hasKeeper = false; keeperIsThere = false
                    :: else
                    fi
                :: else ->
                    isWatching = true;
                    keeperLooks = true;
                    if
                    :: asleep[0] = SEEN(REACTION); asleep[1] = SEEN(DRAIN)
#ifndef SEES_WELL
                    :: asleep[0] = busy[0]; asleep[1] = busy[1]
#endif
                    fi
                fi
            };
            if
            :: !keeperIsThere -> break
            :: else
            fi;
            isThere = isWatching;
            do
            :: !isThere -> break
            :: else ->         /* callWhoMayBegin */
                atomic {
                    callForMore();
                    if
                    :: call == NOBODY -> isThere = false
                    :: else
                    fi
                };
                if
                :: call != NOBODY -> make()
                :: else
                fi
            od;
            atomic { keeperLooks = false; isThere = false }
        od
    od
}

#endif

/* submitPooled and submitDrain, by a thread that is no worker */
inline submit(p)
{
    atomic {
        if
        :: KIND(p) == REACTION -> reactions!p; callForKind(REACTION)
        :: else -> drains!p; callForKind(DRAIN)
        fi;
        check()
    };
    make()
}

/* doPooledWork, by the same thread, which waits for the reaction */
inline takeBack(p)
{
    if
    :: atomic {
            KIND(p) == REACTION && MAKES(p) == NIL && WAITS(p) != GATE && reactions??[eval(p)] ->
            reactions??eval(p);
            assert(!HAS(begun, p));
            begun = begun | BIT(p);
            check()
        };
        if
        :: WAITS(p) != NIL -> HAS(done, WAITS(p))
        :: else
        fi;
        if
        :: SLEEPS(p) != NIL -> HAS(done, SLEEPS(p))
        :: else
        fi;
        done = done | BIT(p)
    :: skip
    fi
}

proctype Submitter(byte first; byte second)
{
    byte call = NOBODY, slot, piece = NIL;
    bool isThere, isHopeless, isKept;

    submit(first);
    if
    :: second != NIL -> submit(second)
    :: else
    fi;
    takeBack(first);
    atomic { finished++; first = 0; second = 0; isThere = false }
}

proctype Preparer()
{
    byte call = NOBODY, slot, piece = NIL;
    bool isThere, isHopeless, isKept;

    atomic {
        if
        :: workers + starting > 0 -> goto isNotFirst
        :: else -> starting++
        fi
    };
    startWorker(NONE);
isNotFirst:
    atomic { finished++; isThere = false }
}

/* shutDown: refusePooled and closePool */
proctype Closer()
{
    byte call = NOBODY, slot, piece = NIL;
    bool isThere, isHopeless, isKept;

    do
    :: atomic { reactions?piece -> refuse(piece); piece = NIL }
    :: empty(reactions) -> break
    od;
    isClosed = true;
    do
    :: atomic { idle != 0 -> call = LOWEST(idle); idle = idle & ~BIT(call) };
        makeQuickly()
    :: idle == 0 -> break
    od;
    if
    :: hasKeeper -> call = KEEPER; makeQuickly()
    :: else
    fi;
    atomic { finished++; call = NOBODY }
}

#define ALL_ENDED (done == BIT(PIECES) - 1 && starting == 0 && coming == 0 && alive == idle)

init {
    atomic {
        duty[0] = NONE;
#if SLOTS > 1
        duty[1] = NONE;
#endif
#if SLOTS > 2
        duty[2] = NONE;
#endif
#if SCENARIO == 2
        run Submitter(0, NIL);
#else
        run Submitter(0, 1);
#endif
#if defined(HAS_GATE)
        finished++
#elif SCENARIO == 2
        run Submitter(2, 3)
#else
        run Submitter(2, NIL)
#endif
    };
#if SCENARIO == 3
    run Preparer();
    finished == 3;
#elif defined(CLOSES)
    run Closer();
    finished == 3;
#else
    finished == 2;
#endif
#ifdef HAS_GATE
    done = done | BIT(GATE);
    done == BIT(GATE) + BIT(PIECES) - 1;
    done = BIT(PIECES) - 1;
#endif
    ALL_ENDED;
#ifdef HAS_KEEPER
    !isWatched;
#endif
#ifdef CLOSES
    alive == 0 && !hasKeeper;
#endif
    assert(begun == done && workers == COUNT(alive) && blocked == 0 && busy[0] == 0 && busy[1] == 0);
    assert(called[0] == 0 && called[1] == 0 && waiting == 0 && owing == 0 && asleep[0] == 0 && asleep[1] == 0);
    ended = true
}

ltl ends { <> ended }
