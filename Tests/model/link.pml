/* The usual path of inline reactions, with the steps that it leaves out: a chain P, A, B, where A reads P and B reads
 * A, and C, which reads P or A and may come late. All are begun by running (inline, no token) and handle both outcomes.
 *
 * Follows Settling/Settle.swift, HandOver.swift, Run.swift, Cancel.swift, References.swift, React.swift
 * and Free.swift (a reference to something pending). One step is one atomic operation with the private work next
 * to it; but what is written plainly by sole ownership is a step of its own, behind the one that asked the counts.
 *
 * Not one order of all steps: `markOut` of a single member and the unlocking behind it are plain stores, and stand in
 * the thread's store buffer (`buffered`) until some time later, or until its next read-modify-write. Its next load, of
 * the member's phase, may come first. (A later plain store waits for the buffer here: it goes to what nobody else has.)
 *
 * Checked:
 *   nothing is touched after it was freed, and all is freed in the end; the plain steps meet nobody
 *   each reaction settles once, after its handler; a handler begins once, and reads a value only where its reaction was
 *   not cancelled before
 *   a slot has one user at a time; `inlineLeft` and `passage` are the delivering thread's
 *   G2: C, registered behind the other reader of its promise, begins behind it; nobody waits in vain
 */

/* Stands for:
 *   beginCancelled beginOut cancel cancelOne cancelProducer cancelReaction cancelUpwards change claimCancelled close
 *   comeBack complete conclude Counts deferInline deliverLateOnes discard drainReady end endReading endsDelivery
 *   endVisit enlist enqueueBatch errorToCome exchangeReference fill fillFurther finishDelivery finishHandOver
 *   giveBack giveUpReading hasValue holdsOnlyContent inlineLeft isBegunByRunning isClearlyLast isOnlyMine isOut
 *   isRunInline isUnseen leaveUnlessLast lock Look markOut next nowCounts OwedReads oweRead passage pay Phase
 *   PhaseSet publish publishOwn publishToMembers read reclaim register registerInline release releasePending
 *   releaseProducer remove retain retainOneOfMany retainProducer runCancelled runInline runInlineCancelled search
 *   settle source takeDelivery takeError takeOut top transitionAfterDelivery transitionAfterHandOver
 *   transitionToCancelled transitionToClaimed transitionToDelivering unlink Unlinked unlock upstream visit
 *   writeOutcome
 */

#define P 0
#define A 1
#define B 2
#define C 3
#define NIL 7
#define NOBODY 7
#define THREADS 4

#define OPEN 0
#define TO_REJECT 1            /* Phase.cancelled */
#define CLAIMED 2
#define SETTLING 3
#define DELIVERING 4
#define SETTLED 5

/* Who uses the slot of a reaction */
#define OF_QUEUE 0
#define OF_LIST 1              /* taken from its queue, not yet out */
#define OF_CLAIMER 2           /* out, or taken out */
#define OF_VALUE 3

#define RESOLVER 0
#define CANCELLER 1
#define REGISTRAR 2
#define RELEASER 3

byte phase[4];
bool locked[4];
byte head[4] = NIL;
byte next[4] = NIL;
byte readers[4];
byte producers[4];
byte visitors[4];
bool freed[4];
byte inlineLeft[4];
byte slot[4];
bool out[4];
bool counted[4];               /* progress */
bool holds[4];
bool cancelled[4];
bool hasError[4];              /* errorToCome, in the place of upstream */
byte reads[4];                 /* upstream */
byte source[4];

chan ready[THREADS] = [3] of { byte };
byte buffered[THREADS] = NIL;  /* a member whose markOut, and then its promise's unlocking, others do not see yet */

/* What is only there to check */
byte deliverer[4] = NOBODY;
byte started;                  /* bits */
byte settled;
byte threads;
byte finished;
bool ended;

inline alive(p) { assert(!freed[p]) }

