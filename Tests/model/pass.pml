/* A chain of plain links (a handler for a value, nothing to destroy, no token): P, A reads P, B reads A, C reads B. It is settled
 * at its beginning, cancelled at two places and given up, while an executor runs the links.
 *
 * Follows Settling/Settle.swift (publish, passDown) and Settling/Cancelling/Cancel.swift (cancelUpwards), and of the rest what
 * meets them. One step is one atomic operation with the private work next to it.
 *
 * Checked:
 *   each promise settles once; a link whose cancelling was answered with true has no value; a value is never read by a link that
 *   was cancelled before it began; the rejection that comes down is the one from above
 *   a slot has one user at a time; a thread that holds two locks holds those of an open link and of what that reads
 *   nothing is touched after it was freed, all is freed in the end, and nobody waits in vain (a deadlock here)
 */

/* Stands for:
 *   begin beginCancelled cancel cancelFurther cancelOne cancelReaction cancelUpwards claimCancelled comeBack
 *   concludeCancelled discard dropWithdrawn endReading endVisit endWithdrawn errorToCome giveBack hasValue
 *   holdsProducer isOut isPlainLink isToPass leaveUnlessLast lock markOut nowCounts passDown pay publish
 *   publishToMembers read release releasePending retainProducer run settle skip takeOut transitionToCancelled unlink
 *   unlock visit withdraw withdrawnUpstream
 */

#ifndef RECORDS
#define RECORDS 4
#endif
#define NIL 7
#define LAST (RECORDS - 1)

#define OPEN 0
#define RUNNING 1
#define CLAIMED 2
#define CANCELLED 4            /* Phase.cancelled */
#define SETTLED 7
#define HAS_VALUE(p) (phase[p] == SETTLED)

/* Values */
#define NOTHING 0
#define VALUE 1
#define ERROR 2                /* that P was rejected with */
#define CANCELLATION 3

byte phase[RECORDS];
bool locked[RECORDS];
bool member[RECORDS];          /* the link below stands in the queue */
bool out[RECORDS];             /* of a link: it is in no queue, and nobody else uses its slot */
byte value[RECORDS];
byte readers[RECORDS];
byte producers[RECORDS];
byte visitors[RECORDS];
bool freed[RECORDS];
bool reads[RECORDS];           /* it has a reference to the record above */
bool ownError[RECORDS];        /* errorToCome, errorToRead, or a rejection in place of what it read */
bool dropped[RECORDS];
bool holds[RECORDS];           /* holdsProducer */
chan list = [RECORDS] of { byte };

/* What is only there to check */
bool begun[RECORDS];
bool isCancelled[RECORDS];     /* before it began */
bool wasAnswered[RECORDS];
byte finished;

inline alive(p) { assert(!freed[p]) }

inline subtract(p, r, q, v)
{
    d_step {
        alive(p);
        assert(readers[p] >= r && producers[p] >= q && visitors[p] >= v);
        readers[p] = readers[p] - r;
        producers[p] = producers[p] - q;
        visitors[p] = visitors[p] - v;
        if
        :: readers[p] == 0 && producers[p] == 0 && visitors[p] == 0 ->
            assert(HAS_VALUE(p) && !locked[p] && !member[p] && !reads[p]);
            freed[p] = true
        :: else
        fi
    }
}

inline lock(p) { d_step { !locked[p] -> alive(p); locked[p] = true; word = phase[p] } }

inline unlock(p, newPhase) { d_step { alive(p); assert(locked[p]); locked[p] = false; phase[p] = newPhase } }

/* lock(whileIn:) */
inline lockWhile(p, wanted)
{
    d_step {
        (phase[p] != wanted || !locked[p]) -> alive(p);
        got = (phase[p] == wanted);
        if
        :: got -> locked[p] = true; word = wanted
        :: else
        fi
    }
}

/* publish, of a locked record, then what is owed: `link` is the plain link that passes it on, or NIL; `isGiven` whether it has a
 * producer's reference with it. */
inline publish(p, v, given)
{
    d_step {
        alive(p);
        assert(locked[p] && value[p] == NOTHING && !ownError[p]);
        assert(p == 0 || out[p]);
        assert(v != VALUE || !isCancelled[p]);
        value[p] = v;
        link = NIL;
        isGiven = given
    };
    if
    :: member[p] ->
        d_step { alive(p + 1); assert(!out[p + 1]); out[p + 1] = true; member[p] = false };
        if
        :: v == VALUE -> holds[p + 1] = given; unlock(p, SETTLED); list!p + 1; isGiven = false
        :: else -> unlock(p, SETTLED); link = p + 1
        fi
    :: else -> unlock(p, SETTLED); subtract(p, 0, given, 0)
    fi
}

