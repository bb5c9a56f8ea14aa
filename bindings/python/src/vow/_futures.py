"""A promise as a future of concurrent.futures, for what takes these."""

from __future__ import annotations

import concurrent.futures
import weakref
from typing import Any, Callable, Optional

from . import _core
from ._above import above
from ._errors import Cancelled
from ._executors import inline
from ._handles import PromiseRef
from ._library import lib
from ._promise import Promise


class _Future(concurrent.futures.Future[Any]):
    """Cancelling it cancels the promise, which others may still read."""

    _reader: Optional[_Mirror] = None

    def add_done_callback(self, fn: Callable[[concurrent.futures.Future[Any]], Any]) -> None:
        if self._reader is not None:
            self._reader.kept = self
        super().add_done_callback(fn)

    def cancel(self) -> bool:
        if not super().cancel():
            return False
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.leave(True)
        return True

    def __del__(self) -> None:
        if self._reader is not None:
            self._reader.leave(False)


class _Mirror(_core.Reader):
    """Settles the future as the promise settles."""

    __slots__ = ("future", "kept", "promise", "reaction")

    def __init__(self, promise: Promise[Any], future: _Future) -> None:
        self.promise = promise
        self.future = weakref.ref(future)
        self.kept: Optional[_Future] = None  # once it has callbacks, for which nobody need hold it
        self.reaction: Optional[PromiseRef] = None
        promise._reader(self)
        future._reader = self

    def leave(self, is_asked: bool) -> None:
        self.kept = None
        is_last = not self.promise._read_by_others(self)
        # The last reader stays unless it is asked: without it nobody would want the result.
        if self.reaction is not None and (is_asked or not is_last):
            lib.vow_cancel(self.reaction.handle)
        if is_asked and is_last:
            self.promise.cancel()

    def wake(self) -> None:
        future, promise = self.future(), self.promise
        if future is None or future.done() or not promise.done():
            return
        future._reader = self.kept = None
        error = promise.exception()
        if isinstance(error, Cancelled):
            future.cancel()
            future.set_running_or_notify_cancel()
        elif future.set_running_or_notify_cancel():
            if error is None:
                future.set_result(promise.result())
            else:
                future.set_exception(error)


def to_future(promise: Promise[Any]) -> concurrent.futures.Future[Any]:
    """A future of the same outcome."""
    future = _Future()
    mirror = _Mirror(promise, future)
    mirror.reaction = reaction = PromiseRef(promise._wake(mirror, inline._ref.handle))
    if not promise.done() and lib.vow_promise_state(reaction.handle):  # there was no memory for it
        future._reader = None
        future.set_exception(_core.why_not(reaction.handle))
    return future


above.to_future = to_future
