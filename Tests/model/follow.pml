/* Adoption: N promises, one thread each, every graph of adoptions among them.
 *
 * Follows Settling/Follow.swift, Settling/Rings.swift, Settling/Settle.swift
 * (followers only), Lifetime/References.swift and Records/State.swift. One step of a process is one
 * atomic operation of the code together with the private work next to it; a compare-and-exchange loop
 * without side effects is one step that waits until it can be taken.
 *
 * Every promise resolves to a value, or to any promise, itself included; its reader keeps a handle or
 * not; its resolver is consumed or given back later. Checked:
 *   G3  no follower is lost: whoever reads a promise sees it settle, and at the end all memory is free
 *   G8  members of a ring, and what hangs on them, are rejected with a cycle; nothing else is
 *   no record is touched after it was freed; no slot is read after the value was written over it
 *   termination: under weak fairness there is no infinite run
 */

/* Stands for:
 *   abandon arrive asOneStep attach begin beginFollowing beginOut change claimLockedFollower Counts drainAllOutcomes
 *   drainHandOver drainLeftovers drainOutcomes endEntering endOfPath endOfWay endStep endVisit enlist enqueueBatch enter
 *   exchangeReference finishHandOver finishLastBatch follow follows freeRecord giveBack goOnFollowing handOver
 *   hasDone hasLeftovers hasValue hasYielded isFollower isOnlyMine isOut isUnreadable leads leaveBehind letGo lock
 *   lockedUpstream longestPath lookAtMembers lookBelow markOut mayPassFollowersOn next noteLastOfBatch nowCounts pay
 *   Phase PhaseSet popDead publish publishToMembers pushDead read reclaim redirect Redirection rejectCycle
 *   rejectIfRing rejectMember release releaseProducer releaseResolver releaseResolverOfPending retain
 *   retainOneOfMany retainProducer RingWatch settle settleWithOutcome skip SlotList stay takeFollowers takeOut
 *   takeOutcome takeOwnOutcome takesOutcome transitionAfterHandOver transitionToClaimed transitionToFollowing unlock
 *   upstream visit waitsForItself withdrawFollower writeOutcome yieldFollowers
 */

#ifndef N
#define N 3
#endif
#ifndef REACTIONS
#define REACTIONS 0
#endif
#define THREADS (N - REACTIONS)
#define IS_REACTION(p) (p >= THREADS)
#define NIL 15

#define OPEN 0
#define CLAIMED 1
#define FOLLOWING 2
#define SETTLING 3
#define SETTLED 5
#define HAS_VALUE(p) (r[p].phase >= SETTLING)

#define NO_VALUE 0
#define FULFILLED 1
#define CYCLE 2

/* A record. The value and the links share the slot: writing one destroys the other. */
typedef Record {
    unsigned phase : 3;
    bool locked;
    unsigned head : 4;
    unsigned next : 4;
    unsigned upstream : 4;
    bool slotIsValue;
    unsigned value : 2;
    unsigned promises : 4;
    unsigned producers : 3;
    unsigned visitors : 4;
    bool hasFollowers;
    bool isObserved;
    bool lastOfBatch;
    bool isOut;
    bool hasYielded;
    bool freed
}

Record r[N];

/* The scenario, and what its graph says about the outcome. */
byte target[N];
bool keeps[N];
bool owns[N];
byte finished;
bool ended;

inline alive(p) { assert(p != NIL && !r[p].freed) }

#include "follow-counts.inc"
#include "follow-settle.inc"
#include "follow-walk.inc"
#include "follow-yield.inc"
#include "follow-scenario.inc"