/* The store buffer: one store after the other */
proctype Memory(byte me)
{
    byte m;

end:
    do
    :: d_step {
            buffered[me] != NIL -> m = buffered[me];
            assert(slot[m] == OF_LIST);
            slot[m] = OF_CLAIMER;
            out[m] = true
        };
        d_step {
            alive(reads[m]);
            assert(locked[reads[m]]);
            locked[reads[m]] = false;
            phase[reads[m]] = DELIVERING;
            buffered[me] = NIL;
            m = 0
        }
    od
}

#define written (buffered[me] == NIL)

/* References.swift */
inline free(p)
{
    alive(p);
    assert(phase[p] == SETTLED && !locked[p] && head[p] == NIL && slot[p] == OF_VALUE);
    assert(inlineLeft[p] == 0 && deliverer[p] == NOBODY);
    freed[p] = true;
    readers[p] = 0;
    producers[p] = 0
}

inline subtract(p, r, q)
{
    alive(p);
    assert(readers[p] >= r && producers[p] >= q);
    readers[p] = readers[p] - r;
    producers[p] = producers[p] - q;
    if
    :: readers[p] == 0 && producers[p] == 0 && visitors[p] == 0 -> free(p)
    :: else
    fi
}

/* Without a read-modify-write where it is all that is left */
inline giveBack(p, r, q)
{
    d_step { (written || (readers[p] == r && producers[p] == q && visitors[p] == 0)) -> subtract(p, r, q) }
}

inline endVisit(p)
{
    d_step {
        (written || (readers[p] == 0 && producers[p] == 0 && visitors[p] == 1)) -> alive(p);
        assert(visitors[p] > 0);
        visitors[p]--;
        subtract(p, 0, 0)
    }
}

/* release, releasePending: of B and C, which nobody observes, a subtraction. Of A, giveUpReading: the last reader's
 * reference becomes a producer's for a moment; there is nobody to be told. */
inline release(p)
{
    d_step {
        (written || (readers[p] == 1 && producers[p] == 0 && visitors[p] == 0)) -> alive(p);
        ask = (phase[p] < SETTLING && p <= A && readers[p] == 1 && (producers[p] != 0 || visitors[p] != 0));
        if
        :: ask -> readers[p]--; producers[p]++
        :: else -> subtract(p, 1, 0)
        fi
    };
    if
    :: ask -> ask = false; giveBack(p, 0, 1)
    :: else
    fi
}

/* State.swift */
inline lock(p) { d_step { !locked[p] && written -> alive(p); locked[p] = true; word = phase[p] } }

inline unlockNow(p, newPhase) { alive(p); assert(locked[p]); locked[p] = false; phase[p] = newPhase; word = 0 }

inline unlock(p, newPhase) { d_step { unlockNow(p, newPhase) } }

/* lock(whileIn: .open): where it is not open, a load and no more */
inline lockWhileOpen(p)
{
    d_step {
        (phase[p] != OPEN || (!locked[p] && written)) -> alive(p);
        got = (phase[p] == OPEN);
        if
        :: got -> locked[p] = true
        :: else
        fi
    }
}

inline writeValue(p)
{
    d_step {
        written -> alive(p);
        assert(!(settled & (1 << p)) && (p == P || slot[p] == OF_CLAIMER) && !hasError[p]);
        /* G14, G15: all handle both outcomes. */
        assert(p == P || (started & (1 << p)));
        settled = settled | (1 << p);
        slot[p] = OF_VALUE
    }
}

/* Settle.swift: publish where one inline reaction waits; the promise is locked, and has its value. */
inline deliver(p, ownsProducer)
{
    d_step {
        alive(p);
        only = head[p];
        alive(only);
        assert(locked[p] && deliverer[p] == NOBODY && slot[only] == OF_QUEUE && written);
        head[p] = NIL;
        next[only] = NIL;
        slot[only] = OF_LIST;
        counted[only] = true;
        holds[only] = ownsProducer;
        inlineLeft[p] = 1;
        deliverer[p] = me;
        buffered[me] = only;
        ready[me]!only;
        only = 0
    }
}

