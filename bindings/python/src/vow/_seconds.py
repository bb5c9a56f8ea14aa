"""Seconds, as programs give them, and nanoseconds, as the library counts."""

from __future__ import annotations

import math
from typing import Optional

FOREVER = -1
_LONGEST = (1 << 63) - 1


def nanoseconds(seconds: Optional[float], what: str) -> int:
    """Seconds as the library counts; None: for ever."""
    if seconds is None:
        return FOREVER
    if not isinstance(seconds, (int, float)) or math.isnan(seconds):
        raise TypeError(f"{what}: {seconds!r} is no number of seconds")
    if seconds < 0:
        raise ValueError(f"{what}: {seconds!r} seconds is negative")
    return int(min(seconds * 1e9, _LONGEST))
