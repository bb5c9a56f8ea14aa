"""What users of futures look for: done callbacks, and futures of concurrent.futures."""

from __future__ import annotations

import concurrent.futures
import contextvars
import weakref
from typing import TYPE_CHECKING, Any, Callable, Optional

from . import _calls, _core
from ._errors import Cancelled
from ._executors import CALLBACK, inline
from ._library import PromiseRef, Ref, lib

if TYPE_CHECKING:
    from ._promise import Promise

class _Callback:
    """A function that is called when a promise is settled, if it is not removed before."""

    __slots__ = ("context", "function", "promise", "reaction")

    reaction: Optional[Promise[Any]]

    def __init__(
        self,
        promise: Promise[Any],
        fn: Callable[[Any], Any],
        context: Optional[contextvars.Context],
    ) -> None:
        self.promise: Optional[Promise[Any]] = promise
        self.function = fn
        self.context = context
        self.reaction = None

    def _take(self) -> Optional[Promise[Any]]:
        promise, self.promise = self.promise, None
        if promise is not None and promise._callbacks and self in promise._callbacks:
            promise._callbacks.remove(self)
        return promise

    def remove(self) -> bool:
        is_first = self._take() is not None
        if self.reaction is not None:
            self.reaction.cancel()
        return is_first

    def __call__(self) -> None:
        promise = self._take()
        if promise is None:
            return
        try:
            if self.context is None:
                self.function(promise)
            else:
                self.context.run(self.function, promise)
        except Exception as error:
            _calls.report(error, self.function)


def add(
    promise: Promise[Any], fn: Callable[[Any], Any], context: Optional[contextvars.Context]
) -> None:
    """Has a function called with the promise when it is settled."""
    added = _Callback(promise, fn, context)
    added.reaction = promise._link(added, None, None, CALLBACK, 0, 0, 0)
    if promise._callbacks is None:
        promise._callbacks = []
    promise._callbacks.append(added)


def remove(promise: Promise[Any], fn: Callable[[Any], Any]) -> int:
    """Takes all that are equal to a function away: how many were to come."""
    removed = [added for added in promise._callbacks or [] if added.function == fn]
    return sum(added.remove() for added in removed)


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
        self.reaction: Optional[Ref] = None
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

