"""What lower modules call of higher ones: each of these puts its function in here as it is imported.

So imports go downwards only, which a test holds.
"""

from __future__ import annotations

from typing import Any, Callable


def _missing(*_arguments: Any, **_keywords: Any) -> Any:
    raise ImportError("vow: a part of the package was imported without the rest")


class _Above:
    follow: Callable[..., Any] = staticmethod(_missing)
    """Of `_awaitables`: the promise of an awaitable."""
    run: Callable[..., Any] = staticmethod(_missing)
    """Of `_running`: runs a function on an executor."""
    to_future: Callable[..., Any] = staticmethod(_missing)
    """Of `_futures`: `Promise.to_future`."""


above = _Above()
