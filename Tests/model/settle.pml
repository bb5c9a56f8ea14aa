/* Settling against registering: two threads try to settle one promise, two register on it, one of them
 * inside a handler, and one handler registers on its own promise.
 *
 * Follows Settling/Settle.swift, Reactions/React.swift, Reactions/Run.swift and Records/Transitions.swift. One
 * step is one atomic operation of the code together with the private work next to it; a compare-and-
 * exchange loop without side effects is one step. Nobody else locks the word here (see follow, await, cancel), so
 * settling an open promise (lock, write, unlock) begins with the step that decides, here CLAIMED.
 *
 * Checked:
 *   G1  one caller claims, and the promise settles once
 *   G2  reactions on one executor start in the order of their registration, wherever one call had
 *       returned before another began; the serial executor keeps the order of `submit`
 *   G3  each reaction starts exactly once, and none stays behind
 *   `inlineLeft` is touched by the delivering thread alone; the promise is not touched after it was
 *   freed, and is freed in the end
 */

/* Stands for:
 *   Executors/Submit.swift: serialExecutor submit
 *   Lifetime/Counting.swift: giveBack release releaseProducer
 *   Lifetime/Create.swift: writeOutcome
 *   Reactions/React.swift: finishRegistering register registerInline
 *   Reactions/Run.swift: run
 *   Reactions/RunInline.swift: runInline
 *   Records/Counts.swift: isOnlyMine
 *   Records/HandlerQueue.swift: MemberList SlotList
 *   Records/Record.swift: inlineLeft passage
 *   Records/StateWord.swift: Phase PhaseSet hasValue
 *   Records/Transitions.swift: change enlist lock read transitionAfterDelivery transitionAfterHandOver
 *   Records/Transitions.swift: transitionToDelivering transitionToSettling unlock unlockSettling
 *   Settling/Delivery.swift: deferInline deliverLateOnes endReading finishDelivery takeDelivery
 *   Settling/HandOver.swift: enqueueBatch finishHandOver handOver nextOfRun noteLastOfBatch
 *   Settling/PassThrough.swift: begin passOn passThrough skip
 *   Settling/Settle.swift: afterSettling publishToMembers settle settleLocked
 *   Thread/Agenda.swift: hasDone hasLeftovers
 *   Thread/Drain.swift: drainHandOver drainReady drainSkipped finishLastBatch
 *   Thread/Turn.swift: asOneStep endStep leave
 */

#define REACTIONS 5
#define CHILD 4                /* registered by the handler of reaction 0 */
#define NIL 7

#define OPEN 0
#define CLAIMED 1
#define SETTLING 3
#define DELIVERING 4
#define SETTLED 5

#define INLINE 0
#define SERIAL 1
#define NO_HANDLER 2           /* the outcome passes through, on any executor */
#define ABSENT 3               /* not in this scenario */

#define THREADS 4
#define NOBODY 7

/* The promise */
byte phase = OPEN;
byte head = NIL;
bool hasValue;
byte inlineLeft;
byte counts = 4;               /* two handles, two resolvers; references of reactions come on top */
bool freed;

/* The reactions */
byte next[REACTIONS];
byte executor[REACTIONS];
bool countedInline[REACTIONS];
bool lastOfBatch[REACTIONS];

/* ThreadState.ready of each thread, and the serial executor's queue */
chan ready[THREADS] = [REACTIONS] of { byte };
chan serial = [REACTIONS] of { byte };

/* What is only there to check */
byte settledTimes;
byte deliverer = NOBODY;       /* who may touch inlineLeft */
byte returned;                 /* bits: calls that have returned */
byte mustFollow[REACTIONS];    /* bits: calls on the same executor, returned when this one began */
byte started;                  /* bits */
byte done;
byte finished;
bool ended;

inline alive() { assert(!freed) }

inline giveBack() { atomic { alive(); assert(counts > 0); counts--; freed = (counts == 0) } }

/* The order of a serial executor is that of `submit`, so a reaction counts as started there. */
inline start(m)
{
    assert(!(started & (1 << m)));
    assert(hasValue && phase >= SETTLING);
    assert((mustFollow[m] & started) == mustFollow[m]);
    started = started | (1 << m)
}

