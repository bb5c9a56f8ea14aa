"""The chain of causes that led to a promise's settling, backwards from there.

Each segment ends where the one after it begins, so that they add up to the whole:
  waiting  nothing of the program ran for it: a timer, a descriptor, somebody outside
  queued   it could have gone on, and waited for its turn on an executor or for its thread to wake
  running  a handler, or a thread's own code between two waits
"""

from bisect import bisect_right
from itertools import islice

from .model import TIMED_OUT
from .threads import enclosing, last_await

CATEGORIES = ("waiting", "queued", "running")
OF_TIME = ("delay", "timeout", "descriptor")
WAITS = {"delay": "a delay", "descriptor": "waiting for a descriptor"}
BY_TURNS = ("retry", "repeat", "map", "reduce", "using")
TURNS = ("delay", "in-use", "releasing")
FEW = 16


class Segment:
    """A stretch of the path. `promise` is whose it is (an id or None), `text` says what happened."""

    __slots__ = ("category", "begin", "end", "promise", "tid", "text")

    def __init__(self, category, begin, end, promise, tid, text):
        self.category = category
        self.begin = begin
        self.end = end
        self.promise = promise
        self.tid = tid
        self.text = text


class Walk:
    """Goes back through one trace, from place to place. A place is what the path comes through whatever led there, so
    that paths which meet go on as one, and each place is looked at once:
      ("settled", promise, None)  at its settling
      ("queued", run, None)       at the beginning of a handler's run
      ("waited", wait, run)       at the end of a wait in that run, or in the thread's own code
    """

    def __init__(self, trace):
        self.trace = trace
        self.segments = []
        self.now = 0
        self.by_time = {}
        self.loops = {}

    def back_to(self, moment, category, promise, tid, text):
        """One segment, from the moment until now; nothing if no time passed."""
        moment = min(max(moment, 0), self.now)
        if moment < self.now:
            self.segments.append(Segment(category, moment, self.now, promise, tid, text))
        self.now = moment

    def path(self, promise):
        """The segments that end with this promise's settling, first one first."""
        found, seen, place = [], set(), ("settled", promise, None)
        while place and key(place) not in seen:
            seen.add(key(place))
            part, place = self.back_from(place)
            found += part
        return found[::-1]

    def back_from(self, place):
        """Back to the place before: (segments, last one first; that place, or None at the end)."""
        what, about, run = place
        self.segments = []
        if what == "settled":
            self.now = about.settled
            before = self.settling(about)
        elif what == "queued":
            self.now = about.begin
            before = self.queueing(about)
        else:
            self.now = about.end
            before = self.waking(about, run)
        return self.segments, before

    def settling(self, promise):
        """Why a promise settled when it did."""
        if promise.cancel and promise.outcome == "cancelled" and promise.cancel[0] <= self.now:
            moment, tid = promise.cancel
            self.back_to(moment, "queued", promise.id, tid, "cancelled")
            return self.code(tid)
        if timed_out_here(self.trace, promise):
            return self.making(promise, "waiting", "its time-out")
        run = next((each for each in reversed(promise.runs) if each.begin <= self.now), None)
        other, moment, tid = self.latest(promise, self.now)
        if run and (other is None or other.settled < moment or other.settled < run.end):
            return self.inside(run.tid, run)
        if other is not None and other.settled >= moment:
            self.back_to(other.settled, "queued", promise.id, promise.settled_tid, "passed on")
            return "settled", other, None
        if other is not None:
            self.back_to(moment, "queued", promise.id, promise.settled_tid, "passed on")
            return self.code(tid)
        if promise.kind not in OF_TIME:
            run = enclosing(self.trace, promise.settled_tid, promise.settled)
            if run and run.begin <= self.now:
                return self.inside(run.tid, run)
        return self.making(promise, "waiting", WAITS.get(promise.kind, "waiting to be settled"))

    def latest(self, promise, limit):
        """What it waited for that settled last, when it looked at that, and on which thread."""
        best = (None, 0, 0)
        reads = promise.reads and self.trace.settled_by(promise.reads, limit)
        if reads:
            best = (reads, promise.made, promise.made_tid)
        keys, deps = self.looked_at(promise)
        place = bisect_right(keys, limit) - 1
        if place >= 0 and (reads is None or keys[place] >= max(reads.settled, promise.made)):
            best = deps[place]
        return best

    def looked_at(self, promise):
        """What it waits for that settled, in the order in which that could be seen: (moments, (promise, made, tid))."""
        if not promise.deps:
            return (), ()
        found = self.by_time.get(promise.id)
        if found is None:
            deps = []
            for moment, tid, identity, _ in promise.deps:
                other = self.trace.promises.get(identity)
                if other is not None and other.settled is not None:
                    deps.append((other, moment, tid))
            deps.sort(key=seen_at)
            found = self.by_time[promise.id] = [seen_at(each) for each in deps], deps
        return found

    def code(self, tid):
        """What a thread was doing: inside a handler, or its own code after its last wait."""
        return self.inside(tid, enclosing(self.trace, tid, self.now))

    def inside(self, tid, run, before=None):
        """What a handler's run (None: the thread's own code) did until now, or until it waited there before."""
        wait = last_await(self.trace, tid, min(self.now, run.end) if run else self.now, run, before)
        if wait:
            words = "handler" if run else "the thread's own code"
            self.back_to(wait.end, "running", run.promise if run else None, tid, words)
            return "waited", wait, run
        if run is None:
            return None
        self.back_to(run.begin, "running", run.promise, tid, "handler")
        return "queued", run, None

    def waking(self, wait, run):
        """Why a wait ended."""
        other = self.trace.settled_by(wait.promise, wait.end)
        if other is None:
            self.back_to(wait.begin, "waiting", wait.promise, wait.tid, "a wait that timed out")
        elif other.settled > wait.begin:
            self.back_to(other.settled, "queued", wait.promise, wait.tid, "waking the thread")
            return "settled", other, None
        else:
            inside = run.promise if run else None
            self.back_to(wait.begin, "running", inside, wait.tid, "a wait for what was settled")
        return self.inside(wait.tid, run, wait)

    def queueing(self, run):
        """Between what let a handler run and its beginning."""
        promise = self.trace.promises.get(run.promise)
        other = run.reads and self.trace.settled_by(run.reads, run.begin)
        if promise is None and not other:
            return None
        if not other:
            other = self.latest(promise, run.begin)[0]
        made = promise.made if promise else 0
        if other and (other.settled >= made or made > run.begin):
            self.back_to(other.settled, "queued", run.promise, run.tid, queue(run.executor))
            return "settled", other, None
        return self.making(promise, "queued", queue(run.executor))

    def making(self, promise, category, text):
        """Back to where the promise was made: by code of the program, or by another promise's going on."""
        self.back_to(promise.made, category, promise.id, promise.made_tid, text)
        if promise.kind in TURNS:
            return self.turn(promise) or self.code(promise.made_tid)
        return self.code(promise.made_tid) or self.turn(promise)

    def turn(self, promise):
        """A retry made its delay, or a loop its next member, when what it waited for before had settled."""
        for reader in self.loops_of(promise):
            before = self.latest(reader, self.now)[0]
            if before is not None and before is not promise:
                self.back_to(before.settled, "queued", reader.id, promise.made_tid, "its next turn")
                return "settled", before, None
        return None

    def loops_of(self, promise):
        """Of who waits for it the first few that go on by turns."""
        found = self.loops.get(promise.id)
        if found is None:
            readers = (self.trace.promises[identity] for identity in promise.readers)
            found = self.loops[promise.id] = tuple(islice((each for each in readers if each.kind in BY_TURNS), FEW))
        return found


