"""Finds libvow, loads it, and answers for what it has."""

from __future__ import annotations

import os
from typing import Any, Callable

from . import _core
from ._declared import ffi as ffi

_MAJOR = 0
_SONAME = f"libvow.so.{_MAJOR}"


def _candidates() -> list[str]:
    chosen = os.environ.get("VOW_LIBRARY")
    if chosen:
        return [chosen]
    bundled = os.path.join(os.path.dirname(__file__), "lib", _SONAME)
    return [bundled, _SONAME] if os.path.exists(bundled) else [_SONAME]


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
_core.load(path)


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