/* Follow.swift: follow */
inline follow(followed, p, ownsProducer)
{
    if
    :: !ownsProducer -> r[p].producers++
    :: else
    fi;
    r[p].upstream = followed;
    atomic { alive(followed); seen = (followed != p && HAS_VALUE(followed)) };
    if
    :: seen -> r[followed].isObserved = true; settleWithOutcome(p); handOverAll()
    :: else ->
        /* transitionToFollowing */
        atomic {
            alive(p);
            !r[p].locked -> r[p].phase = FOLLOWING
        };
        hasYielded = false;
        if
        :: r[p].hasFollowers ->
            lookBelow(p, followed);
            if
            :: isRing -> isRing = false; leads(followed, p)
            :: else
            fi
        :: else
        fi;
        if
        :: !isRing && r[p].hasFollowers -> yieldFollowers(p)
        :: else
        fi;
        if
        :: isRing -> isRing = false; rejectCycle(p)
        :: hasYielded -> skip
        :: else ->
            atomic { alive(p); seen = (r[p].promises == 0) }; /* isUnread */
            if
            :: seen -> abandon(p)
            :: else -> attach(p)
            fi
        fi
    fi
}

/* Walks the graph as it was asked for: N steps reach a value or are in a ring. */
inline expected(p)
{
    d_step {
        alive(p);
        member = p;
        word = 0;
        do
        :: word < N && target[member] != NIL -> member = target[member]; word++
        :: else -> break
        od;
        if
        :: target[member] == NIL -> assert(r[p].value == FULFILLED)
        :: else -> assert(r[p].value == CYCLE)
        fi;
        member = 0;
        word = 0
    }
}

/* A thread that resolves promise `me`, and then reads it. */
proctype Thread(byte me)
{
    byte first = NIL, last = NIL; /* ThreadState.handOver */
    byte member, newest, batch, batchLast, moving, word, wordHead, further, current, goal, before;
    byte mark, steps, distance, taken, obstacle, dead, units, producersOf, visits, past, followed, waiting;
    byte outcome;
    byte follower, followers;
    byte todo, looked, below;
#ifdef LONGEST
    byte passedBy;
    bool holds;
#endif
    bool seen, isFree, isRing, hasYielded, reads, waits, isMine, isLost, isTooLate, isIn, inherits;

    atomic { alive(me); assert(r[me].phase == OPEN); !r[me].locked -> r[me].phase = CLAIMED };
    if
    :: target[me] == NIL -> settle(me, FULFILLED, owns[me]); handOverAll()
    :: else -> follow(target[me], me, owns[me])
    fi;
    if
    :: !owns[me] -> giveBack(me, 0, 1) /* releaseResolver: nothing is left to break */
    :: else
    fi;
    if
    :: keeps[me] ->
        atomic { alive(me); HAS_VALUE(me) };
        expected(me);
        giveBack(me, 1, 0)
    :: else
    fi;
    atomic { finished++; first = NIL; last = NIL; member = 0; newest = 0; batch = 0; batchLast = 0;
        moving = 0; word = 0; wordHead = 0; further = 0; current = 0; goal = 0; before = 0; obstacle = 0; dead = 0;
        units = 0; followed = 0; waiting = 0; outcome = 0; follower = 0; followers = 0; seen = 0; isFree = 0;
        mark = 0; steps = 0; distance = 0; taken = 0; isRing = 0; hasYielded = 0;
#ifdef LONGEST
        passedBy = 0; holds = 0;
#endif
        reads = 0; producersOf = 0; visits = 0; past = 0; todo = 0; looked = 0; below = 0; waits = 0; isMine = 0; isLost = 0; isTooLate = 0; isIn = 0 }
}

init {
    byte i, j, t, kind, dead, units, producersOf, visits, member, word;
    bool skipped;
    atomic {
        chooseScenario();
        if
        :: skipped -> goto end
        :: else
        fi;
        do
        :: i < THREADS -> run Thread(i); i++
        :: else -> break
        od
    };
    /* Who reads the reactions. */
    do
    :: i == N -> break
    :: else ->
        if
        :: keeps[i] ->
            atomic { alive(i); HAS_VALUE(i) };
            expected(i);
            giveBack(i, 1, 0)
        :: else
        fi;
        i++
    od;
    atomic {
        finished == THREADS;
        i = 0;
        do
        :: i < N -> assert(r[i].freed); i++
        :: else -> break
        od;
        i = 0
    }
end:
    ended = true
}

/* Termination, checked under weak fairness. */
ltl ends { <> ended }
