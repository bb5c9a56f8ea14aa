"""Executors, tokens and labels, as the library has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from . import _core
from ._handles import ExecutorRef, TokenRef

if TYPE_CHECKING:
    from ._cancellation import Token
    from ._executors import Executor

THEN, CATCH, FINALLY, CALLBACK, RUN = range(5)  # as extension/promise.c has them

_labels: dict[str, int] = {}


def handle_of(executor: Optional[Executor]) -> int:
    """The library's executor; 0: the one of a reaction made here."""
    if executor is None:
        return 0
    ref = getattr(executor, "_ref", None)
    if isinstance(ref, ExecutorRef):
        return ref.handle
    hint = ""
    if hasattr(executor, "submit"):
        hint = ": vow.from_futures makes one of it"
    elif hasattr(executor, "executor"):
        hint = ": its `executor` is one"
    raise TypeError(f"{executor!r} is no executor{hint}")


def switch_of(token: Token) -> int:
    """The library's token."""
    ref = getattr(token, "_ref", None)
    if isinstance(ref, TokenRef):
        return ref.handle
    hint = ": its `token` is one" if hasattr(token, "token") else ""
    raise TypeError(f"{token!r} is no token{hint}")


def label_of(label: str) -> int:
    """Where the text of a label is, for ever; the same for the same text."""
    if not isinstance(label, str):
        raise TypeError(f"{label!r} is no label: a label is a str")
    return _labels.get(label) or _labels.setdefault(label, _core.label(label))
