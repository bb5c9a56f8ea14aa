"""Registering reactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from . import _table
from ._gate import immortal
from ._library import ffi, lib
from ._values import destroy_object

if TYPE_CHECKING:
    from ._cancellation import Token
    from ._executors import Executor

FINALLY = 1

_reaction = ffi.typeof("vow_reaction *")
_SIZE = ffi.sizeof("vow_reaction")
_labels: dict[str, Any] = {}  # the library wants them to live for ever


def static_label(label: Optional[str]) -> Any:
    """A label as a C string that lives for ever; the same for the same text."""
    if label is None:
        return ffi.NULL
    text = _labels.get(label)
    if text is None:
        text = _labels.setdefault(label, immortal("char[]", label.encode()))
    return text


def link(
    promise: int,
    call: Any,
    fulfilled: Any,
    rejected: Any,
    flags: int = 0,
    executor: Optional[Executor] = None,
    token: Optional[Token] = None,
    label: Optional[str] = None,
    destroy: Any = destroy_object,
) -> int:
    """Registers handlers on a promise, which is consumed; the new promise, owned."""
    reaction = ffi.new(
        _reaction,
        (
            _SIZE,
            fulfilled,
            rejected,
            _table.keep(call),
            destroy,
            0 if executor is None else executor._ref.handle,
            0 if token is None else token._ref.handle,
            flags,
            ffi.NULL if label is None else static_label(label),
        ),
    )
    return int(lib.vow_then_with(promise, reaction))


def keep_until_settled(promise: int, number: int) -> int:
    """A promise of the same outcome, owned, which lets go of a kept object when it settles."""
    reaction = ffi.new(
        _reaction,
        (
            _SIZE,
            ffi.NULL,
            ffi.NULL,
            number,
            destroy_object,
            lib.vow_executor_inline(),
            0,
            0,
            ffi.NULL,
        ),
    )
    return int(lib.vow_then_with(promise, reaction))
