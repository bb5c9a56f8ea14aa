"""Waking who waits for a promise: by its settling, or because that cannot be told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _table
from ._errors import Cancelled, Shutdown
from ._gate import callback
from ._handles import PromiseRef
from ._library import ffi, lib
from ._reactions import link
from ._values import NONE, from_error, is_error

if TYPE_CHECKING:
    from ._executors import Executor


@callback("vow_handler")
def _wake(value: Any, number: int) -> Any:
    waiter = _table.find(number)
    if waiter is not None:
        waiter.wake()
    return NONE


@callback("vow_notice")
def wake_when_gone(number: int) -> None:
    # Also where the handler will never run: there was no memory for it, or its executor is gone.
    waiter = _table.take(number)
    if waiter is not None:
        waiter.wake()


def wake_when_settled(promise: int, waiter: Any, executor: Executor) -> int:
    """Has `waiter.wake()` called, once or twice, when a promise (consumed) settles, or never will here.

    The reaction, owned: cancelling it ends that.
    """
    return link(promise, waiter, _wake, _wake, executor=executor, destroy=wake_when_gone)


def why_not(reaction: PromiseRef) -> BaseException:
    """Why the reaction of somebody who was woken could not wait for its promise."""
    lib.vow_cancel(reaction.handle)
    out = ffi.new("vow_value *")
    if lib.vow_promise_peek(reaction.handle, out) and is_error(out[0]):
        error = from_error(out[0])
        if not isinstance(error, Cancelled):
            return error
    return Shutdown("the loop that was to tell that the promise is settled is closed")
