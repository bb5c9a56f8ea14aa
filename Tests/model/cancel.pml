/* Cancelling: members of a promise's queue are cancelled, by hand or by a token, while it settles, or begins to follow
 * another one, while their executor begins them, or while they begin to follow.
 *
 * Follows Settling/Cancel.swift, Settling/Free.swift, Records/Queue.swift, and of Settle, Run, Follow and
 * Token what meets them. One step is one atomic operation of the code with the private work next to it. What the
 * code does in a loop with `Backoff` waits here until another look could find something else.
 *
 * A record's slot is one resource (`use`): the queue's, a list's, a value's, or nobody's, which means its
 * claimer's. Every use of it asserts whose it is. Checked:
 *   G12  exactly one outcome; who has not begun when it is cancelled reads the cancellation, and is not fulfilled
 *   G3   each context is destroyed exactly once, each reaction begins or is dropped exactly once
 *   G14  a promise settles after its handler has returned and its context was destroyed
 *   G15  a handler for both outcomes runs, once
 *   no slot is used by two; nothing is touched after it was freed; everything is freed in the end
 *   nobody waits in vain (a deadlock here), and under weak fairness everything ends
 */

/* Stands for:
 *   abandon arrive asOneStep attach begin beginCancelled beginFollowing beginOut cancel cancelAlone cancelEntry
 *   cancelFollower cancelOne cancelProducer cancelReaction cancelSource cancelSources cancelUpwards change
 *   claimCancelled claimLockedFollower comeBack complete conclude concludeCancelled Counts destroyContext discard
 *   drainAllOutcomes drainHandOver drainLeftovers drainOutcomes dropWithdrawn end endEntering
 *   endFollowing endLater endOfPath endStep endVisit endWithdrawn enlist enqueueBatch enter errorToCome errorToRead
 *   exchangeReference fill fillFurther finishHandOver finishLastBatch follow follows forgetPlace freeRecord giveBack
 *   giveUpFollowed giveUpFollowing giveUpReading goOnFollowing handBack handOver hasDone hasLeftovers hasValue
 *   hasWayBack hasYielded isCancelledWithFollowers isFollower isOnlyMine isOnTheWay isOut isUnreadable keepsContext
 *   lane leave leaveBehind leaveToken leaveUnlessLast letGo lock lockedUpstream Look loseInterest markCancelled
 *   markOut mayPassFollowersOn MemberList next nextOfUnmarked NextWord noteLastOfBatch nowCounts passOn passThrough
 *   pay Phase PhaseSet popDead promiseRead publish publishToMembers pushDead read reclaim redirect Redirection
 *   register release releasePending releaseProducer relink remove retain retainOneOfMany retainProducer run
 *   runCancelled search settle settleWithOutcome skip SlotList stay takeEntry takeError takeFollowers takeOut
 *   takeOutcome takeOutcomeAtLast takeOwnOutcome takesOutcome top transitionAfterHandOver transitionToCancelled
 *   transitionToClaimed transitionToFollowing unlink Unlinked unlock unmark upstream visit wayBack withdraw
 *   withdrawFollower withdrawnUpstream writeOutcome yieldFollowers
 */

#define RECORDS 6
#define P 0
#define Q 1
#define A 2
#define B 3
#define C 4
#define T 5                    /* rejected, never freed: what is read by who has left its queue */
/* As a link or a lane */
#define NIL 7
#define OUT 6                  /* next: in no queue */
#define VISITED 8              /* added to what a promise that died had followed: as a visitor */
#define ON_THE_WAY 8           /* next: of a follower that has another one to follow, and is kept where it was */
#define TOP 6                  /* lane: of the newest member */
#define BUSY 5                 /* lane: in an executor's or a thread's list */

#define OPEN 0
#define RUNNING 1
#define CLAIMED 2
#define FOLLOWING 3
#define TO_REJECT 4            /* Phase.cancelled */
#define SETTLING 5
#define SETTLED 6
#define HAS_VALUE(p) (r[p].phase >= SETTLING)

/* Who uses the slot */
#define UNUSED 0
#define QUEUED 1               /* the queue of `upstream`, under its lock */
#define LISTED 2               /* a thread that has the record on its way */
#define VALUE 3

#define FULFILLED 1
#define CANCELLED 2

/* 1: a reaction and a follower, P settles. 2: three reactions and followers, a late one; P settles.
 * 3: P begins to follow Q, two followers move on. 4: a reaction with a token. 5: the same, which then
 * follows, and has a follower: cancelled by that one, or BY_TOKEN. 6: P begins to follow Q, and it, or its only follower,
 * is cancelled. 7: P does so while another thread makes B follow A, a follower of P. */
