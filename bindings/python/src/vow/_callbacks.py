"""Functions that are called when a promise is settled: `add_done_callback`."""

from __future__ import annotations

import contextvars
from typing import TYPE_CHECKING, Any, Callable, Optional

from . import _calls
from ._reactions import CALLBACK

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