inline submit(m) { atomic { start(m); serial!m } }

/* Run.swift: passThrough */
inline passThrough(m)
{
    atomic { alive(); start(m); done++ };
    giveBack()
}

/* Settle.swift: deferInline */
inline deferInline(m)
{
    atomic {
        alive();
        assert(deliverer == me);
        inlineLeft++;
        countedInline[m] = true;
        ready[me]!m
    }
}

/* React.swift: register, registerInline; `depth` is the thread's foreignDepth. */
inline register(m, depth)
{
    atomic {
        alive();
        counts++;
        for (other : 0 .. REACTIONS - 1) {
            if
            :: (returned & (1 << other)) && executor[other] == executor[m] ->
                mustFollow[m] = mustFollow[m] | (1 << other)
            :: else
            fi
        };
        other = 0
    };
    if
    :: executor[m] == INLINE ->
        do
        :: true ->
            enlist(m, DELIVERING);
            if
            :: isEnlisted -> break
            :: else
            fi;
            if
            :: depth == 0 -> ready[me]!m; break
            :: else
            fi;
            /* transitionToDelivering */
            atomic {
                alive();
                isEnlisted = (phase == SETTLED);
                if
                :: isEnlisted -> phase = DELIVERING; assert(deliverer == NOBODY); deliverer = me
                :: else
                fi
            };
            if
            :: isEnlisted -> deferInline(m); break
            :: else
            fi
        od
    :: else ->
        enlist(m, SETTLING);
        if
        :: isEnlisted -> skip
        :: !isEnlisted && executor[m] == NO_HANDLER -> passThrough(m)
        :: else -> submit(m)
        fi
    fi
}

/* enlist(_:while:) */
inline enlist(m, lastPhase)
{
    atomic {
        alive();
        isEnlisted = (phase <= lastPhase);
        if
        :: isEnlisted -> next[m] = head; head = m
        :: else
        fi
    }
}

/* enqueueBatch, SlotList(reversing:): from `newest` into the thread's list */
inline reverseInto(list)
{
    oldest = NIL;
    do
    :: newest != NIL -> taken = next[newest]; next[newest] = oldest; oldest = newest; newest = taken
    :: else -> break
    od;
    do
    :: oldest != NIL ->
        lastOfBatch[oldest] = (next[oldest] == NIL);
        list!oldest;
        oldest = next[oldest]
    :: else -> break
    od;
    taken = 0;
    oldest = 0
}

/* Settle.swift: settle, startHandOver, with a producer's reference that is consumed */
inline settle()
{
    hasValue = true;
    /* unlockSettling */
    atomic {
        alive();
        assert(phase == CLAIMED);
        settledTimes++;
        newest = head;
        head = NIL;
        if
        :: newest == NIL -> phase = SETTLED
        :: else -> phase = SETTLING; deliverer = me; reverseInto(handOver)
        fi
    };
    handOverAll()
}

inline handOverAll()
{
    if
    :: empty(handOver) -> giveBack()
    :: nempty(handOver) ->
        do
        :: atomic { nempty(handOver) -> handOver?m; alive(); isLast = lastOfBatch[m] };
            lastOfBatch[m] = false;
            /* handOver */
            if
            :: executor[m] == NO_HANDLER -> passThrough(m)
            :: executor[m] == INLINE -> deferInline(m)
            :: executor[m] == SERIAL -> submit(m)
            fi;
            if
            :: isLast -> finishHandOver()
            :: else
            fi
        :: empty(handOver) -> break
        od
    fi
}

inline finishHandOver()
{
    atomic { alive(); assert(deliverer == me); inlineAreLeft = (inlineLeft != 0) };
    /* transitionAfterHandOver */
    atomic {
        alive();
        newest = head;
        head = NIL;
        if
        :: newest != NIL -> isLast = false; reverseInto(handOver)
        :: newest == NIL && inlineAreLeft -> phase = DELIVERING
        :: else -> phase = SETTLED; deliverer = NOBODY
        fi
    };
    if
    :: isLast -> giveBack()
    :: else
    fi
}

