/* The last readers of a promise go: its producer hears of it, once, and only if nobody has resolved it.
 *
 * Follows Settling/Interest.swift, Settling/Cancelling/Hooks.swift, Settling/Cancelling/Cancel.swift, Settling/Resolve.swift and Promise/
 * Follow.swift (giveUpFollowing, and a follower that nobody reads). Two readers give their handles back, or the
 * last one cancels; the producer adds two hooks, and resolves with a value, with another promise Q, or not at all.
 *
 * Checked:
 *   a hook is called or dropped, once; it is called if nobody is left, or the promise was cancelled, while it is
 *   open, and not called if its promise was resolved before it is to begin; the order of hooks is not modelled
 *   a cancelled promise settles when all hooks that are called for that have returned, also one that came meanwhile
 *   the slot is the hooks', the link's or the value's, never two at once; nothing is touched after it was freed
 *   a follower that nobody reads leaves its queue, and its going on is what Q's producer hears
 */

/* Stands for:
 *   Lifetime/Counting.swift: endVisit giveBack release releaseProducer
 *   Lifetime/Create.swift: writeOutcome
 *   Lifetime/Reclaim.swift: reclaim
 *   Records/Counts.swift: Counts exchangeReference leaveUnlessLast nowCounts retainOneOfMany retainProducer visit
 *   Records/Record.swift: hooks hooksLeft isOut markOut upstream
 *   Records/StateWord.swift: Phase PhaseSet hasValue
 *   Records/Transitions.swift: change enlist lock read transitionToClaimed transitionToFollowing transitionToSettling
 *   Records/Transitions.swift: unlock unlockSettling
 *   Settling/BrokenResolver.swift: releaseResolver releaseResolverOfPending
 *   Settling/Cancelling/Cancel.swift: cancel cancelOne cancelProducer cancelUpwards
 *   Settling/Cancelling/CancelReaction.swift: cancelFollower claimLockedFollower takeOut withdrawFollower
 *   Settling/Cancelling/EndCancelled.swift: endCancelled settleTold
 *   Settling/Cancelling/Hooks.swift: addHook countHooks dismiss endTelling isUnresolved runHooks
 *   Settling/Following/Follow.swift: attach beginFollowing follow giveUpFollowing goOnFollowing
 *   Settling/Following/Redirect.swift: redirect
 *   Settling/Free.swift: freeRecord
 *   Settling/Interest.swift: giveUpReading loseInterest releasePending
 *   Settling/Resolve.swift: resolve
 *   Settling/Settle.swift: settle settleLocked
 *   Thread/DeadList.swift: popDead pushDead
 *   Thread/Drain.swift: drainDead
 */

#define OPEN 0
#define CLAIMED 2
#define FOLLOWING 3
#define SETTLED 5
#define TOLD 6                 /* Phase.cancelled: who has hooks hears of it before it is settled */

#define P 0
#define Q 1
#define HOOKS 2

/* Who uses P's slot */
#define OF_HOOKS 0
#define OF_CLAIMER 1
#define OF_LIST 2              /* on its way to Q's queue */
#define OF_QUEUE 3
#define OF_VALUE 4

byte phase[2];
bool locked[2];
byte promises[2];
byte producers[2];
byte visitors[2];
bool freed[2];
byte use = OF_HOOKS;
bool isOut;
bool hasMember;                /* Q's queue: P */

/* Bits: in P's slot, called, destroyed */
byte hooks;
byte called;
byte destroyed;
byte told;                     /* taken because P was cancelled */
byte hooksLeft;

/* What must become of them */
bool isDecided;                /* resolved by its producer */
bool isBroken;                 /* by its producer */
bool isCancelled;              /* while it followed */
bool isUnwanted;               /* cancelled while it was open */
byte heardOfQ;
byte finished;
bool ended;

inline alive(p) { assert(!freed[p]) }

inline lock(p) { atomic { alive(p); !locked[p] -> locked[p] = true; word = phase[p] } }

inline unlock(p, newPhase)
{
    atomic { alive(p); assert(locked[p] && phase[p] == word); locked[p] = false; phase[p] = newPhase; word = 0 }
}

