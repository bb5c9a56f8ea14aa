"""What handlers return and resolvers are given, as values: promises and awaitables are adopted."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import inspect
import types
from typing import Any, Optional

from . import _core
from ._above import above
from ._values import NONE, plain, to_value


def to_result(item: Any, context: Optional[contextvars.Context] = None) -> Any:
    """An owned value; an awaitable becomes a promise that follows it.

    The task of a coroutine has a copy of `context`; None: of the current one, which in a handler is
    not that of its registration.
    """
    if item is None:
        return NONE
    if isinstance(item, (asyncio.Future, concurrent.futures.Future)) or inspect.iscoroutine(item):
        if context is not None:
            return to_value(context.run(above.follow, item))
        return to_value(above.follow(item))
    return to_value(item)


_core.hooks(
    AsyncioFuture=asyncio.Future,
    ConcurrentFuture=concurrent.futures.Future,
    Coroutine=types.CoroutineType,
    follow_plain=lambda item, context: plain(to_result(item, context)),
)
