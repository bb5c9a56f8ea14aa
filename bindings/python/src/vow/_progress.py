"""How far the work is. Needs a library that has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional

from . import _asyncio, _calls
from ._errors import check
from ._library import ffi, newer
from ._values import destroy_object
from ._seconds import nanoseconds

if TYPE_CHECKING:
    from ._promise import Promise
    from ._resolver import Resolver


def _text(note: Optional[str]) -> Any:
    return ffi.NULL if note is None else note.encode("utf-8", "replace")


def on_progress(
    promise: Promise[Any], fn: Callable[[float, Optional[str]], Any], interval: float
) -> None:
    """Has a function called as a promise comes further."""
    function = newer("vow_on_progress")
    if not callable(fn):
        raise TypeError(f"on_progress: {fn!r} cannot be called")
    limit = nanoseconds(interval, "on_progress")
    ref = promise._ref
    if ref is None:
        return
    _asyncio.enter()
    number = _calls.keep_call(fn)
    status = function(ref.handle, limit, _calls.on_progress, number, destroy_object)
    check(status, "on_progress")


def set_progress(promise: Promise[Any], fraction: float, note: Optional[str]) -> None:
    """Says how far a promise is."""
    function = newer("vow_promise_set_progress")
    ref = promise._ref
    if ref is not None:
        check(function(ref.handle, fraction, _text(note)), "set_progress")


def set_current_progress(fraction: float, note: Optional[str] = None) -> None:
    """Says how far the function is that runs here: of an item of `map` it is its share."""
    check(newer("vow_current_set_progress")(fraction, _text(note)), "set_current_progress")


def set_resolver_progress(resolver: Resolver[Any], fraction: float, note: Optional[str]) -> None:
    """Says how far the promise of a resolver is."""
    function = newer("vow_resolver_set_progress")
    ref = resolver._ref
    if ref is not None:
        check(function(ref.handle, fraction, _text(note)), "set_progress")