/* dismiss, with what runs at the end of the step */
inline dismiss(which, areCalled)
{
    atomic {
        assert(!(destroyed & which));
        if
        :: areCalled -> called = called | which
        :: else
        fi;
        destroyed = destroyed | which;
        which = 0
    }
}

/* The same where nobody reads P any more: called unless it is resolved meanwhile, which breaking is not. */
inline dismissUnread(which)
{
    if
    :: which != 0 ->
        retainProducer();
        atomic {
            alive(P);
            hasBegun = (phase[P] == OPEN || isBroken);
            assert(!hasBegun || !isDecided || isBroken || locked[P])
        };
        dismiss(which, hasBegun);
        hasBegun = false;
        giveBack(P, 0, 1)
    :: else
    fi
}

#define IS_FREE(p) (promises[p] == 0 && producers[p] == 0 && visitors[p] == 0)

inline visit(p) { atomic { alive(p); visitors[p]++ } }

inline endVisit(p)
{
    atomic {
        alive(p);
        assert(visitors[p] > 0);
        visitors[p]--;
        freed[p] = IS_FREE(p);
        assert(!freed[p] || (!locked[p] && (p == Q || hooks == 0)))
    }
}

/* A reader becomes a visitor: `got`; not where it is the last one. */
inline leaveUnlessLast(p)
{
    atomic {
        alive(p);
        got = (promises[p] != 1);
        if
        :: got -> assert(promises[p] > 1); promises[p]--; visitors[p]++
        :: else
        fi
    }
}

inline giveBack(p, readers, resolvers)
{
    atomic {
        alive(p);
        assert(promises[p] >= readers && producers[p] >= resolvers);
        promises[p] = promises[p] - readers;
        producers[p] = producers[p] - resolvers;
        freed[p] = IS_FREE(p);
        assert(!freed[p] || (!locked[p] && (p == Q || hooks == 0)))
    }
}

/* giveUpReading: `isLast` */
inline giveUpReading(p)
{
    atomic {
        alive(p);
        assert(promises[p] > 0);
        isLast = (promises[p] == 1 && (producers[p] != 0 || visitors[p] != 0));
        promises[p]--;
        if
        :: isLast -> producers[p]++
        :: else -> freed[p] = IS_FREE(p)
        fi
    }
}

/* release; of P it may go on with Q. */
inline release(p)
{
    atomic { alive(p); isLast = (phase[p] == SETTLED) };
    if
    :: isLast -> giveBack(p, 1, 0)
    :: else ->
        giveUpReading(p);
        if
        :: isLast -> loseInterest(p); giveBack(p, 0, 1)
        :: else
        fi
    fi;
    isLast = false
}

inline loseInterest(p)
{
    lock(p);
    if
    :: word == OPEN && p == P ->
        atomic { assert(use == OF_HOOKS); mine = hooks; hooks = 0; unlock(P, OPEN) };
        dismissUnread(mine)
    :: word == OPEN && p == Q -> unlock(Q, OPEN); heardOfQ++
    :: word == FOLLOWING && p == P -> unlock(P, CLAIMED); withdrawFollower()
    :: else -> unlock(p, word)
    fi
}

/* withdrawFollower with takeOut; what P followed is given up afterwards. */
inline withdrawFollower()
{
    do
    :: true ->
        atomic { alive(P); assert(use != OF_VALUE); got = isOut };
        if
        :: got -> break
        :: else
        fi;
        lock(Q);
        atomic {
            got = hasMember;
            hasMember = false;
            if
            :: got -> assert(use == OF_QUEUE); use = OF_CLAIMER
            :: else
            fi;
            unlock(Q, word)
        };
        if
        :: got -> break
        :: else -> (isOut || use == OF_QUEUE)
        fi
    od;
    got = false;
    settleClaimed();
    goesOn = true
}

/* settle(_:ownsProducer: true) */
inline settleClaimed()
{
    atomic { alive(P); assert(phase[P] == CLAIMED && use == OF_CLAIMER); use = OF_VALUE };
    atomic { alive(P); !locked[P] -> phase[P] = SETTLED };
    giveBack(P, 0, 1)
}