/* From `link` on; each promise that was read gives its references back after the link has its outcome. */
inline passDown()
{
    do
    :: link == NIL -> break
    :: else ->
        x = link;
        lock(x);
        if
        :: word == OPEN || (word == CANCELLED && !ownError[x] && !dropped[x]) ->
            d_step { alive(x - 1); assert(HAS_VALUE(x - 1) && reads[x]); v = value[x - 1]; reads[x] = false; y = isGiven };
            publish(x, v, true);
            subtract(x - 1, 1, y, 0)
        :: else ->
            unlock(x, word);
            d_step { holds[x] = isGiven; link = NIL };
            begin(x)
        fi
    od;
    v = 0; x = 0; y = 0
}

/* settle, from a phase, with the producer's reference */
inline settle(p, from, v)
{
    lockWhile(p, from);
    if
    :: got -> publish(p, v, true)
    :: else
    fi
}

/* claimCancelled, then settle */
inline settleCancelled(p, v)
{
    d_step { (!locked[p] && phase[p] != CLAIMED) -> alive(p); assert(phase[p] == CANCELLED); phase[p] = CLAIMED; ownError[p] = false };
    settle(p, CLAIMED, v);
    assert(got)
}

/* What a list or an executor does with a link that it has: begin or beginCancelled, run or pass on, or dropWithdrawn. What passes
 * on from there comes back in `link`. */
inline begin(p)
{
    d_step { (!locked[p] && phase[p] != CLAIMED) -> alive(p); locked[p] = true; word = phase[p] };
    if
    :: word == OPEN ->
        d_step { alive(p - 1); assert(reads[p] && !begun[p] && !isCancelled[p]); begun[p] = true };
        unlock(p, RUNNING);
        /* Its handler, which reads a value; or none, for a rejection. */
        d_step { alive(p - 1); assert(HAS_VALUE(p - 1)); w = value[p - 1] };
        takeReading(p);
        settle(p, RUNNING, w);
        if
        :: !got -> settleCancelled(p, CANCELLATION)
        :: else
        fi;
        endReading(p)
    :: word == CANCELLED && !dropped[p] ->
        d_step {
            assert(reads[p] || ownError[p]);
            w = CANCELLATION;
            if
            :: reads[p] && !ownError[p] -> alive(p - 1); w = (value[p - 1] == VALUE -> CANCELLATION : value[p - 1])
            :: else
            fi
        };
        unlock(p, CANCELLED);
        takeReading(p);
        settleCancelled(p, w);
        endReading(p)
    :: else ->
        unlock(p, word);
        /* dropWithdrawn */
        d_step { assert(dropped[p]); dropped[p] = false };
        takeReading(p);
        endReading(p);
        subtract(p, 0, 1, 0)
    fi;
    w = 0
}

/* What `p` has of what it read: its reference, and a producer's that came with it. */
inline takeReading(p) { d_step { hadRead = reads[p]; held = holds[p]; reads[p] = false; holds[p] = false } }

inline endReading(p)
{
    if
    :: hadRead -> subtract(p - 1, 1, held, 0)
    :: else
    fi;
    hadRead = false; held = false
}

/* takeOut: whether it stood in the queue */
inline takeOut(p)
{
    do
    :: true ->
        d_step { alive(p); got = out[p] };
        if
        :: got -> got = false; break
        :: else
        fi;
        d_step { !locked[p - 1] -> alive(p - 1); got = member[p - 1]; member[p - 1] = false };
        if
        :: got -> break
        :: else -> out[p]
        fi
    od
}

/* cancelReaction, of an open link that was claimed; with `hasLeft` its reference to what it reads is a visit. */
inline cancelReaction(p)
{
    takeOut(p);
    if
    :: got ->
        /* read: it is handed over with the cancellation, which it has nothing to run for. */
        d_step { reads[p] = false; ownError[p] = true; out[p] = true };
        d_step { !locked[p] -> assert(phase[p] == CLAIMED); phase[p] = CANCELLED };
        if
        :: hasLeft -> subtract(p - 1, 0, 0, 1)
        :: else -> subtract(p - 1, 1, 0, 0)
        fi;
        begin(p)
    :: else ->
        if
        :: hasLeft -> d_step { alive(p - 1); assert(visitors[p - 1] > 0); readers[p - 1]++; visitors[p - 1]-- }
        :: else
        fi;
        /* withdraw: whoever has it drops it. */
        d_step { dropped[p] = true; ownError[p] = true; producers[p]++ };
        d_step { !locked[p] -> assert(phase[p] == CLAIMED); phase[p] = CANCELLED };
        settleCancelled(p, CANCELLATION)
    fi;
    hasLeft = false
}