/* Takes the queue of p, two at most: each is its taker's, by its slot, until it is marked out. */
inline take(p)
{
    newest = head[p];
    head[p] = NIL;
    assert(slot[newest] == OF_QUEUE);
    slot[newest] = OF_LIST;
    if
    :: next[newest] != NIL -> assert(slot[next[newest]] == OF_QUEUE); slot[next[newest]] = OF_LIST
    :: else
    fi
}

/* enqueueBatch, deliverLateOnes: those that were taken, onto the thread's list, oldest first */
inline deferTaken(p)
{
    oldest = NIL;
    do
    :: newest != NIL ->
        d_step {
            alive(newest);
            assert(slot[newest] == OF_LIST && deliverer[p] == me);
            only = next[newest];
            next[newest] = oldest;
            oldest = newest;
            slot[newest] = OF_CLAIMER;
            out[newest] = true;
            counted[newest] = true;
            inlineLeft[p]++;
            newest = only;
            only = 0
        }
    :: else -> break
    od;
    skip;
    d_step {
        ready[me]!oldest;
        if
        :: next[oldest] != NIL -> ready[me]!next[oldest]
        :: else
        fi;
        newest = NIL;
        next[oldest] = NIL;
        oldest = 0
    }
}

/* Settle.swift: enqueueBatch and finishHandOver, with the hand-over's producer reference */
inline handOver(p)
{
    do
    :: true ->
        deferTaken(p);
        d_step {
            !locked[p] && written -> alive(p);
            assert(phase[p] == SETTLING && deliverer[p] == me);
            newest = NIL;
            if
            :: head[p] != NIL -> take(p)
            :: head[p] == NIL && inlineLeft[p] != 0 -> phase[p] = DELIVERING
            :: else -> phase[p] = SETTLED; deliverer[p] = NOBODY
            fi
        };
        if
        :: newest == NIL -> newest = 0; break
        :: else
        fi
    od;
    skip;
    giveBack(p, 0, 1)
}

/* publish and pay: the promise is locked; a reaction that is begun by running it, see runInline. */
inline settleLocked(p, ownsProducer)
{
    writeValue(p);
    if
    :: head[p] == NIL ->
        unlock(p, SETTLED);
        if
        :: ownsProducer -> giveBack(p, 0, 1)
        :: else
        fi
    :: head[p] != NIL && next[head[p]] == NIL -> deliver(p, ownsProducer)
    :: else ->
        if
        :: !ownsProducer -> d_step { alive(p); producers[p]++ }
        :: else
        fi;
        d_step { take(p); deliverer[p] = me; unlockNow(p, SETTLING) };
        handOver(p)
    fi
}

/* settle, of a claimed one; without the producer's reference */
inline settleClaimed(p)
{
    writeValue(p);
    d_step { alive(p); got = (head[p] != NIL) };
    if
    :: got -> d_step { written -> alive(p); producers[p]++ }
    :: else
    fi;
    d_step {
        !locked[p] && written -> alive(p);
        assert(phase[p] == CLAIMED);
        if
        :: head[p] == NIL -> phase[p] = SETTLED; newest = NIL
        :: else -> phase[p] = SETTLING; take(p); deliverer[p] = me
        fi
    };
    if
    :: newest != NIL -> handOver(p)
    :: newest == NIL && got -> giveBack(p, 0, 1)
    :: else
    fi;
    newest = 0;
    got = false
}

/* HandOver.swift */
inline takeDelivery(m, p)
{
    d_step {
        alive(m);
        assert(!counted[m] || deliverer[p] == me);
        isCounted = counted[m];
        counted[m] = false;
        isHolding = holds[m];
        holds[m] = false
    }
}

inline deliverLateOnes(p)
{
    d_step {
        !locked[p] && written -> alive(p);
        assert(phase[p] == DELIVERING && deliverer[p] == me && inlineLeft[p] == 0);
        newest = NIL;
        if
        :: head[p] == NIL -> phase[p] = SETTLED; deliverer[p] = NOBODY
        :: else -> take(p)
        fi
    };
    if
    :: newest != NIL -> deferTaken(p)
    :: else
    fi;
    newest = 0
}

