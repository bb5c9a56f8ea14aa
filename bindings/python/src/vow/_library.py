"""Finds libvow, and has the extension load it."""

from __future__ import annotations

import os
from typing import Any

from . import _core

_MAJOR = 0
_SONAME = f"libvow.so.{_MAJOR}"


def _candidate() -> str:
    chosen = os.environ.get("VOW_LIBRARY")
    if chosen:
        return chosen
    bundled = os.path.join(os.path.dirname(__file__), "lib", _SONAME)
    return bundled if os.path.exists(bundled) else _SONAME


def _load() -> str:
    path = _candidate()
    try:
        number = _core.load(path)
    except ImportError as reason:
        raise ImportError(
            f"vow: cannot load {path}: {reason}; install the wheel, which has the library inside, "
            "or name the library in VOW_LIBRARY"
        ) from None
    version = f"{number >> 16}.{number >> 8 & 255}.{number & 255}"
    if number >> 16 != _MAJOR:
        raise ImportError(f"vow: {path} is version {version}; this package is for version {_MAJOR}")
    return version


version = _load()

lib: Any = _core
"""The functions of the header that this package calls, as extension/generate makes them."""
