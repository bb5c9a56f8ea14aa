"""Looking inside; and the ends: of the interpreter, of a forked child's right to its parent's loops, of cycles."""

from __future__ import annotations

import atexit
import functools
import gc
import logging
import os
import sys
import threading
import time
from typing import Any, NamedTuple, Optional, Union

from . import _asyncio, _calls, _core, _library, _loops
from ._errors import Shutdown, check
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

    def __exit__(self, kind: Any, error: Optional[BaseException], traceback: Any) -> None:
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


exit_timeout: Optional[float] = 10.0
"""How long the end of the interpreter waits for handlers that run or are queued, in seconds.

None: as long as they take. Set it as `vow.exit_timeout`.
"""

_logger = logging.getLogger("vow")
_process = os.getpid()


def _limit() -> int:
    chosen = getattr(sys.modules.get("vow"), "exit_timeout", exit_timeout)
    return -1 if chosen is None else int(float(chosen) * 1e9)


class _Ended(SystemExit):
    """Ends a handler that ran longer than the interpreter waits for it."""


def _running() -> list[int]:
    threads = {thread for thread, _ in _core.running()}
    threads.discard(threading.get_ident())
    return list(threads)


def _place(thread: int) -> str:
    """Where the handler of a thread is; nothing where that cannot be said."""
    frame = sys._current_frames().get(thread)
    codes = [_code(function) for one, function in _core.running() if one == thread]
    while frame is not None:
        outer = frame.f_back
        if frame.f_code in codes:
            return f": {frame.f_code.co_name}, {frame.f_code.co_filename}:{frame.f_lineno}"
        frame = outer
    return ""


def _code(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    code = getattr(function, "__code__", None)
    return getattr(type(function).__call__, "__code__", None) if code is None else code


def _say(thread: int) -> None:
    _logger.error(
        "a handler still ran at the end of the interpreter, and is ended%s", _place(thread)
    )


def _end_handlers() -> None:
    # A thread of the library that asks a dying interpreter for its lock is ended by it, which takes
    # the whole process down: so handlers get an exception first. One that blocks in C code
    # for longer than a second stays there; the process ends around it.
    end = time.monotonic() + 1
    told: set[int] = set()
    while time.monotonic() < end:
        running = _running()
        if not running:
            return
        for thread in set(running) - told:
            _say(thread)
            _core.interrupt(thread, _Ended)
            told.add(thread)
        time.sleep(0.001)


def _tell_of_what_is_held() -> None:
    """Rejections that nobody has looked at are told, though somebody has the promise still."""
    if not stats().live:
        return
    for item in _core.promises():
        if not item._watched and item.state == "rejected":
            item._give_up(Shutdown("the interpreter ended, and nobody had looked"))


def _at_exit() -> None:
    # After this no thread, of the library or of C code, calls into the interpreter: it can be taken down.
    _calls.be_quiet_about_the_end()
    limit = _limit()
    end = None if limit < 0 else time.monotonic() + limit / 1e9
    try:
        if os.getpid() == _process:
            _core.shut_down(limit)
            _tell_of_what_is_held()
        _core.close()
        while _core.wait() and (end is None or time.monotonic() < end):
            pass
    finally:  # also after Ctrl-C, which ends the waiting alone
        _core.close()
        _end_handlers()
    _library.stop_releasing()
    _core.stop_releasing()


def _in_child() -> None:
    _core.forked()
    _loops.forget_parent()
    _asyncio.forget_parent()


class _Cycles:
    """Shows the garbage collector what a read exception holds: `promise_share` in C says how."""

    generation = 1 if sys.version_info >= (3, 14) else 2

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        if phase != "start" or info["generation"] < self.generation:
            return
        _core.share()


atexit.register(_at_exit)
os.register_at_fork(after_in_child=_in_child)
gc.callbacks.append(_Cycles())
_core.begin()
