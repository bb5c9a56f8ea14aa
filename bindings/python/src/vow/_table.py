"""Python objects that the library holds on to, each under a number that is never used again.

A number that is no longer in the table means "gone", so a late call of the library finds nothing
rather than freed memory. Taking and giving are single operations on a dict, which are atomic.
"""

from __future__ import annotations

import itertools
import sys
import threading
from typing import Any, Callable

_objects: dict[int, Any] = {}
_numbers = itertools.count(1)
_next: Callable[[], int] = _numbers.__next__

if not getattr(sys, "_is_gil_enabled", lambda: True)():  # itertools.count is not atomic there
    _lock = threading.Lock()

    def _next_locked() -> int:
        with _lock:
            return next(_numbers)

    _next = _next_locked


def keep(item: Any) -> int:
    """Keeps an object until `drop`; the number is what the library gets as context or pointer."""
    number = _next()
    _objects[number] = item
    return number


find: Callable[[int], Any] = _objects.get


def drop(number: int) -> None:
    """Lets go of an object."""
    _objects.pop(number, None)


def take(number: int) -> Any:
    """Lets go of an object, and returns it; None: gone."""
    return _objects.pop(number, None)


def count() -> int:
    """How many objects the library holds."""
    return len(_objects)
