"""Finds libvow, loads it, and answers for what it has."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, Callable

import cffi

from ._declarations import DECLARATIONS, NEWER_DECLARATIONS

_MAJOR = 0
_SONAME = f"libvow.so.{_MAJOR}"

ffi: Any = cffi.FFI()
ffi.cdef(DECLARATIONS)
ffi.cdef(NEWER_DECLARATIONS)


def _refuse_subinterpreters() -> None:
    """The library calls one interpreter; the end of another must not end it for all."""
    get, main = ctypes.pythonapi.PyInterpreterState_Get, ctypes.pythonapi.PyInterpreterState_Main
    get.restype = main.restype = ctypes.c_void_p
    if get() != main():
        raise ImportError("vow: only the main interpreter can use it, not a subinterpreter")


_refuse_subinterpreters()


def _candidates() -> list[str]:
    chosen = os.environ.get("VOW_LIBRARY")
    if chosen:
        return [chosen]
    bundled = Path(__file__).with_name("lib") / _SONAME
    return [str(bundled), _SONAME] if bundled.exists() else [_SONAME]


def _load() -> tuple[Any, str]:
    path = _candidates()[0]
    try:
        return ffi.dlopen(path), path
    except OSError as reason:
        raise ImportError(
            f"vow: cannot load {path}: {reason}; install the wheel, which has the library inside, "
            "or name the library in VOW_LIBRARY"
        ) from None


lib, path = _load()

try:
    _number: int = lib.vow_version()
except AttributeError:
    raise ImportError(f"vow: {path} is no libvow: it has no vow_version") from None
version = f"{_number >> 16}.{_number >> 8 & 255}.{_number & 255}"
if _number >> 16 != _MAJOR:
    raise ImportError(f"vow: {path} is version {version}; this package is for version {_MAJOR}")


def newer(name: str) -> Callable[..., Any]:
    """A function that older libraries lack."""
    try:
        function: Callable[..., Any] = getattr(lib, name)
    except AttributeError:
        raise NotImplementedError(
            f"the library {path}, version {version}, has no {name}; a newer one has"
        ) from None
    return function


def has(name: str) -> bool:
    """Whether the library has a function."""
    return hasattr(lib, name)
