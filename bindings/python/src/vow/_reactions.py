"""Registering reactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from . import _table
from ._gate import immortal
from ._handles import ExecutorRef, TokenRef
from ._library import ffi, lib
from ._values import destroy_object

if TYPE_CHECKING:
    from ._cancellation import Token
    from ._executors import Executor

FINALLY = 1

_reaction = ffi.typeof("vow_reaction *")
_SIZE = ffi.sizeof("vow_reaction")
_call = ffi.typeof("vow_call *")
_CALL_SIZE = ffi.sizeof("vow_call")
_labels: dict[str, Any] = {}  # the library wants them to live for ever


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


def address(pointer: Any) -> int:
    """Where a pointer of cffi's points."""
    return int(ffi.cast("uintptr_t", pointer))


def static_label(label: Optional[str]) -> Any:
    """A label as a C string that lives for ever; the same for the same text."""
    if label is None:
        return ffi.NULL
    if not isinstance(label, str):
        raise TypeError(f"{label!r} is no label: a label is a str")
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
    try:
        where = handle_of(executor)
    except TypeError:
        lib.vow_promise_release(promise)
        raise
    reaction = ffi.new(
        _reaction,
        (
            _SIZE,
            fulfilled,
            rejected,
            _table.keep(call),
            destroy,
            where,
            0 if token is None else switch_of(token),
            flags,
            ffi.NULL if label is None else static_label(label),
        ),
    )
    return int(lib.vow_then_with(promise, reaction))


def call_of(functions: Any, where: int, token: int = 0) -> Any:
    """What the library is told of functions that it calls several times: it lets go of them at the end."""
    return ffi.new(_call, (_CALL_SIZE, _table.keep(functions), destroy_object, where, token, ffi.NULL))
