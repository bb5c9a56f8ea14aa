"""What the tests share: the package in the path, and a writer of traces."""

import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "tools" / "trace"
sys.path.insert(0, str(PACKAGE))
sys.dont_write_bytecode = True

from vow_trace.building import build  # noqa: E402
from vow_trace.reading import document_of  # noqa: E402

HEADER = {"displayTimeUnit": "ns", "otherData": {"producer": "vow 0.1.0", "program": "test", "clock": "monotonic"}}


class Writer:
    """Writes events as the library does. Times are nanoseconds."""

    def __init__(self, start=5_000_000_000):
        self.start = start
        self.events = []
        self.last = 0
        self.event("M", "process_name", 0, ts=None, args={"name": "test"})

    def event(self, phase, name, tid, ts, **more):
        found = {"ph": phase, "name": name, "pid": 7, "tid": tid, **more}
        if ts is not None:
            found["ts"] = (self.start + ts) / 1000
        self.events.append(found)

    def thread(self, tid, name):
        self.event("M", "thread_name", tid, None, args={"name": name})

    def promise(self, kind, made, settled=None, tid=1, settled_tid=None, label=None, **more):
        """A promise; state, error, value, site, reads, executor as the format has them. Returns its id."""
        identity = more.pop("id", None) or self.identity()
        name = label or kind
        end = {each: more.pop(each) for each in ("state", "error", "value") if each in more}
        begin = {"kind": kind, **more}
        if label is not None:
            begin["label"] = label
        self.event("b", name, tid, made, cat="promise", id=identity, args=begin)
        if settled is not None:
            args = {"state": "rejected" if "error" in end else "fulfilled", **end}
            where = tid if settled_tid is None else settled_tid
            self.event("e", name, where, settled, cat="promise", id=identity, args=args)
            about = {"promise": identity, "state": args["state"]}
            self.event("X", f"settle {name}", where, settled, cat="settle", dur=0.001, args=about)
        return identity

    def identity(self):
        """A new id, for a promise that is written later."""
        self.last += 1
        return hex(self.last)

    def on(self, identity, other, when, tid=1, how="waits"):
        self.event("n", how, tid, when, cat="promise", id=identity, args={"on": other})

    def handler(self, promise, begin, end, tid=1, reads=None, executor="pool", name="handler"):
        args = {"promise": promise, "executor": executor}
        if reads:
            args["reads"] = reads
        self.event("X", name, tid, begin, cat="handler", dur=(end - begin) / 1000, args=args)

    def blocked(self, promise, begin, end, tid=1):
        about = {"promise": promise}
        self.event("X", "await", tid, begin, cat="await", dur=(end - begin) / 1000, args=about)

    def cancel(self, promise, when, tid=1):
        self.event("i", "cancel", tid, when, cat="cancel", s="t", args={"promise": promise})

    def counter(self, when, live, pending):
        self.event("C", "promises", 0, when, args={"live": live, "pending": pending})

    def text(self):
        head = json.dumps(HEADER)[:-1] + ', "traceEvents": [\n'
        return head + ",\n".join(json.dumps(each) for each in self.events) + "\n]}\n"

    def trace(self):
        """What the tool makes of it."""
        return trace_of(self.text())


def trace_of(text, partial=False):
    """The Trace of a file with this text (or these bytes); with what is wrong left out, if it is to be partial."""
    data = text if isinstance(text, bytes) else text.encode()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "trace.json"
        path.write_bytes(data)
        kind, lines = document_of(str(path), partial)
        assert kind == "trace"
        return build(lines)
