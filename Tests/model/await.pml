/* Waiting: two threads wait for one promise, one with a deadline, while a third settles it or nobody
 * does, and a fourth makes their wait endless and nudges them.
 *
 * Follows Waiting/Await.swift, Thread/WaitingThreads.swift, Platform/Parking.swift and Records/State.swift.
 * What a wait runs nested, and the pool's places, are in pool.pml.
 *
 * Checked:
 *   G11  a waiter whose promise settles ends; one whose wait became endless ends (no wake-up is missed);
 *        it says `settled` only when there is a value, `timed out` only when it had a deadline
 *   nobody touches a waiter's memory after its thread left; the queue's links stay whole
 */

/* Stands for:
 *   change enlist enqueueBatch finishHandOver hasValue link lock nudge nudgeThose nudgeWaitingThreads
 *   orderStoresBeforeLoads park Parking parkingAddress pay Phase PhaseSet publish publishToMembers read remove
 *   search settle settlesSoon sleep SpinLock transitionAfterHandOver unlink unlock unparkDone unparkToLook wait
 *   WaitingThread waitUntilDone wake watchedCount whileListed whileLooking withdraw writeOutcome
 */

#ifndef WAITERS
#define WAITERS 2
#endif
#define NIL 3

/* Phases */
#define OPEN 0
#define CLAIMED 1
#define SETTLING 3
#define SETTLED 5

/* Parking.swift: enum Parking */
#define AWAKE 0
#define ASLEEP 1
#define DONE 2
#define NUDGED 3

/* WaitResult */
#define NONE 0
#define GOT_VALUE 1
#define TIMED_OUT 2
#define DEADLOCK 3

/* The promise's word */
byte phase = OPEN;
bool locked;
byte head = NIL;
bool hasValue;

/* The waiters: a record on the stack, valid while `here`. */
byte next[WAITERS];
byte parking[WAITERS];
bool here[WAITERS];
byte result[WAITERS];
/* The kernel's list of sleepers; a stale address may still be named to it. */
bool inKernel[WAITERS];
/* What looking ahead would find: the thread blocks what it waits for. */
bool endless[WAITERS];

/* WaitingThreads.swift */
bool ownersLock;
bool isOwner[WAITERS];
byte blockedOwnersCount;

byte finished;
bool ended;

inline alive(w) { assert(w < WAITERS && here[w]) }

/* park: `inTime` is false when the deadline has passed first. The short spin before it changes nothing. */
inline park(w)
{
    /* replaceAcquire(awake, asleep) */
    atomic {
        found = parking[w];
        if
        :: found == AWAKE -> parking[w] = ASLEEP
        :: else
        fi
    };
    inTime = true;
    if
    :: found == AWAKE ->
        /* The kernel compares and sleeps in one step. */
        atomic {
            if
            :: parking[w] == ASLEEP -> inKernel[w] = true
            :: else
            fi
        };
        atomic {
            if
            :: !inKernel[w]
            :: inKernel[w] && hasDeadline -> inKernel[w] = false; inTime = false
            :: inKernel[w] && !hasDeadline && !woken -> inKernel[w] = false; woken = true /* for no reason, once */
            fi
        };
        /* replaceAcquire(asleep, awake) */
        atomic {
            found = parking[w];
            if
            :: found == ASLEEP -> parking[w] = AWAKE
            :: else
            fi
        }
    :: else -> found = DONE
    fi;
    if
    :: found == ASLEEP -> skip
    :: else ->
        inTime = true;
        /* replaceAcquire(nudged, awake) */
        atomic {
            if
            :: parking[w] == NUDGED -> parking[w] = AWAKE
            :: else
            fi
        }
    fi
}

/* unparkDone: the exchange is the last touch; then only the address is used. */
inline unparkDone(w)
{
    atomic { alive(w); found = parking[w]; parking[w] = DONE };
    if
    :: found == ASLEEP -> inKernel[w] = false
    :: else
    fi
}

/* unparkToLook: the caller knows that the thread is there. */
inline unparkToLook(w)
{
    do
    :: true ->
        /* replaceAcquireRelease(awake, nudged) */
        atomic {
            alive(w);
            found = parking[w];
            if
            :: found == AWAKE -> parking[w] = NUDGED
            :: else
            fi
        };
        if
        :: found == AWAKE -> break
        :: else
        fi;
        /* replaceAcquireRelease(asleep, nudged) */
        atomic {
            alive(w);
            found = parking[w];
            if
            :: found == ASLEEP -> parking[w] = NUDGED
            :: else
            fi
        };
        if
        :: found == ASLEEP -> inKernel[w] = false
        :: else
        fi;
        if
        :: found != AWAKE -> break
        :: else
        fi
    od
}