inline claim(phaseBefore)
{
    atomic {
        alive(P);
        (phase[P] != phaseBefore || !locked[P]) -> got = (phase[P] == phaseBefore);
        if
        :: got -> phase[P] = CLAIMED; isDecided = (isDecided || phaseBefore == OPEN)
        :: else
        fi
    }
}

/* Resolving with Q: the rest of follow, where P has no followers. Then hooks are dropped. */
inline follow()
{
    atomic { assert(use == OF_HOOKS); mine = hooks; hooks = 0; use = OF_LIST; isOut = false };
    retainProducer();
    atomic { alive(P); !locked[P] -> phase[P] = FOLLOWING };
    atomic { alive(P); got = (promises[P] == 0) }; /* isUnread */
    if
    :: got ->
        claim(FOLLOWING);
        if
        :: got -> use = OF_CLAIMER; settleClaimed(); goesOn = true
        :: else -> markOut()
        fi
    :: else ->
        /* attach: redirect, under P's lock; then enlist */
        lock(P);
        atomic { got = (word == FOLLOWING); unlock(P, word) };
        if
        :: got ->
            atomic {
                alive(Q);
                (phase[Q] == SETTLED || !locked[Q]) -> alive(P);
                assert(use == OF_LIST);
                got = (phase[Q] != SETTLED);
                if
                :: got -> hasMember = true; use = OF_QUEUE
                :: else
                fi
            };
            if
            :: got
            :: else -> takeOutcome()
            fi
        :: else -> markOut()
        fi
    fi;
    got = false;
    dismiss(mine, false)
}

inline retainProducer() { atomic { alive(P); producers[P]++ } }

inline markOut() { atomic { alive(P); assert(use == OF_LIST); isOut = true; use = OF_CLAIMER } }

/* What P followed loses a reader. */
inline goOn()
{
    if
    :: goesOn -> goesOn = false; release(Q)
    :: else
    fi
}

/* takeOutcome, of P, which is this thread's: Q was cancelled. */
inline takeOutcome()
{
    claim(FOLLOWING);
    if
    :: got -> use = OF_CLAIMER; settleClaimed(); giveBack(Q, 1, 0)
    :: else -> markOut()
    fi
}

/* cancelOne, of Q, which P follows; then the canceller's visit ends. */
inline cancelQ()
{
    lock(Q);
    if
    :: word == OPEN ->
        heardOfQ++;
        atomic {
            got = hasMember;
            hasMember = false;
            if
            :: got -> assert(use == OF_QUEUE); use = OF_LIST
            :: else
            fi;
            unlock(Q, SETTLED)
        };
        if
        :: got -> takeOutcome()
        :: else
        fi
    :: else -> unlock(Q, word)
    fi;
    got = false;
    endVisit(Q)
}

/* runHooks: `mine` are called one after the other. */
inline tell()
{
    if
    :: mine & 1 -> atomic { mine = mine & 2; called = called | 1; destroyed = destroyed | 1 }; endTelling()
    :: else
    fi;
    if
    :: mine & 2 -> dismiss(mine, true); endTelling()
    :: else
    fi
}

/* endTelling, settleTold: P is not cooperative. */
inline endTelling()
{
    lock(P);
    atomic {
        assert(word == TOLD && hooksLeft > 0 && use == OF_CLAIMER);
        hooksLeft--;
        isLast = (hooksLeft == 0);
        unlock(P, (isLast -> CLAIMED : word))
    };
    if
    :: isLast ->
        isLast = false;
        use = OF_VALUE;
        atomic { alive(P); !locked[P] -> assert((told & destroyed) == told); phase[P] = SETTLED };
        endVisit(P)
    :: else
    fi
}

