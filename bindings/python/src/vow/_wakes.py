"""Waking who waits for a promise: by its settling, or because that cannot be told."""

from __future__ import annotations

from typing import Any

from . import _core
from ._errors import Cancelled, Shutdown
from ._handles import PromiseRef
from ._library import ffi, lib
from ._values import from_error, is_error

wake_when_gone: Any = ffi.cast("vow_notice", _core.wake_when_gone)


def why_not(reaction: PromiseRef) -> BaseException:
    """Why the reaction of somebody who was woken could not wait for its promise."""
    lib.vow_cancel(reaction.handle)
    out = ffi.new("vow_value *")
    if lib.vow_promise_peek(reaction.handle, out) and is_error(out[0]):
        error = from_error(out[0])
        if not isinstance(error, Cancelled):
            return error
    return Shutdown("the loop that was to tell that the promise is settled is closed")