/* withdraw: `found` is true when the waiter was in the queue still. */
inline withdraw(w)
{
    atomic { !locked -> locked = true; first = head };
    before = NIL;
    member = first;
    do
    :: member == NIL || member == w -> break
    :: else -> atomic { alive(member); before = member; member = next[member] }
    od;
    if
    :: member != NIL ->
        atomic {
            alive(w);
            if
            :: before != NIL -> alive(before); next[before] = next[w]
            :: else -> first = next[w]
            fi
        }
    :: else
    fi;
    atomic { assert(locked); locked = false; head = first };
    found = (member != NIL);
    if
    :: !found -> parking[w] == DONE
    :: else
    fi;
    first = 0; before = 0; member = 0
}

inline addBlockedOwner(w)
{
    atomic { !ownersLock -> ownersLock = true };
    atomic { isOwner[w] = true; ownersLock = false };
    blockedOwnersCount++
}

inline removeBlockedOwner(w)
{
    blockedOwnersCount--;
    atomic { !ownersLock -> ownersLock = true };
    atomic { isOwner[w] = false; ownersLock = false }
}

/* nudgeWaitingThreads, nudgeThose: of one whose wait has become endless */
inline nudgeWaitingThreads()
{
    if
    :: blockedOwnersCount != 0 ->
        atomic { !ownersLock -> ownersLock = true };
        do
        :: w == WAITERS -> break
        :: else ->
            if
            :: isOwner[w] -> unparkToLook(w)
            :: else
            fi;
            atomic { w++; found = 0 }
        od;
        ownersLock = false
    :: else
    fi
}

/* wait(for:until:), with sleep(_:in:until:) */
proctype Waiter(byte w; bool hasDeadline)
{
    byte found, first, before, member;
    bool inTime, woken;

    if
    :: phase >= SETTLING -> result[w] = GOT_VALUE; goto left
    :: phase < SETTLING
    fi;
    atomic { here[w] = true; parking[w] = AWAKE };
    /* enlist(waiter, while: .ofWaiters) */
    atomic {
        (phase >= SETTLING || !locked) ->
            if
            :: phase >= SETTLING -> result[w] = GOT_VALUE
            :: else -> next[w] = head; head = w
            fi
    };
    if
    :: result[w] == GOT_VALUE -> goto left
    :: else
    fi;
    addBlockedOwner(w);
    do
    :: parking[w] == DONE -> result[w] = GOT_VALUE; break
    :: parking[w] != DONE ->
        if
        :: endless[w] ->
            withdraw(w);
            result[w] = (found -> DEADLOCK : GOT_VALUE);
            break
        :: !endless[w]
        fi;
        park(w);
        if
        :: !inTime ->
            withdraw(w);
            result[w] = (found -> TIMED_OUT : GOT_VALUE);
            break
        :: else
        fi
    od;
    removeBlockedOwner(w);
left:
    atomic {
        here[w] = false;
        assert(result[w] != GOT_VALUE || (hasValue && phase >= SETTLING));
        assert(result[w] != TIMED_OUT || hasDeadline);
        assert(result[w] != DEADLOCK || endless[w]);
        found = 0; first = 0; before = 0; member = 0; inTime = false; woken = false;
        finished++
    }
}

/* settle, enqueueBatch, finishHandOver: the queue holds waiters only. */
proctype Settler()
{
    byte newest, member, found;

    /* settle(_:whileIn: .open): CLAIMED stands for locked by the settler. */
    atomic { !locked -> assert(phase == OPEN); phase = CLAIMED };
    hasValue = true;
    /* lock, unlock */
    atomic {
        !locked ->
            newest = head;
            head = NIL;
            phase = (newest == NIL -> SETTLED : SETTLING)
    };
    do
    :: newest == NIL -> break
    :: else ->
        atomic { member = newest; alive(member); newest = next[member] };
        unparkDone(member)
    od;
    /* transitionAfterHandOver */
    if
    :: phase == SETTLING -> atomic { !locked -> assert(head == NIL); phase = SETTLED }
    :: else
    fi;
    atomic { newest = 0; member = 0; found = 0; finished++ }
}

/* Gives work to the serial executor that a waiter blocks: first the push, then the look. */
proctype Nudger(byte whom)
{
    byte w, found;

    endless[whom] = true;
    nudgeWaitingThreads();
    atomic { w = 0; found = 0; finished++ }
}

init {
    atomic {
        /* Somebody settles; or nobody, and both waits must become endless. */
        if
#ifndef NOBODY_SETTLES
        :: run Settler(); run Nudger(0)
        :: run Settler(); run Nudger(1)
#endif
        :: run Nudger(0); run Nudger(1)
        fi;
        run Waiter(0, true);
        run Waiter(1, false)
    };
    finished == WAITERS + 2;
    assert(head == NIL && !locked && !ownersLock && blockedOwnersCount == 0);
    ended = true
}

/* A waiter whose promise settles ends. */
ltl wakes { [] ((phase == SETTLING || phase == SETTLED) -> <> (result[0] != NONE && result[1] != NONE)) }
/* Everybody ends, also when nobody settles. */
ltl ends { <> ended }
