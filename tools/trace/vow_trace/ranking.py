"""What stands out: long waits, retries, time-outs, and what never settled."""

import heapq

from .causes import timed_out_here


def top(count, items, key):
    """The largest, in a steady order."""
    return heapq.nsmallest(count, items, key=lambda each: (-key(each), each.made if hasattr(each, "made") else 0))


def pending_time(trace, promise):
    return (trace.last if promise.settled is None else promise.settled) - promise.made


def longest_pending(trace, count):
    """Of those that have a label or wait for no other promise: links only repeat what they wait for."""
    items = [each for each in trace.promises.values() if each.label or not (each.reads or each.deps)]
    items = [each for each in items if each.settled is not None]
    return top(count, items, lambda each: pending_time(trace, each))


def delay_of(trace, run):
    """How long a handler waited for its turn, after what it reads had settled; None if not known."""
    promise = trace.promises.get(run.promise)
    other = run.reads and trace.settled_by(run.reads, run.begin)
    if other:
        since = max(other.settled, promise.made) if promise and promise.made <= run.begin else other.settled
    elif promise and promise.kind == "async" and promise.made <= run.begin:
        since = promise.made
    else:
        return None
    return run.begin - since


def longest_queued(trace, count):
    """(nanoseconds, handler's run), longest first."""
    delays = ((delay_of(trace, run), index, run) for index, run in enumerate(trace.handlers()))
    found = ((delay, -index, run) for delay, index, run in delays if delay is not None)
    return [(delay, run) for delay, _, run in heapq.nlargest(count, found)]


def longest_runs(trace, count):
    """Handlers' runs, longest first."""
    numbered = ((run.end - run.begin, -index, run) for index, run in enumerate(trace.handlers()))
    return [run for _, _, run in heapq.nlargest(count, numbered)]


def never_settled(trace):
    """Oldest first."""
    found = [each for each in trace.promises.values() if each.settled is None]
    return sorted(found, key=lambda each: (each.made, each.id))


class Ends:
    """What pending promises wait for in the end: the first on the way that waits for no other pending one. Each step of
    a way is gone once. A ring hangs on the one of it that was come to first."""

    def __init__(self, trace):
        self.trace = trace
        self.known = {}

    def of(self, promise):
        way, on_it = [], set()
        while promise.id not in self.known and promise.id not in on_it:
            way.append(promise.id)
            on_it.add(promise.id)
            others = (self.trace.promises.get(each) for each in self.trace.waited_for(promise))
            following = next((each for each in others if each and each.settled is None), None)
            if following is None:
                break
            promise = following
        end = self.known.get(promise.id, promise)
        self.known.update(dict.fromkeys(way, end))
        return end


def attempts(trace, promise):
    """When each attempt of a retry was begun: (moment, id). It waits for them one after the other,
    for its pauses between them, and for a delay that is its deadline."""
    found, others = [], []
    for moment, _, identity, _ in promise.deps:
        other = trace.promises.get(identity)
        if other is None or other.kind != "delay":
            others.append((moment, identity, other))
    paused = True
    for place, (moment, identity, other) in enumerate(others):
        paused = not paused and is_pause(trace, promise, other, place == len(others) - 1)
        if not paused:
            found.append((moment, identity))
    return found


def is_pause(trace, retry, other, is_last):
    """Of what follows an attempt: a pause ends well and yet the retry goes on, or it waits for a delay."""
    if other is None:
        return False
    if other.state == "fulfilled" and retry.state != "pending":
        return not is_last or retry.state != "fulfilled"
    return other.state == "fulfilled" and not is_last or waits_for_a_delay(trace, other)


def waits_for_a_delay(trace, promise):
    """Looked for once in each promise: many may ask."""
    if promise.delayed is None:
        kinds = (trace.promises[each].kind for each in trace.waited_for(promise) if each in trace.promises)
        promise.delayed = "delay" in kinds
    return promise.delayed


def retries(trace):
    """(promise, moments of its second and later attempts), of those that tried again."""
    for promise in trace.promises.values():
        if promise.kind == "retry" and len(promise.deps) > 1:
            moments = [moment for moment, _ in attempts(trace, promise)[1:]]
            if moments:
                yield promise, moments


def time_outs(trace):
    """Promises at which a time-out began, in the order of time."""
    found = [each for each in trace.promises.values() if timed_out_here(trace, each)]
    return sorted(found, key=lambda each: (each.settled, each.id))


def by_outcome(trace):
    """How many promises of each outcome."""
    found = {"fulfilled": 0, "rejected": 0, "timed out": 0, "cancelled": 0, "pending": 0}
    for promise in trace.promises.values():
        found[promise.outcome] += 1
    return found


def busy(thread):
    """Nanoseconds in which a thread ran handlers, without what it spent blocked inside them."""
    total, until = 0, -1
    for each in thread.slices:
        if each.what == "handler" and each.end > until:
            total += each.end - max(each.begin, until)
            until = each.end
    return total
