"""A promise as a future of concurrent.futures, for what takes these."""

from __future__ import annotations

import concurrent.futures
from typing import Any, Optional

from . import _core
from ._above import above
from ._errors import Cancelled
from ._executors import inline
from ._handles import PromiseRef
from ._library import lib
from ._promise import Promise
from ._wakes import why_not


class _Future(concurrent.futures.Future[Any]):
    """Cancelling it cancels the promise, which others may still read."""

    _reader: Optional[_Mirror] = None

    def cancel(self) -> bool:
        if not super().cancel():
            return False
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.leave()
        return True


class _Mirror(_core.Reader):
    """Settles the future as the promise settles."""

    __slots__ = ("future", "promise")

    def __init__(self, promise: Promise[Any], future: _Future) -> None:
        self.promise = promise
        self.future = future

    def leave(self) -> None:
        if not self.promise._read_by_others(self):
            self.promise.cancel()

    def wake(self) -> None:
        future, promise = self.future, self.promise
        if future.done() or not promise.done():
            return
        future._reader = None
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
    future._reader = _Mirror(promise, future)
    mirror = future._reader
    promise._reader(mirror)
    reaction = PromiseRef(promise._wake(mirror, inline._ref.handle))
    if not promise.done() and lib.vow_promise_state(reaction.handle):  # there was no memory for it
        future._reader = None
        future.set_exception(why_not(reaction))
    return future


above.to_future = to_future