inline countDown(p)
{
    d_step {
        alive(p);
        assert(deliverer[p] == me && inlineLeft[p] > 0);
        inlineLeft[p]--;
        isLast = (inlineLeft[p] == 0)
    }
}

/* After the reaction has settled. What is owed is owed for one promise, here. */
inline endReading(p)
{
    mine = 1;
    if
    :: isCounted ->
        countDown(p);
        if
        :: !isLast -> assert(owed == 0); owed++; mine = 0
        :: else ->
            mine = mine + owed;
            owed = 0;
            d_step { alive(p); ask = (readers[p] == mine && producers[p] == isHolding && visitors[p] == 0) };
            if
            :: ask ->
                d_step { written -> alive(p); assert(!locked[p]); phase[p] = SETTLED; deliverer[p] = NOBODY; ask = false };
                d_step { free(p); mine = 0 }
            :: else -> deliverLateOnes(p)
            fi
        fi
    :: else
    fi;
    if
    :: mine != 0 -> giveBack(p, mine, isHolding)
    :: else
    fi;
    d_step { mine = 0; isLast = false; isCounted = false; isHolding = false }
}

/* CancelReaction.swift: claimCancelled, takeError, and the settling behind them */
inline endCancelled(m)
{
    d_step {
        (!locked[m] && phase[m] != CLAIMED && written) -> alive(m);
        assert(phase[m] == TO_REJECT && cancelled[m]);
        phase[m] = CLAIMED;
        hasError[m] = false
    };
    settleClaimed(m);
    giveBack(m, 0, 1)
}

/* beginCancelled, runCancelled */
inline runCancelled(m)
{
    d_step {
        (!locked[m] && phase[m] != CLAIMED && written) -> alive(m);
        assert(phase[m] == TO_REJECT && !(started & (1 << m)));
        locked[m] = true;
        started = started | (1 << m)
    };
    d_step { from = source[m]; hasError[m] = false; reads[m] = NIL; unlockNow(m, TO_REJECT) };
    if
    :: from != NIL -> takeDelivery(m, from)
    :: else
    fi;
    endCancelled(m);
    if
    :: from != NIL -> endReading(from)
    :: else
    fi;
    from = 0
}

/* Run.swift: runInline, publishOwn */
inline runInline(m)
{
    /* The handler begins with this look. */
    d_step {
        alive(m);
        got = (phase[m] == OPEN);
        if
        :: got ->
            assert(!(started & (1 << m)));
            /* G2: whoever was there before C has begun, or is cancelled. */
            assert(m != C || (started & (1 << (reads[C] + 1))) || phase[reads[C] + 1] != OPEN);
            started = started | (1 << m)
        :: else
        fi
    };
    if
    :: !got -> runCancelled(m)
    :: else ->
        d_step { alive(m); from = source[m]; assert(from == reads[m]); alive(from); assert(slot[from] == OF_VALUE) };
        takeDelivery(m, from);
        /* isUnseen */
        d_step { alive(m); ask = (readers[m] == 0 && producers[m] == 1 && visitors[m] == 0); got = false };
        if
        :: ask ->
            d_step { alive(m); ask = false; got = (phase[m] == OPEN) };
            if
            :: got ->
                writeValue(m);
                d_step { alive(m); assert(!locked[m] && head[m] == NIL && phase[m] == OPEN); phase[m] = SETTLED };
                d_step { free(m) }
            :: else
            fi
        :: else ->
            lockWhileOpen(m);
            if
            :: got && head[m] != NIL && next[head[m]] != NIL ->
                /* More than one member: not quietly, but by `settle`. */
                unlock(m, OPEN);
                lockWhileOpen(m)
            :: else
            fi;
            if
            :: got -> settleLocked(m, true)
            :: else
            fi
        fi;
        if
        :: !got ->
            /* discard: it was cancelled, perhaps at this moment. */
            endCancelled(m)
        :: else
        fi;
        endReading(from);
        from = 0
    fi;
    got = false
}

