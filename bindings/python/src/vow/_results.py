"""What handlers return and resolvers are given, as values: promises and awaitables are adopted."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
from typing import Any

from ._values import NONE, to_value


def to_result(item: Any) -> Any:
    """An owned value; an awaitable becomes a promise that follows it."""
    if item is None:
        return NONE
    if isinstance(item, (asyncio.Future, concurrent.futures.Future)) or inspect.iscoroutine(item):
        from ._awaitables import from_awaitable

        return to_value(from_awaitable(item))
    return to_value(item)
