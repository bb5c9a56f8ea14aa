"""Cancel sources and tokens: one switch for many reactions."""

from __future__ import annotations

from typing import Any, Callable, Optional

from . import _core
from ._errors import Cancelled, check
from ._handles import SourceRef, TokenRef, Uncopied
from ._library import lib
from ._reactions import switch_of
from ._registration import Registration, register


class Token(Uncopied):
    """Tells that work is no longer wanted. Made by a `CancelSource`."""

    __slots__ = ("_ref",)

    _ref: TokenRef

    def __init__(self) -> None:
        raise TypeError("a Token is CancelSource().token")

    @classmethod
    def _of(cls, handle: int) -> Token:
        self = cls.__new__(cls)
        self._ref = TokenRef(handle)
        return self

    @property
    def cancelled(self) -> bool:
        """Whether its source was cancelled."""
        return bool(lib.vow_token_is_cancelled(self._ref.handle))

    @property
    def reason(self) -> Any:
        """What it was cancelled with, or None."""
        return lib.vow_token_reason(self._ref.handle)

    def raise_if_cancelled(self) -> None:
        """Raises `Cancelled` if its source was cancelled: for long work to ask now and then."""
        if self.cancelled:
            raise Cancelled("cancelled by a token", self.reason)

    def on_cancel(self, fn: Callable[[], Any]) -> Registration:
        """Has `fn` called, once, when the source is cancelled: on that thread, or at once.

        Unless it has left before, which the returned registration does.
        """
        return register(self._ref.handle, 0, fn, "Token.on_cancel")


class CancelSource(Uncopied):
    """Cancels all that was given its token, also when one of the `parents` is cancelled.

    By its parents it is cancelled for as long as anybody has it or its token.

    Handlers that have not begun never will: `catch` handlers get `Cancelled`.
    """

    __slots__ = ("_ref", "token")

    def __init__(self, *parents: Token) -> None:
        if parents:
            handle = _core.source(tuple(switch_of(parent) for parent in parents))
        else:
            handle = lib.vow_cancel_source_create()
        if not handle:
            check(-2, "CancelSource")
        self._ref = SourceRef(handle)
        self.token = Token._of(lib.vow_token_retain(lib.vow_cancel_source_token(handle)))

    def cancel(self, reason: Optional[Any] = None) -> bool:
        """Cancels, with a reason as the errors' payload. True the first time."""
        return bool(lib.vow_cancel_source_cancel_with(self._ref.handle, reason))