#define MOVES (SCENARIO == 3 || SCENARIO >= 6)
#if SCENARIO >= 6
#define IS_REACTION(p) false
#define FOLLOWS(p) true
#elif SCENARIO == 3
#define IS_REACTION(p) (p == A)
#define FOLLOWS(p) (p == A || p == B)
#elif SCENARIO == 2
#define IS_REACTION(p) (p == A || p == C)
#define FOLLOWS(p) (p == B)
#else
#define IS_REACTION(p) (p == A)
#define FOLLOWS(p) (p == B)
#endif
/* Also what a thenable's answer is followed by: B in some. */
/* Or its way back in the slot: every member has one. */
#define HAS_LANE(p) (p < RECORDS)
/* Does not go to an executor: it follows (a reaction may have begun to). */
#define TAKES_OUTCOME(p) (!IS_REACTION(p) || SCENARIO == 3 || SCENARIO == 5)
/* A reaction that is in a token stays between its followers and what it follows. */
#define STAYS(p) (SCENARIO == 5 && p == A)
/* Its context lives until what its handler returned is through. */
#define KEEPS(p) (SCENARIO == 5 && p == A && keeps)
/* Whom a mover's promise, or a reaction, begins to follow */
#if SCENARIO == 7
#define FOLLOWED(p) (p == B -> A : Q)
#else
#define FOLLOWED(p) Q
#endif
/* Under the lock, of one that follows: its followers have gone on past it. */
#define HAS_YIELDED(p) (r[p].next == OUT && !KEEPS(p))
#define PASSES (SCENARIO == 2 || (SCENARIO == 4 && passes))

typedef Record {
    unsigned phase : 3;
    bool locked;
    unsigned head : 3 = NIL;
    unsigned next : 4 = OUT;
    unsigned upstream : 3 = NIL;
    unsigned lane : 3 = NIL;
    unsigned use : 2;
    unsigned value : 2;
    unsigned promises : 4;
    unsigned producers : 3;
    unsigned visitors : 4;
    unsigned withdrawnUpstream : 3 = NIL;
    bool cancelled;            /* flags */
    bool dropped;
    bool hasLeft;              /* the same flag, of a cancelled reaction that follows: a visit keeps what that is */
    bool hasError;             /* errorToCome is there, in the place of upstream */
    bool hasRead;              /* errorToRead is there, in the place of next */
    bool passes;
    bool follows;
    bool isLastOfBatch;
    bool isListed;             /* with the token */
    bool freed
}

Record r[RECORDS];
chan executor = [3] of { byte };
/* The reactions have no handler for a fulfilment; they have one for a rejection. */
bool passes, catches;
bool keeps;

/* What is only there to check */
bool settledOnce[RECORDS];
byte started;                  /* bits: begun */
byte ran;                      /* bits: a handler was called */
byte contexts;                 /* bits: not yet destroyed */
bool givenUp;                  /* a follower: nobody reads it any more */
bool adopts;                   /* P: Q, or is about to */
byte cancelledOne;
byte finished;
bool ended;

#if SCENARIO == 6
#define noteGivenUp(p) givenUp = (givenUp || p == cancelledOne)
#else
#define noteGivenUp(p) givenUp = (givenUp || p == A || p == B)
#endif

inline alive(p) { assert(p < RECORDS && !r[p].freed) }

/* What a thread does */
#define SETTLER 0
#define MOVER 1
#define REGISTRAR 2
#define TOKEN 3
#define CANCELLER 4
#define EXECUTOR 5

/* What a thread calls from several places stands once in its body, for spin knows no calls: CALL names where it
 * goes on. */
#define CALL(routine, n) back[routine] = n; goto BEGIN_##routine; BACK_##routine##_##n: skip
#define RETURN(routine, n) back[routine] == n -> back[routine] = 0; goto BACK_##routine##_##n
#define TAKE_OUT 0
#define SETTLE 1
#define WITHDRAW_FOLLOWER 2
#define RELEASE 3
#define CANCEL 4
#define TAKE_OUTCOME 5
#define ATTACH 6
#define REDIRECT 7

#include "cancel-counts.inc"
#include "cancel-queue.inc"
#include "cancel-follow.inc"
#include "cancel-thread.inc"

/* A member of p's queue, with a handle */
inline member(m, p)
{
    r[m].upstream = p;
    r[m].next = r[p].head;
    r[p].head = m;
    r[p].promises++;
    r[m].use = QUEUED;
    r[m].promises++;
    r[m].producers++;
    if
    :: FOLLOWS(m) -> r[m].phase = FOLLOWING
    :: else -> contexts = contexts | (1 << m)
    fi
}