/* Cancel.swift: takeOut */
inline takeOut(m)
{
    do
    :: true ->
        d_step { alive(m); assert(slot[m] != OF_VALUE); got = out[m] };
        if
        :: got -> got = false; break
        :: else
        fi;
        lock(reads[m]);
        d_step {
            only = head[reads[m]];
            if
            :: only == m -> got = true; head[reads[m]] = next[m]
            :: only != m && only != NIL && next[only] == m -> got = true; next[only] = next[m]
            :: else
            fi;
            only = 0;
            if
            :: got -> assert(slot[m] == OF_QUEUE); slot[m] = OF_CLAIMER; next[m] = NIL
            :: else
            fi;
            unlockNow(reads[m], word)
        };
        if
        :: got -> break
        :: else -> out[m]
        fi
    od
}

/* cancelUpwards, cancelOne, cancelReaction: m and, as far as nobody else reads it, first what it waits for */
inline cancel(m)
{
    d_step { written -> alive(m); visitors[m]++; upstream = NIL };
    do
    :: true ->
        lock(m);
        if
        :: word == OPEN && m != P ->
            d_step { alive(reads[m]); ask = (phase[reads[m]] < SETTLING) };
            if
            :: ask ->
                /* leaveUnlessLast */
                d_step {
                    written -> alive(reads[m]);
                    hasLeft = (readers[reads[m]] != 1);
                    ask = !hasLeft;
                    if
                    :: hasLeft -> assert(readers[reads[m]] > 1); readers[reads[m]]--; visitors[reads[m]]++
                    :: else
                    fi
                }
            :: else
            fi;
            if
            :: ask ->
                d_step { written -> alive(reads[m]); upstream = reads[m]; visitors[upstream]++; ask = false };
                d_step { cancelled[m] = true; unlockNow(m, TO_REJECT) }
            :: else ->
                d_step { cancelled[m] = true; unlockNow(m, CLAIMED) };
                takeOut(m);
                if
                :: got ->
                    /* read: by drainReady here */
                    d_step { got = false; from = reads[m]; reads[m] = NIL; source[m] = NIL; out[m] = true };
                    toReject(m);
                    ready[me]!m;
                    if
                    :: hasLeft -> endVisit(from)
                    :: else -> release(from)
                    fi;
                    from = 0
                :: else ->
                    if
                    :: hasLeft ->
                        /* comeBack */
                        d_step {
                            written -> alive(reads[m]);
                            assert((phase[reads[m]] >= SETTLING || locked[reads[m]]) && visitors[reads[m]] > 0);
                            readers[reads[m]]++;
                            visitors[reads[m]]--
                        }
                    :: else
                    fi;
                    d_step { alive(m); hasError[m] = true };
                    toReject(m)
                fi;
                hasLeft = false
            fi
        :: word == OPEN && m == P -> assert(head[P] == NIL || !(settled & 1)); settleLocked(P, false)
        :: word == CLAIMED -> unlock(m, word); d_step { phase[m] != CLAIMED -> alive(m) }; goto again
        :: else -> unlock(m, word)
        fi;
        endVisit(m);
        if
        :: upstream == NIL -> upstream = 0; break
        :: else -> d_step { m = upstream; upstream = NIL; alive(m) }
        fi;
again:
        skip
    od
}

/* transitionToCancelled */
inline toReject(m) { d_step { (!locked[m] && written) -> alive(m); assert(phase[m] == CLAIMED); phase[m] = TO_REJECT } }