/* cancel: by who has a handle. */
inline cancel()
{
    visit(P);
    do
    :: true ->
        lock(P);
        if
        :: word == OPEN ->
            /* cancelProducer */
            atomic {
                assert(use == OF_HOOKS);
                mine = hooks;
                hooks = 0;
                use = (mine != 0 -> OF_CLAIMER : OF_VALUE); /* errorToCome */
                isUnwanted = true
            };
            if
            :: mine == 0 -> unlock(P, SETTLED)
            :: else ->
                atomic { visit(P); told = mine; hooksLeft = (mine & 1) + (mine >> 1); unlock(P, TOLD) };
                tell()
            fi;
            break
        :: word == FOLLOWING && isCancelled -> unlock(P, word); break
        :: word == FOLLOWING && !isCancelled ->
            /* cancelFollower: the last reader of Q stays, and gets what comes down. */
            isCancelled = true;
            atomic { alive(Q); got = (phase[Q] != SETTLED) };
            if
            :: got -> leaveUnlessLast(Q);
                if
                :: !got -> visit(Q); unlock(P, word); cancelQ()
                :: else -> unlock(P, CLAIMED); withdrawFollower(); goesOn = false; endVisit(Q)
                fi
            :: else -> unlock(P, word)
            fi;
            break
        :: word == CLAIMED -> unlock(P, word); atomic { phase[P] != CLAIMED -> alive(P) }
        :: else -> unlock(P, word); break
        fi
    od;
    endVisit(P)
}

proctype Reader()
{
    byte word, mine;
    bool isLast, got, goesOn, hasBegun;

    if
    :: cancel()
    :: skip
    fi;
    release(P);
    goOn();
    finished++
}

/* addHook; `mine` is the hook. */
inline addHook(which)
{
    lock(P);
    atomic {
        isLast = (word == OPEN);
        isTold = (word == TOLD);
        got = (promises[P] == 0);
        if
        :: isLast && !got -> hooks = hooks | which
        :: isTold -> mine = which; told = told | which; hooksLeft++
        :: else -> mine = which
        fi;
        unlock(P, word)
    };
    if
    :: isTold -> isTold = false; dismiss(mine, true); endTelling()
    :: mine != 0 && !isTold ->
        if
        :: isLast && got -> dismissUnread(mine)
        :: else -> got = isUnwanted; dismiss(mine, got)
        fi
    :: else
    fi;
    isLast = false;
    got = false
}

proctype Producer()
{
    byte word, mine;
    bool isLast, got, goesOn, hasBegun, isTold;

    addHook(1);
    addHook(2);
    if
    :: /* settle(_:whileIn: .open), which consumes nothing */
        atomic {
            alive(P);
            (phase[P] != OPEN || !locked[P]) -> got = (phase[P] == OPEN);
            if
            :: got -> locked[P] = true; word = OPEN; isDecided = true
            :: else
            fi
        };
        if
        :: got ->
            atomic { assert(use == OF_HOOKS); mine = hooks; hooks = 0; use = OF_VALUE };
            unlock(P, SETTLED);
            dismiss(mine, false)
        :: else
        fi;
        got = false
    :: claim(OPEN);
        if
        :: got -> got = false; promises[Q]++; follow(); goOn()
        :: else
        fi
    :: skip
    fi;
    /* releaseResolver */
    do
    :: true ->
        atomic {
            alive(P);
            isLast = (producers[P] == 1 && promises[P] != 0 && phase[P] == OPEN);
            if
            :: isLast && !locked[P] -> locked[P] = true; word = OPEN; isDecided = true; isBroken = true
            :: isLast && locked[P] -> isLast = false; goto wait
            :: !isLast -> giveBack(P, 0, 1); goto done
            fi
        };
        atomic { assert(use == OF_HOOKS); mine = hooks; hooks = 0; use = OF_VALUE };
        unlock(P, SETTLED);
        dismiss(mine, false);
        giveBack(P, 0, 1);
        goto done;
wait:
        !locked[P]
    od;
done:
    isLast = false;
    finished++
}

init {
    atomic {
        promises[P] = 2; producers[P] = 1;
        producers[Q] = 1;
        run Reader(); run Reader(); run Producer()
    };
    finished == 3;
    atomic {
        assert(freed[P] && hooks == 0 && destroyed == 3);
        assert((isDecided && !isUnwanted) || called == 3);
        /* Q is left to its producer, who has heard that nobody waits for it, where P followed it till then. */
        assert(!hasMember && promises[Q] == 0 && heardOfQ <= 1);
        ended = true
    }
}

ltl ends { <> ended }
