"""Makes a Trace of events, in whatever order they stand in the file."""

from math import isfinite
from sys import intern

from .errors import InputError
from .model import Promise, Slice, Thread, Trace

BROKEN = (ValueError, TypeError, KeyError, OverflowError, AttributeError)


def text(value):
    """A string of the file or None; numbers and the like are written as text."""
    if value is None or value == "":
        return None
    return intern(value) if type(value) is str else str(value)


class Builder:
    """Takes one event after the other."""

    def __init__(self):
        self.trace = Trace()
        self.pid = None
        self.by_phase = {
            "b": self.made,
            "e": self.settled,
            "n": self.instant,
            "X": self.slice,
            "i": self.mark,
            "C": self.counter,
            "M": self.metadata,
        }

    def take(self, event):
        """One event; what is no event of this format is counted as skipped."""
        try:
            handle = self.by_phase.get(event["ph"])
            if handle:
                handle(event)
        except BROKEN:
            self.trace.skipped += 1
        else:
            self.trace.events += 1

    def identity(self, event, identity):
        """An id as it is; in another process of the same file, with that process's number."""
        pid = event.get("pid")
        if self.pid is None:
            self.pid = pid
        if type(identity) is not str:
            raise TypeError
        return intern(identity) if pid == self.pid else f"{identity} ({pid})"

    def promise(self, identity):
        found = self.trace.promises.get(identity)
        if found is None:
            found = self.trace.promises[identity] = Promise(identity)
        return found

    def other(self, event, key):
        """The id in an event's arguments, or None."""
        identity = event["args"].get(key)
        return self.identity(event, identity) if identity else None

    def made(self, event):
        if event.get("cat") != "promise":
            return
        moment = round(event["ts"] * 1000)
        args = event.get("args") or {}
        promise = self.promise(self.identity(event, event["id"]))
        promise.made = moment
        promise.made_tid = event.get("tid", 0)
        promise.kind = text(args.get("kind")) or "promise"
        promise.label = text(args.get("label"))
        promise.site = text(args.get("site"))
        promise.executor = text(args.get("executor"))
        promise.reads = self.other(event, "reads") if args else None

    def settled(self, event):
        if event.get("cat") != "promise":
            return
        moment = round(event["ts"] * 1000)
        args = event.get("args") or {}
        promise = self.promise(self.identity(event, event["id"]))
        promise.settled = moment
        promise.settled_tid = event.get("tid", 0)
        promise.state = "rejected" if args.get("state") == "rejected" else "fulfilled"
        promise.error = text(args.get("error"))
        promise.value = text(args.get("value"))

    def instant(self, event):
        if event.get("cat") != "promise":
            return
        moment = round(event["ts"] * 1000)
        promise = self.promise(self.identity(event, event["id"]))
        args = event["args"]
        name = event["name"]
        if name in ("waits", "follows"):
            promise.deps = promise.deps or []
            promise.deps.append((moment, event.get("tid", 0), self.identity(event, args["on"]), intern(name)))
        elif name == "progress":
            note = text(args.get("note"))
            promise.progress = promise.progress or []
            fraction = float(args["fraction"])
            if not isfinite(fraction):
                raise ValueError
            promise.progress.append((moment, fraction, note))

    def slice(self, event):
        what = event.get("cat")
        if what not in ("handler", "await"):
            return
        begin = round(event["ts"] * 1000)
        end = begin + max(0, round(event.get("dur", 0) * 1000))
        found = Slice(
            what, text(event.get("name")) or what, event.get("tid", 0), begin, end,
            self.other(event, "promise"), self.other(event, "reads"), text(event["args"].get("executor")),
        )  # fmt: skip
        self.thread(found.tid).slices.append(found)

    def mark(self, event):
        if event.get("cat") == "cancel":
            promise = self.promise(self.other(event, "promise"))
            promise.cancel = (round(event["ts"] * 1000), event.get("tid", 0))

    def counter(self, event):
        args = event["args"]
        if event.get("name") == "promises":
            moment = round(event["ts"] * 1000)
            self.trace.counters.append((moment, int(args["live"]), int(args["pending"])))

    def metadata(self, event):
        name, args = event.get("name"), event["args"]
        if name == "process_name":
            self.trace.program = text(args["name"]) or ""
        elif name == "thread_name":
            self.thread(event["tid"]).name = text(args["name"]) or ""
        elif name == "vow_module":
            self.trace.modules[str(args["name"])] = str(args["path"])

    def thread(self, tid):
        found = self.trace.threads.get(tid)
        if found is None:
            found = self.trace.threads[tid] = Thread(tid, "")
        return found