/* React.swift: registerInline. The handle to the promise becomes C's reference. */
inline register(p)
{
    do
    :: true ->
        /* enlist */
        d_step {
            (phase[p] == SETTLED || (!locked[p] && written)) -> alive(p);
            got = (phase[p] != SETTLED);
            if
            :: got -> next[C] = head[p]; head[p] = C; slot[C] = OF_QUEUE; out[C] = false
            :: else -> slot[C] = OF_CLAIMER; out[C] = true
            fi
        };
        if
        :: got -> break
        :: else
        fi;
        d_step { alive(p); ask = (!isNested || (readers[p] == 1 && producers[p] == 0 && visitors[p] == 0)) };
        if
        :: ask -> ask = false; ready[me]!C; break
        :: else
        fi;
        /* transitionToDelivering, deferInline */
        d_step {
            written -> alive(p);
            got = (phase[p] == SETTLED && !locked[p]);
            if
            :: got ->
                assert(deliverer[p] == NOBODY && inlineLeft[p] == 0);
                phase[p] = DELIVERING;
                deliverer[p] = me;
                inlineLeft[p] = 1;
                counted[C] = true;
                ready[me]!C
            :: else
            fi
        };
        if
        :: got -> break
        :: else
        fi
    od;
    got = false
}

/* x: what it has a handle of; y: another one, or NIL. */
proctype Thread(byte me; byte role; byte x; byte y)
{
    byte word, from, only, newest, oldest, mine, owed, upstream, m;
    bool got, ask, isCounted, isHolding, isLast, isNested, hasLeft;

    if
    :: role == RESOLVER ->
        lockWhileOpen(P);
        if
        :: got -> got = false; settleLocked(P, false)
        :: else
        fi
    :: role == CANCELLER ->
        if
        :: m = x
        :: y != NIL -> m = y
        fi;
        cancel(m)
    :: role == REGISTRAR ->
        /* Outside, or in a handler of its own, which may give the handle of C back. */
        if
        :: isNested = true
        :: skip
        fi;
        register(x);
        if
        :: isNested -> isNested = false; release(C); x = NIL
        :: x = C; isNested = false
        fi
    :: else
    fi;
    do
    :: ready[me]?m -> runInline(m)
    :: empty(ready[me]) -> m = 0; break
    od;
    if
    :: role == RESOLVER -> giveBack(P, 0, 1)
    :: else
    fi;
    do
    :: x != NIL -> release(x); x = y; y = NIL
    :: else -> break
    od;
    atomic { assert(owed == 0); x = 0; y = 0; finished++ }
}

inline start(role, x, y) { run Thread(threads, role, x, y); threads++ }

init {
    atomic {
        source[P] = NIL; reads[P] = NIL;
        source[A] = P; reads[A] = P; head[P] = A; producers[A] = 1; readers[P] = 1;
        source[B] = A; reads[B] = A; head[A] = B; producers[B] = 1; readers[A] = 1;
        producers[P] = 1;
        freed[C] = true;
        settled = 1 << C;
        run Memory(0); run Memory(1); /* who settles, or cancels the source; no other thread delivers to a single member */
        start(RESOLVER, NIL, NIL);
#if SCENARIO == 1
        readers[B] = 2;
        start(CANCELLER, B, NIL);
        start(RELEASER, B, NIL);
#elif SCENARIO == 2
        readers[B] = 1;
        readers[A]++;
        start(CANCELLER, B, NIL);
        start(REGISTRAR, A, NIL);
#elif SCENARIO == 3
        readers[B] = 1;
        readers[A]++;
        readers[P]++;
        start(CANCELLER, A, NIL);
        start(RELEASER, B, NIL);
        start(REGISTRAR, P, NIL);
#else
        /* P has two members. */
        readers[B] = 1;
        readers[A]++;
        readers[P]++;
        next[C] = A; head[P] = C;
        start(CANCELLER, A, C);
        start(RELEASER, B, NIL);
#endif
#if SCENARIO > 1
        freed[C] = false;
        settled = 0;
        readers[C] = 1;
        producers[C] = 1;
#if SCENARIO == 2
        source[C] = A; reads[C] = A;
#else
        source[C] = P; reads[C] = P;
#endif
#endif
        skip
    };
    finished == threads;
    atomic {
        assert(settled == 15);
        assert(freed[P] && freed[A] && freed[B] && freed[C]);
        ended = true
    }
}

ltl ends { <> ended }
