"""How far the work is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional

from . import _asyncio, _core
from ._errors import check
from ._handles import SourceRef
from ._library import lib
from ._registration import HAS_RUN, NEVER_RUNS, RUNNING, WAITING, Registration
from ._seconds import nanoseconds

if TYPE_CHECKING:
    from ._promise import Promise
    from ._resolver import Resolver


class _Course:
    """What becomes of a listener."""

    def __init__(self) -> None:
        self.is_running = self.has_run = self.is_over = False

    @property
    def stage(self) -> str:
        if self.is_running:
            return RUNNING
        if not self.is_over:
            return WAITING
        return HAS_RUN if self.has_run else NEVER_RUNS


class _Listener:
    """What the library calls, and lets go of."""

    def __init__(self, fn: Callable[[float, Optional[str]], Any], course: _Course) -> None:
        self.fn = fn
        self.course = course

    def __call__(self, fraction: float, note: Optional[str]) -> None:
        self.course.is_running = self.course.has_run = True
        try:
            self.fn(fraction, note)
        finally:
            self.course.is_running = False

    def __del__(self) -> None:
        self.course.is_over = True


class _Listening(Registration):
    """The function leaves by a cancel source of its own."""

    __slots__ = ("_course", "_source")

    def __init__(self) -> None:
        self._course = _Course()
        self._source = SourceRef(lib.vow_cancel_source_create())

    def leave(self) -> str:
        lib.vow_cancel_source_cancel_with(self._source.handle, None)
        self._course.is_over = True
        return self.stage

    @property
    def stage(self) -> str:
        return self._course.stage


def on_progress(
    promise: Promise[Any], fn: Callable[[float, Optional[str]], Any], interval: float
) -> Registration:
    """Has a function called as a promise comes further."""
    if not callable(fn):
        raise TypeError(f"on_progress: {fn!r} cannot be called")
    limit = nanoseconds(interval, "on_progress")
    ref = promise._ref
    if ref is None:
        return Registration._of(0)
    _asyncio.enter()
    registration = _Listening()
    listener = _Listener(fn, registration._course)
    token = lib.vow_cancel_source_token(registration._source.handle)
    call = (_core.Call(listener, fn), 0, token)
    status = lib.vow_on_progress_with(ref.handle, limit, _core.on_progress, call)
    check(status, "on_progress")
    return registration


def set_progress(resolver: Resolver[Any], fraction: float, note: Optional[str]) -> None:
    """Says how far the promise of a resolver is."""
    ref = resolver._ref
    if ref is not None:
        check(lib.vow_resolver_set_progress(ref.handle, fraction, note), "set_progress")