def build(lines):
    """The Trace of these lines."""
    builder = Builder()
    take = builder.take
    for event in lines:
        take(event)
    trace = builder.trace
    trace.skipped += lines.skipped
    trace.complete = lines.closed
    trace.producer = str(lines.other.get("producer", ""))
    trace.program = trace.program or str(lines.other.get("program", ""))
    if not trace.promises and not trace.producer.startswith("vow"):
        raise InputError(f"{lines.name}: no trace of promises: no such event is in it")
    finish(trace)
    return trace


def finish(trace):
    """Sorts, drops what has no beginning, finds the bounds, lets threads nest; idle ones come last."""
    lost = [each for each, promise in trace.promises.items() if promise.made is None]
    for each in lost:
        promise = trace.promises[each]
        if promise.settled is None:
            del trace.promises[each]
            continue
        promise.made, promise.made_tid = promise.settled, promise.settled_tid
    for promise in trace.promises.values():
        if promise.settled is not None and promise.settled < promise.made:
            promise.settled = promise.made
        if promise.deps:
            promise.deps.sort(key=lambda each: each[0])
        if promise.progress:
            promise.progress.sort(key=lambda each: each[0])
    trace.counters.sort()
    bounds(trace)
    for thread in trace.threads.values():
        nest(thread)
    trace.threads = dict(sorted(trace.threads.items(), key=lambda item: not item[1].slices))
    attach(trace)


def bounds(trace):
    """The trace's own beginning and end, and all times from that beginning."""
    times = [promise.made for promise in trace.promises.values()]
    times += [promise.settled for promise in trace.promises.values() if promise.settled is not None]
    times += [each.begin for each in trace.slices()]
    times += [each.end for each in trace.slices()]
    times += [each[0] for each in trace.counters]
    if not times:
        return
    first = min(times)
    trace.last = max(times) - first
    for promise in trace.promises.values():
        promise.made -= first
        if promise.settled is not None:
            promise.settled -= first
        if promise.cancel:
            promise.cancel = (promise.cancel[0] - first, promise.cancel[1])
        if promise.deps:
            promise.deps = [(when - first, *rest) for when, *rest in promise.deps]
        if promise.progress:
            promise.progress = [(when - first, *rest) for when, *rest in promise.progress]
    for each in trace.slices():
        each.begin -= first
        each.end -= first
    trace.counters = [(when - first, live, pending) for when, live, pending in trace.counters]


def nest(thread):
    """Depth and parent of each slice; one that overlaps another's end goes below it all the same."""
    thread.slices.sort(key=lambda each: (each.begin, -each.end))
    thread.begins = [each.begin for each in thread.slices]
    stack = []
    for index, each in enumerate(thread.slices):
        while stack and thread.slices[stack[-1]].end <= each.begin:
            stack.pop()
        each.depth = len(stack)
        each.parent = stack[-1] if stack else -1
        stack.append(index)
        thread.depth = max(thread.depth, len(stack))


def attach(trace):
    """Each promise learns its handler's runs and who waits for it."""
    promises = trace.promises
    for each in trace.handlers():
        promise = promises.get(each.promise)
        if promise:
            promise.runs = promise.runs or []
            promise.runs.append(each)
    for promise in promises.values():
        if promise.runs:
            promise.runs.sort(key=lambda each: each.begin)
        for other in trace.waited_for(promise):
            found = promises.get(other)
            if found:
                found.readers = found.readers or []
                found.readers.append(promise.id)
