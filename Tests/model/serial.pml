/* The serial executor: two threads push, one drain runs, handlers push more from inside it.
 *
 * Follows Executors/SerialDrain.swift. The dispatch queue underneath is trusted to run what is sent to
 * it one after another; that there is never a second drain to run is checked.
 *
 * Checked:
 *   G2  reactions run in the order of their registration: of one thread, and wherever one call had
 *       returned before another began
 *   G3  each runs exactly once
 *   at most one drain is on its way or running; the executor is not touched after it was freed, and is
 *   freed in the end
 */

/* Stands for:
 *   batch drain drainIsComing ExecutorRecord handOver MemberList nextOfDrain nextOfRun ownQueue Place refuseDrain
 *   releaseAfterRun sendDrain serialExecutor submit submitSerial takeIntake withPlace
 */

#define PUSHED 3               /* reactions 0 and 1 by one thread, 2 by the other */
#define CHILD 3                /* registered by the handler of reaction 0, inside the drain */
#define REACTIONS 4
#ifndef TURN
#define TURN 2                 /* handlers in one go */
#endif
#define NIL 7

/* ExecutorRecord.intake: newest reaction and drainIsComing */
byte intake = NIL;
bool drainIsComing;
byte next[REACTIONS];
/* ExecutorRecord.batch, which the drain alone touches */
chan batch = [REACTIONS] of { byte };
bool batchInUse;
/* References to the executor: the handle, one of each reaction, one of a drain. */
byte counts = 1;
bool freed;

/* Drains handed to dispatch and not ended. */
byte sent;

byte returned;                 /* bits: calls that have returned */
byte mustFollow[REACTIONS];    /* bits: calls that had returned when this one began */
byte ran;                      /* bits */
byte finished;
bool ended;

inline alive() { assert(!freed) }

inline release()
{
    atomic {
        alive();
        assert(counts > 0);
        counts--;
        freed = (counts == 0)
    }
}

/* The caller's reference to the executor is the reason why it is alive until the push. */
inline beginRegistration(m)
{
    atomic { alive(); mustFollow[m] = returned; counts++ }
}

/* submitSerial, on a thread that is no drain: one reaction, or one and the next in one push */
inline submitSerial(oldest, newest)
{
    atomic {
        alive();
        if
        :: newest != oldest -> next[newest] = oldest
        :: else
        fi;
        next[oldest] = intake;
        intake = newest;
        wasComing = drainIsComing;
        drainIsComing = true
    };
    if
    :: !wasComing -> atomic { alive(); counts++ }; sendDrain()
    :: else
    fi
}

inline sendDrain() { atomic { sent++; assert(sent == 1) } }

/* takeIntake: a look, and if there is something, an exchange */
inline takeIntake()
{
    atomic { alive(); isEmpty = (intake == NIL) };
    if
    :: isEmpty -> skip
    :: else ->
        atomic {
            alive();
            assert(drainIsComing);
            newest = intake;
            intake = NIL;
            /* MemberList(reversing:) */
            oldest = NIL;
            do
            :: newest != NIL -> taken = next[newest]; next[newest] = oldest; oldest = newest; newest = taken
            :: else -> break
            od;
            do
            :: oldest != NIL -> batch!oldest; oldest = next[oldest]
            :: else -> break
            od;
            newest = 0;
            oldest = 0;
            taken = 0
        }
    fi
}

/* submitSerial, on the thread of the drain: no hop, behind those that were pushed before */
inline submitInDrain(m)
{
    takeIntake();
    atomic { alive(); batch!m }
}

/* run: x. */
inline runReaction(m)
{
    atomic {
        assert(!(ran & (1 << m)));
        assert((mustFollow[m] & ran) == mustFollow[m]);
        ran = ran | (1 << m)
    };
    if
    :: m == 0 ->
        beginRegistration(CHILD);
        submitInDrain(CHILD);
        returned = returned | (1 << CHILD)
    :: else
    fi;
    runs++ /* releaseAfterRun */
}

/* withPlace, at its end */
inline releaseRuns()
{
    atomic {
        alive();
        assert(counts > runs);
        counts = counts - runs;
        runs = 0
    }
}

/* Dispatch: starts what was sent, one at a time. */
active proctype Drain()
{
    byte left, m, newest, oldest, taken, runs;
    bool isEmpty, isDone;

    do
    :: atomic { sent > 0 -> assert(!batchInUse); batchInUse = true; left = TURN };
        do
        :: left == 0 -> break
        :: else ->
            takeIntake();
            if
            :: atomic { nempty(batch) -> batch?m }; left--; runReaction(m)
            :: empty(batch) ->
                /* replaceAcquireRelease(drainIsComing, 0) */
                atomic {
                    alive();
                    isDone = (intake == NIL && drainIsComing);
                    if
                    :: isDone -> drainIsComing = false; batchInUse = false; sent--
                    :: else
                    fi
                };
                if
                :: isDone -> break
                :: else
                fi
            fi
        od;
        releaseRuns();
        if
        :: left > 0 -> release()
        :: else -> atomic { alive(); batchInUse = false; sent-- }; sendDrain()
        fi;
        atomic { left = 0; m = 0; isDone = false; isEmpty = false }
    :: atomic { ended && sent == 0 -> break }
    od
}

proctype Pusher(byte m; byte last)
{
    bool wasComing;
    byte newest;

    do
    :: m == last -> break
    :: else ->
        beginRegistration(m);
        newest = m;
        if
        :: true
        :: m + 1 < last ->
            /* Two of one promise, whose hand-over pushes both. */
            newest = m + 1;
            beginRegistration(newest);
            mustFollow[newest] = mustFollow[newest] | (1 << m)
        fi;
        submitSerial(m, newest);
        atomic {
            returned = returned | (1 << m) | (1 << newest);
            m = newest + 1;
            newest = 0;
            wasComing = false
        }
    od;
    atomic { finished++; m = 0; last = 0 }
}

init {
    atomic { run Pusher(0, 2); run Pusher(2, PUSHED) };
    finished == 2;
    release(); /* the handle */
    freed;
    assert(ran == (1 << REACTIONS) - 1);
    assert(intake == NIL && !drainIsComing && sent == 0 && empty(batch));
    ended = true
}

ltl ends { <> ended }
