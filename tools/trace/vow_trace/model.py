"""What a trace is about: promises, what they wait for, and what threads did, in nanoseconds."""

TIMED_OUT = "VOW_ETIMEDOUT"
CANCELLED = "VOW_ECANCELLED"
OUTCOMES = ("fulfilled", "rejected", "timed out", "cancelled", "pending")


class Promise:
    """From its making to its settling. `deps` are (time, tid, id of what it waits for, how)."""

    __slots__ = (
        "id", "kind", "label", "site", "executor", "reads", "made", "made_tid",
        "settled", "settled_tid", "state", "error", "value", "deps", "progress",
        "runs", "cancel", "readers", "group", "lane", "delayed",
    )  # fmt: skip

    def __init__(self, identity):
        self.id = identity
        self.kind = "promise"
        self.label = self.site = self.executor = self.reads = None
        self.made = self.settled = None
        self.made_tid = self.settled_tid = 0
        self.state = "pending"
        self.error = self.value = None
        self.deps = ()
        self.progress = ()
        self.runs = ()
        self.cancel = self.delayed = None
        self.readers = ()
        self.group = self.lane = 0

    @property
    def name(self):
        return self.label or self.kind

    @property
    def outcome(self):
        """One of OUTCOMES."""
        if self.state == "rejected" and self.error:
            if self.error.startswith(TIMED_OUT):
                return "timed out"
            if self.error.startswith(CANCELLED):
                return "cancelled"
        return self.state


class Slice:
    """A handler's run or a blocked wait on a thread. `index` is its place there, `parent` that of what it is inside of."""

    __slots__ = ("what", "name", "tid", "begin", "end", "promise", "reads", "executor", "depth", "parent", "index")

    def __init__(self, what, name, tid, begin, end, promise, reads, executor):
        self.what = what
        self.name = name
        self.tid = tid
        self.begin = begin
        self.end = end
        self.promise = promise
        self.reads = reads
        self.executor = executor
        self.depth = 0
        self.parent = self.index = -1


class Thread:
    """What one thread did: its slices by their beginning, and how deep they nest. `nesting` is threads.py's."""

    def __init__(self, tid, name):
        self.tid = tid
        self.name = name
        self.slices = []
        self.begins = []
        self.depth = 0
        self.nesting = None


class Trace:
    """All of a file. `first` and `last` are its bounds; times count from `first`. `notes` say what it lacks."""

    def __init__(self):
        self.promises = {}
        self.threads = {}
        self.counters = []
        self.modules = {}
        self.program = ""
        self.producer = ""
        self.events = 0
        self.skipped = 0
        self.dropped = 0
        self.complete = True
        self.notes = []
        self.first = 0
        self.last = 0

    @property
    def duration(self):
        return self.last - self.first

    def slices(self):
        """Every slice, thread by thread."""
        for thread in self.threads.values():
            yield from thread.slices

    def handlers(self):
        return (each for each in self.slices() if each.what == "handler")

    def settled_by(self, identity, moment):
        """The promise of that id, if it was settled by then."""
        promise = self.promises.get(identity)
        if promise is None or promise.settled is None or promise.settled > moment:
            return None
        return promise

    def waited_for(self, promise):
        """The ids it waits for, each once: {id: how}. What it adopts may stand in the place of what it read."""
        found = {each.reads: "reads" for each in promise.runs if each.reads}
        for _, _, other, how in promise.deps:
            found.setdefault(other, how)
        if promise.reads:
            found.setdefault(promise.reads, "reads")
        return found
