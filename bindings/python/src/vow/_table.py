"""Python objects that the library holds on to, each by its address, until it destroys them."""

from __future__ import annotations

from ._core import find, keep, kept

__all__ = ["count", "find", "keep"]


def count() -> int:
    """How many objects the library holds."""
    return kept()