/* Settle.swift: finishDelivery */
inline finishDelivery(m)
{
    if
    :: countedInline[m] ->
        atomic { alive(); assert(deliverer == me); countedInline[m] = false; inlineLeft-- };
        do
        :: atomic { inlineLeft == 0 && phase == DELIVERING -> alive(); assert(deliverer == me) };
            /* transitionAfterDelivery */
            atomic {
                alive();
                newest = head;
                head = NIL;
                if
                :: newest == NIL -> phase = SETTLED; deliverer = NOBODY
                :: else -> reverseInto(late)
                fi
            };
            if
            :: empty(late) -> break
            :: nempty(late) ->
                do
                :: late?child -> lastOfBatch[child] = false; deferInline(child)
                :: empty(late) -> child = 0; break
                od
            fi
        :: else -> break
        od
    :: else
    fi
}

/* Run.swift: drainReady, run. As the last act of the outermost call on this thread. */
inline runReady()
{
    do
    :: ready[me]?m ->
        atomic { alive(); start(m) };
        if
        :: m == 0 && executor[CHILD] != ABSENT ->
            register(CHILD, 1);
            returned = returned | (1 << CHILD)
        :: else
        fi;
        finishDelivery(m);
        done++;
        giveBack() /* complete: the reaction lets go of its promise */
    :: empty(ready[me]) -> break
    od
}

#define LOCALS \
    byte m, newest, oldest, taken, other, child; \
    bool isEnlisted, isLast, inlineAreLeft; \
    chan late = [REACTIONS] of { byte }

/* Every variable back to zero, so that equal states are recognised. */
inline finish()
{
    atomic { m = 0; newest = 0; isEnlisted = false; isLast = false; inlineAreLeft = false; finished++ }
}

proctype Resolver(byte me)
{
    LOCALS;
    chan handOver = [REACTIONS] of { byte };

    /* settle(_:whileIn: .open): lock(whileIn:) */
    atomic {
        alive();
        if
        :: phase == OPEN -> phase = CLAIMED; isLast = true
        :: else
        fi
    };
    if
    :: isLast -> settle(); runReady()
    :: else -> giveBack()
    fi;
    finish()
}

/* Two calls from outside of any handler: each runs what became ready before it returns. */
proctype Registrar(byte me)
{
    LOCALS;

    register(0, 0);
    runReady();
    returned = returned | 1;
    if
    :: executor[1] != ABSENT -> register(1, 0); runReady(); returned = returned | 2
    :: else
    fi;
    giveBack();
    finish()
}

/* Two calls from inside a handler of something else. */
proctype NestedRegistrar(byte me)
{
    LOCALS;

    register(2, 1);
    returned = returned | 4;
    if
    :: executor[3] != ABSENT -> register(3, 1); returned = returned | 8
    :: else
    fi;
    giveBack();
    runReady();
    finish()
}

proctype SerialExecutor()
{
    byte m;

    do
    :: serial?m -> atomic { alive(); m = 0; done++ }; giveBack()
    :: ended -> break
    od
}

init {
    byte i, reactions, expected;

    atomic {
        executor[0] = INLINE;
        if
#if SCENARIO == 1
        :: executor[1] = ABSENT; executor[2] = INLINE; executor[3] = ABSENT; executor[CHILD] = INLINE
#elif SCENARIO == 2
        :: executor[1] = SERIAL; executor[2] = SERIAL; executor[3] = ABSENT; executor[CHILD] = ABSENT
#elif SCENARIO == 3
        :: executor[1] = ABSENT; executor[2] = INLINE; executor[3] = INLINE; executor[CHILD] = ABSENT
#else
        :: executor[1] = ABSENT; executor[2] = NO_HANDLER; executor[3] = SERIAL; executor[CHILD] = INLINE
#endif
        fi;
        do
        :: i == REACTIONS -> i = 0; break
        :: else ->
            if
            :: executor[i] != ABSENT -> expected = expected | (1 << i); reactions++
            :: else
            fi;
            i++
        od;
        run Resolver(0);
        run Resolver(1);
        run Registrar(2);
        run NestedRegistrar(3);
        run SerialExecutor()
    };
    finished == THREADS && done == reactions && freed;
    assert(settledTimes == 1 && started == expected);
    assert(phase == SETTLED && head == NIL && inlineLeft == 0 && deliverer == NOBODY);
    ended = true
}

ltl ends { <> ended }