def key(place):
    """A place by which two are told apart: a wait is in one run only."""
    return place[0], id(place[1])


def seen_at(dep):
    """When a promise that waits for another could see it settled: not before it waited."""
    other, moment, _ = dep
    return max(other.settled, moment)


def queue(executor):
    return f"queued for {executor}" if executor else "queued"


def timed_out_here(trace, promise):
    """Whether a time-out began with this promise, and not with one that it waits for."""
    if promise.outcome != "timed out":
        return False
    for identity in trace.waited_for(promise):
        other = trace.promises.get(identity)
        if other and other.settled is not None and other.outcome == "timed out":
            if other.settled <= promise.settled:
                return False
    return bool(promise.error and promise.error.startswith(TIMED_OUT))


def last_settled(trace):
    """The promise that settled last, or None. Of several at one time, the one that waited for the others."""
    found = None
    for promise in trace.promises.values():
        if promise.settled is not None:
            key = (promise.settled, promise.made, len(promise.readers) == 0)
            if found is None or (key[0], key[2], key[1]) > (found[0][0], found[0][2], found[0][1]):
                found = (key, promise)
    return found[1] if found else None


def critical_path(trace, promise=None):
    """(promise, segments) of the last settled promise, or of the one that is given."""
    promise = promise or last_settled(trace)
    if promise is None or promise.settled is None:
        return promise, []
    return promise, Walk(trace).path(promise)


def sums(segments):
    """Nanoseconds by category."""
    found = dict.fromkeys(CATEGORIES, 0)
    for each in segments:
        found[each.category] += each.end - each.begin
    return found
