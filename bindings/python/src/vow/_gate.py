"""The gate: what the library calls enters the interpreter through it, as long as that is there.

It is the small C library of gate/gate.c, which the wheel has beside libvow. Closed at the end of the
interpreter, it answers for Python: handlers reject with `Shutdown`, the rest does nothing. A source
tree has none; there the library calls Python directly, also when that is ending.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, Callable

from ._library import ffi, lib

ffi.cdef(
    """
typedef void (*vow_submit)(handle context, vow_work run, handle work);
typedef vow_value (*gate_make_error)(const char *domain, int64_t code, const char *message);

vow_handler gate_handler(unsigned number, vow_handler function);
vow_reducer gate_reducer(unsigned number, vow_reducer function);
vow_condition gate_condition(unsigned number, vow_condition function);
vow_notice gate_notice(unsigned number, vow_notice function);
vow_unhandled_hook gate_unhandled(unsigned number, vow_unhandled_hook function);
vow_progress_handler gate_progress(unsigned number, vow_progress_handler function);
vow_submit gate_submit(unsigned number, vow_submit function);
void gate_open(gate_make_error error);
void gate_close(void);
long gate_wait(long milliseconds);
void gate_forked(void);
void gate_shutdown_begin(int64_t (*function)(int64_t timeout_ns), int64_t timeout_ns);
bool gate_shutdown_wait(long milliseconds, int64_t *result);

void *malloc(size_t size);
"""
)

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


def _load() -> Any:
    path = Path(__file__).with_name("lib") / "gate.so"
    return ffi.dlopen(str(path)) if path.exists() else None


_gate = _load()
if _gate is not None:
    _gate.gate_open(lib.vow_error)

_kept: list[Any] = []
_numbers: dict[str, Any] = {}


def callback(shape: str) -> Callable[[Callable[..., Any]], Any]:
    """Makes a Python function one that the library can call: a pointer to C code."""

    def register(function: Callable[..., Any]) -> Any:
        made = ffi.callback(shape, function)
        _kept.append(made)
        if _gate is None:
            return made
        number = next(_numbers.setdefault(shape, itertools.count()))
        pointer = getattr(_gate, _ENTRANCES[shape])(number, made)
        assert pointer != ffi.NULL, "gate.c has too few entrances"
        return pointer

    return register


# Memory that is never given back: the library may read it after the interpreter has ended.
immortal: Any = ffi.new_allocator(ffi.dlopen(None).malloc)


def shut_down(timeout_ns: int) -> int:
    """Ends the library's work, and can be interrupted: the answer of vow_shutdown."""
    if _gate is None:
        return int(lib.vow_shutdown(timeout_ns))
    result = ffi.new("int64_t *")
    _gate.gate_shutdown_begin(lib.vow_shutdown, timeout_ns)
    while not _gate.gate_shutdown_wait(_SLICE, result):
        pass
    return int(result[0])


def close() -> None:
    """From now on nobody enters."""
    if _gate is not None:
        _gate.gate_close()


def wait(is_over: Callable[[], bool]) -> bool:
    """Waits until nobody is inside but this thread, or the time is over: whether nobody is."""
    if _gate is None:
        return True
    while _gate.gate_wait(_SLICE):
        if is_over():
            return False
    return True


def forked() -> None:
    """In a forked child: who was inside on other threads of the parent is not here."""
    if _gate is not None:
        _gate.gate_forked()
