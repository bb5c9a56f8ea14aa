"""Looking inside: counters, traces, the live graph, the end."""

from __future__ import annotations

import os
from types import TracebackType
from typing import NamedTuple, Optional, Union

from . import _core
from ._errors import check
from ._library import lib


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
    return Stats(*_core.stats())


class Trace:
    """A trace that is being written; the end of a `with` block, or `stop`, ends it."""

    def stop(self) -> int:
        """Ends the trace: how many events are not in the file, because its reader was slow or it was full."""
        missing: int = lib.vow_trace_stop()
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
    check(lib.vow_trace_start(None if path is None else os.fspath(path)), f"trace: {path}")
    return Trace()


_FORMATS = {"dot": 0, "json": 1}


def graph(format: str = "dot") -> str:
    """What waits for what, here and now, as `"dot"` or `"json"`. Needs `trace`."""
    if format not in _FORMATS:
        raise ValueError(f"graph: format {format!r} is neither 'dot' nor 'json'")
    fd = os.memfd_create("vow-graph")
    with os.fdopen(fd, "r+b") as file:
        check(lib.vow_graph_write(fd, _FORMATS[format]), "graph")
        file.seek(0)
        return file.read().decode("utf-8", "replace")


