"""Makes a Trace of events, in whatever order they stand in the file."""

from sys import intern

from .errors import Fault, InputError
from .fields import arguments, duration, moment, name_of_thread, needed, number, process, text
from .model import Promise, Slice, Thread, Trace


class Builder:
    """Takes one event after the other. One with a wrong field is a Fault, and changes nothing."""

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
        """One event. What other tools write beside ours is nothing to us."""
        phase = event.get("ph")
        if type(phase) is not str:
            raise Fault("missing" if phase is None else "no text", "ph")
        handle = self.by_phase.get(phase)
        if handle:
            handle(event)
        self.trace.events += 1

    def identity(self, event, source, key):
        """An id as it is; in another process of the same file, with that process's number."""
        identity, pid = needed(source, key), process(event)
        if self.pid is None:
            self.pid = pid
        return identity if pid == self.pid else intern(f"{identity} ({pid})")

    def promise(self, identity):
        found = self.trace.promises.get(identity)
        if found is None:
            found = self.trace.promises[identity] = Promise(identity)
        return found

    def other(self, event, args, key):
        """The id in an event's arguments, or None."""
        return self.identity(event, args, key) if args.get(key) else None

    def made(self, event):
        if event.get("cat") != "promise":
            return
        when, tid, args = moment(event), name_of_thread(event), arguments(event, False)
        identity = self.identity(event, event, "id")
        kind, label, site, executor = text(args, "kind"), text(args, "label"), text(args, "site"), text(args, "executor")
        reads = self.other(event, args, "reads")
        promise = self.promise(identity)
        if promise.made is not None:
            raise Fault(f"{identity} was made before", "id")
        promise.made, promise.made_tid = when, tid
        promise.kind = kind or "promise"
        promise.label, promise.site, promise.executor, promise.reads = label, site, executor, reads

    def settled(self, event):
        if event.get("cat") != "promise":
            return
        when, tid, args = moment(event), name_of_thread(event), arguments(event, False)
        identity = self.identity(event, event, "id")
        state, error, value = text(args, "state"), text(args, "error"), text(args, "value")
        promise = self.promise(identity)
        if promise.settled is not None:
            raise Fault(f"{identity} was settled before", "id")
        promise.settled, promise.settled_tid = when, tid
        promise.state = "rejected" if state == "rejected" else "fulfilled"
        promise.error, promise.value = error, value

    def instant(self, event):
        if event.get("cat") != "promise":
            return
        when, tid, args, name = moment(event), name_of_thread(event), arguments(event), event.get("name")
        identity = self.identity(event, event, "id")
        if name in ("waits", "follows"):
            other = self.identity(event, args, "on")
            promise = self.promise(identity)
            promise.deps = promise.deps or []
            promise.deps.append((when, tid, other, intern(name)))
        elif name == "progress":
            fraction, note = float(number(args, "fraction")), text(args, "note")
            promise = self.promise(identity)
            promise.progress = promise.progress or []
            promise.progress.append((when, fraction, note))

    def slice(self, event):
        what = event.get("cat")
        if what not in ("handler", "await"):
            return
        begin, args = moment(event), arguments(event)
        found = Slice(
            intern(what), text(event, "name") or what, name_of_thread(event), begin, begin + duration(event),
            self.other(event, args, "promise"), self.other(event, args, "reads"), text(args, "executor"),
        )  # fmt: skip
        self.thread(found.tid).slices.append(found)

    def mark(self, event):
        if event.get("cat") == "cancel":
            when, tid = moment(event), name_of_thread(event)
            self.promise(self.identity(event, arguments(event), "promise")).cancel = (when, tid)
        elif event.get("cat") == "dropped":
            self.trace.dropped += int(number(arguments(event), "events"))

    def counter(self, event):
        if event.get("name") == "promises":
            when, args = moment(event), arguments(event)
            self.trace.counters.append((when, int(number(args, "live")), int(number(args, "pending"))))

    def metadata(self, event):
        name = event.get("name")
        if name == "process_name":
            self.trace.program = text(arguments(event), "name") or ""
        elif name == "thread_name":
            words = text(arguments(event), "name") or ""
            self.thread(name_of_thread(event, None)).name = words
        elif name == "vow_module":
            args = arguments(event)
            self.trace.modules[needed(args, "name")] = needed(args, "path")

    def thread(self, tid):
        found = self.trace.threads.get(tid)
        if found is None:
            found = self.trace.threads[tid] = Thread(tid, "")
        return found


def build(source):
    """The Trace of a file."""
    builder = Builder()
    take = builder.take
    for event in source:
        try:
            take(event)
        except Fault as fault:
            source.fault(fault)
    trace = builder.trace
    trace.producer = words(source, "producer")
    trace.program = trace.program or words(source, "program")
    if not trace.promises and not trace.producer.startswith("vow"):
        where = f"; it was cut off {source.cut}" if source.cut else ""
        raise InputError(f"{source.name}: no trace of promises: no such event is in it{where}")
    finish(trace, source)
    trace.skipped = source.skipped
    trace.complete = source.cut is None
    trace.notes = source.notes()
    return trace


def words(source, key):
    try:
        return text(source.other, key) or ""
    except Fault as fault:
        source.fault(fault, "otherData")
        return ""


def finish(trace, source):
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
            source.fault(Fault("it was settled before it was made"), f"promise {promise.id}")
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
    for promise in trace.promises.values():
        times += [each[0] for each in promise.deps]
        times += [each[0] for each in promise.progress]
        if promise.cancel:
            times.append(promise.cancel[0])
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
        each.index = index
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
