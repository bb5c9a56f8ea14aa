"""The gate: what the library calls enters the interpreter through it, as long as that is there.

It is extension/gate.c. Closed at the end of the interpreter, it answers for Python: handlers
reject with `Shutdown`, the rest does nothing.
"""

from __future__ import annotations

import itertools
from typing import Any, Callable

from . import _core
from ._library import ffi, lib


_ENTRANCES = {
    "vow_handler": "gate_handler",
    "vow_reducer": "gate_reducer",
    "vow_condition": "gate_condition",
    "vow_notice": "gate_notice",
    "vow_unhandled_hook": "gate_unhandled",
    "vow_progress_handler": "gate_progress",
    "vow_submit": "gate_submit",
}

_SLICE = 20  # milliseconds, between looks for signals


_gate = ffi.dlopen(_core.__file__)
_gate.gate_open(lib.vow_error)

_kept: list[Any] = []
_numbers: dict[str, Any] = {}


def callback(shape: str) -> Callable[[Callable[..., Any]], Any]:
    """Makes a Python function one that the library can call: a pointer to C code."""

    def register(function: Callable[..., Any]) -> Any:
        made = ffi.callback(shape, function)
        _kept.append(made)
        number = next(_numbers.setdefault(shape, itertools.count()))
        pointer = getattr(_gate, _ENTRANCES[shape])(number, made)
        assert pointer != ffi.NULL, "gate.c has too few entrances"
        return pointer

    return register


@ffi.callback("nothing")  # type: ignore[untyped-decorator]
def _keep_thread_state() -> None:
    """What a thread of C calls first: cffi keeps Python's state of it for as long as it lives."""


_core.hooks(keep_thread_state=int(ffi.cast("uintptr_t", _keep_thread_state)))

# Memory that is never given back: the library may read it after the interpreter has ended.
immortal: Any = ffi.new_allocator(ffi.dlopen(None).malloc)


def shut_down(timeout_ns: int) -> int:
    """Ends the library's work, and can be interrupted: the answer of vow_shutdown."""
    result = ffi.new("int64_t *")
    _gate.gate_shutdown_begin(lib.vow_shutdown, timeout_ns)
    while not _gate.gate_shutdown_wait(_SLICE, result):
        pass
    return int(result[0])


def close() -> None:
    """From now on nobody enters."""
    _gate.gate_close()


def wait(is_over: Callable[[], bool]) -> bool:
    """Waits until nobody is inside but this thread, or the time is over: whether nobody is."""
    while _gate.gate_wait(_SLICE):
        if is_over():
            return False
    return True


def forked() -> None:
    """In a forked child: who was inside on other threads of the parent is not here."""
    _gate.gate_forked()
    _core.forked()
