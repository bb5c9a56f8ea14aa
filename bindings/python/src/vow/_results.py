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
from ._library import lib
from ._values import NONE, plain, to_value

_CATCH = 1  # as extension/promise.c has it


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


def _follow_handling(coroutine: Any, context: contextvars.Context, error: BaseException) -> Any:
    """The promise of a coroutine that handles an error: the context of what it raises, as in `except`."""

    def failed(raised: BaseException) -> None:
        innermost = raised
        while innermost is not error and innermost.__context__ is not None:
            innermost = innermost.__context__
        if innermost is not error:
            innermost.__context__ = error
        raise raised

    followed = context.run(above.follow, coroutine)
    return followed._link(None, failed, None, _CATCH, lib.vow_executor_inline(), 0, 0)


_core.hooks(
    follow_handling=_follow_handling,
    AsyncioFuture=asyncio.Future,
    ConcurrentFuture=concurrent.futures.Future,
    Coroutine=types.CoroutineType,
    follow_plain=lambda item, context: plain(to_result(item, context)),
)
