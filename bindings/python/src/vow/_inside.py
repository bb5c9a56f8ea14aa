"""Looking inside: counters, traces, the live graph, the end."""

from __future__ import annotations

import os
from types import TracebackType
from typing import NamedTuple, Optional, Union

from ._errors import check
from ._library import ffi, lib, newer


class Stats(NamedTuple):
    """Counters of the whole process."""

    created: int
    settled: int
    live: int
    pending: int
    handlers: int
    bytes: int
    spare: int


def stats() -> Stats:
    """Promises made, settled, alive and pending; handlers that wait; bytes held; bytes kept for new promises."""
    out = ffi.new("vow_statistics *")
    out.size = ffi.sizeof("vow_statistics")
    check(lib.vow_stats(out), "stats")
    return Stats(
        out.created, out.settled, out.live, out.pending, out.handlers, out.bytes, out.spare
    )


class Trace:
    """A trace that is being written; the end of a `with` block, or `stop`, ends it."""

    def stop(self) -> int:
        """Ends the trace: how many events are not in the file, because its reader was slow or it was full."""
        missing: int = newer("vow_trace_stop")()
        check(missing, "trace: stop")
        return missing

    def __enter__(self) -> Trace:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.stop()


def trace(path: Union[str, os.PathLike[str], None] = None) -> Trace:
    """Writes what promises do to a file, for a viewer of traces. None: keeps the live graph alone."""
    start = newer("vow_trace_start")
    check(start(ffi.NULL if path is None else os.fsencode(path)), f"trace: {path}")
    return Trace()


_FORMATS = {"dot": 0, "json": 1}


def graph(format: str = "dot") -> str:
    """What waits for what, here and now, as `"dot"` or `"json"`. Needs `trace`."""
    write = newer("vow_graph_write")
    if format not in _FORMATS:
        raise ValueError(f"graph: format {format!r} is neither 'dot' nor 'json'")
    fd = os.memfd_create("vow-graph")
    with os.fdopen(fd, "r+b") as file:
        check(write(fd, _FORMATS[format]), "graph")
        file.seek(0)
        return file.read().decode("utf-8", "replace")