init {
    byte i, threads, expected;
    bool isLate;

    atomic {
        r[P].producers = 1;
        r[T].phase = SETTLED; r[T].use = VALUE; r[T].value = CANCELLED;
#if SCENARIO != 2 && !MOVES
        if
        :: catches = true
        :: catches = false
        fi;
#endif
#if SCENARIO != 2 && !MOVES
        run Thread(EXECUTOR, NIL, NIL);
#endif
#if SCENARIO == 1
        if
        :: member(A, P); member(B, P)
        :: member(B, P); member(A, P)
        fi;
        run Thread(SETTLER, P, NIL); run Thread(CANCELLER, A, NIL); run Thread(CANCELLER, B, NIL);
        threads = 3; expected = 1 << P | 1 << A | 1 << B
#elif SCENARIO == 2
        if
        :: member(A, P); member(B, P); member(C, P); run Thread(CANCELLER, B, A); run Thread(CANCELLER, C, NIL)
        :: member(A, P); member(C, P); member(B, P); run Thread(CANCELLER, A, B); run Thread(CANCELLER, C, NIL)
        :: member(A, P); member(C, P); member(B, P); run Thread(CANCELLER, C, A); run Thread(CANCELLER, B, NIL)
        :: member(A, P); member(B, P); run Thread(CANCELLER, A, B); run Thread(REGISTRAR, NIL, NIL);
            r[P].promises++; r[C].promises = 1; r[C].producers = 1; contexts = contexts | 1 << C
        fi;
        run Thread(SETTLER, P, NIL);
        threads = 3; expected = 1 << P | 1 << A | 1 << B | 1 << C
#elif SCENARIO == 3
        r[Q].producers = 1;
        r[Q].promises = 1;
        if
        :: member(A, P); member(B, P)
        :: member(B, P); member(A, P)
        fi;
        run Thread(MOVER, P, NIL);
        if
        :: run Thread(CANCELLER, A, NIL); run Thread(CANCELLER, B, NIL); isLate = true
        :: run Thread(CANCELLER, A, B); run Thread(SETTLER, Q, NIL)
        fi;
        threads = 3; expected = 1 << P | 1 << Q | 1 << A | 1 << B
#elif SCENARIO == 6
        r[Q].producers = 1;
        r[Q].promises = 1;
        if
        :: cancelledOne = P; r[P].promises = 1; expected = 1 << P | 1 << Q
        :: cancelledOne = A; member(A, P); expected = 1 << P | 1 << Q | 1 << A
        fi;
        if
        :: run Thread(MOVER, P, NIL)
        :: run Thread(MOVER, P, P) /* its resolver is kept for a while */
        fi;
        run Thread(CANCELLER, cancelledOne, NIL);
        isLate = true;
        threads = 2
#elif SCENARIO == 7
        r[Q].producers = 1;
        r[Q].promises = 1;
        member(A, P); /* the handle is given to B */
        r[B].producers = 1;
        r[B].promises = 1; /* who reads it */
        run Thread(MOVER, P, NIL);
        run Thread(MOVER, B, NIL);
        run Thread(SETTLER, Q, NIL);
        threads = 3; expected = 1 << P | 1 << Q | 1 << A
#elif SCENARIO == 4
        member(A, P);
        r[A].isListed = true;
        if
        :: passes = true
        :: passes = false
        fi;
        run Thread(TOKEN, NIL, NIL); run Thread(SETTLER, P, NIL); run Thread(CANCELLER, A, NIL);
        threads = 3; expected = 1 << P | 1 << A
#else
        /* A's executor has it, and its only reader is B. */
        if
        :: keeps = true
        :: keeps = false
        fi;
        r[P].phase = SETTLED; r[P].use = VALUE; r[P].value = FULFILLED; r[P].producers = 0;
        member(A, P);
        r[P].head = NIL;
        r[A].use = UNUSED; r[A].next = OUT; r[A].lane = BUSY; r[A].promises = 0; r[A].isListed = true;
        executor!A;
        member(B, A);
        r[Q].producers = 1;
        r[Q].promises = 1;
        run Thread(SETTLER, Q, NIL);
        threads = 2;
#ifdef BY_TOKEN
        /* Somebody keeps B. */
        run Thread(TOKEN, NIL, NIL);
        expected = 1 << P | 1 << Q | 1 << A
#else
        run Thread(CANCELLER, B, NIL);
        expected = 1 << P | 1 << Q | 1 << A | 1 << B
#endif
#endif
    };
    finished == threads;
    if
    :: isLate -> atomic { isLate = false; run Thread(SETTLER, Q, NIL) }; finished == threads + 1
    :: else
    fi;
    /* The executor may have something still. */
    i = 0;
    do
    :: i == RECORDS -> break
    :: else ->
        if
        :: expected & (1 << i) -> r[i].freed
        :: else
        fi;
        i++
    od;
    atomic {
        i = 0;
        assert(contexts == 0);
        assert(SCENARIO != 7 || settledOnce[B]);
        assert(!catches || PASSES || (ran & (1 << A)));
        ended = true
    }
}

ltl ends { <> ended }