/* cancelOne, of `current`, locked as `word`; `next`: what it waits for, as a visit */
inline cancelOne()
{
    do
    :: word == OPEN && current != 0 ->
        isLast = false;
        d_step { alive(current - 1); isLeft = !HAS_VALUE(current - 1) };
        if
        :: isLeft ->
            d_step {
                alive(current - 1);
                isLast = (readers[current - 1] == 1);
                hasLeft = !isLast;
                if
                :: hasLeft -> readers[current - 1]--; visitors[current - 1]++
                :: else
                fi
            }
        :: else
        fi;
        isLeft = false;
        answer = true;
        isCancelled[current] = true;
        if
        :: isLast ->
            d_step { alive(current - 1); visitors[current - 1]++; next = current - 1 };
            unlock(current, CANCELLED)
        :: else ->
            unlock(current, CLAIMED);
            cancelReaction(current)
        fi;
        isLast = false;
        break
    :: word == OPEN && current == 0 -> answer = true; publish(0, CANCELLATION, false); break
    :: word == RUNNING -> answer = true; ownError[current] = true; unlock(current, CANCELLED); break
    :: word == CLAIMED -> unlock(current, word); lock(current)
    :: else -> unlock(current, word); break
    od;
    passDown()
}

/* cancelUpwards, from `m`, which the caller keeps */
inline cancelUpwards(m)
{
    current = m;
    answer = false;
    lock(current);
    do
    :: word == OPEN && current != 0 ->
        d_step { alive(current - 1); assert(reads[current]); isLast = (!HAS_VALUE(current - 1) && readers[current - 1] == 1) };
        if
        :: !isLast -> break
        :: else
        fi;
        isLast = false;
        /* Both locks */
        d_step { !locked[current - 1] -> alive(current - 1); locked[current - 1] = true; word = phase[current - 1] };
        if
        :: word == SETTLED -> unlock(current - 1, word); word = OPEN; break
        :: else ->
            d_step { isCancelled[current] = true; isMarked = true };
            unlock(current, CANCELLED);
            current--
        fi
    :: else -> break
    od;
    isLast = false;
    next = NIL;
    if
    :: word == OPEN && current == 0 -> answer = true; publish(0, CANCELLATION, false); passDown()
    :: current != m && !(word == OPEN && current == 0) ->
        d_step { alive(current); visitors[current]++ };
        cancelOne();
        subtract(current, 0, 0, 1)
    :: else -> cancelOne()
    fi;
    do
    :: next == NIL -> break
    :: else ->
        d_step { current = next; next = NIL };
        lock(current);
        cancelOne();
        subtract(current, 0, 0, 1)
    od;
    wasAnswered[m] = wasAnswered[m] || answer || isMarked;
    d_step { isMarked = false; answer = false; current = 0; next = 0 }
}

#define RESOLVER 0
#define CANCELLER 1
#define EXECUTOR 2

/* m: what it has a handle of */
proctype Thread(byte role; byte m)
{
    byte word, link, v, w, x, y, current, next;
    bool got, isGiven, hadRead, held, isLeft, isLast, hasLeft, answer, isMarked;

    link = NIL;
    if
    :: role == RESOLVER ->
        if
        :: v = VALUE
        :: v = ERROR
        fi;
        lockWhile(0, OPEN);
        if
        :: got -> publish(0, v, false); passDown()
        :: else
        fi;
        subtract(0, 0, 1, 0)
    :: role == CANCELLER ->
        if
        :: cancelUpwards(m)
        /* What somebody reads is not cancelled by others. */
        :: assert(m == LAST || !isCancelled[m])
        fi;
        subtract(m, 1, 0, 0)
    :: role == EXECUTOR ->
end:
        do
        :: list?current -> begin(current); passDown() od
    fi;
    finished++
}

init {
    byte i;
    atomic {
        do
        :: i < RECORDS ->
            producers[i] = 1;
            reads[i] = (i > 0);
            member[i] = (i < LAST);
            readers[i] = (i < LAST -> 1 : 0);
            i++
        :: else -> break
        od;
        readers[LAST]++;
        if
        :: i = LAST; readers[LAST]++
        :: i = 1; readers[1]++
        :: i = 0; readers[0]++
        fi;
        run Thread(RESOLVER, 0);
        run Thread(CANCELLER, LAST);
        run Thread(CANCELLER, i);
        run Thread(EXECUTOR, 0)
    };
    timeout;
    assert(finished == 3 && empty(list));
    i = 0;
    do
    :: i < RECORDS ->
        assert(freed[i]);
        assert(!wasAnswered[i] || value[i] != VALUE);
        i++
    :: else -> break
    od
}
