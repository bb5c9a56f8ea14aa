"""One value that travels along a chain, for C code too. Context variables travel by themselves."""

from __future__ import annotations

from typing import Any

from . import _asyncio, _values
from ._library import lib


def set_context(value: Any) -> None:
    """Sets the context from here on: until the running handler returns, or on this thread."""
    _asyncio.enter()
    lib.vow_context_set(_values.to_value(value))


def get_context() -> Any:
    """The context here and now; None: none."""
    return _values.from_value(lib.vow_context_get())
