"""What handlers return and resolvers are given: promises and awaitables are adopted."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import types
from typing import Any, Optional

from . import _core
from ._above import above
from ._library import lib
from ._reactions import CATCH


def _follow(item: Any, context: Optional[contextvars.Context]) -> Any:
    """The promise of an awaitable.

    The task of a coroutine has a copy of `context`; None: of the current one, which in a handler is
    not that of its registration.
    """
    if context is None:
        return above.follow(item)
    return context.run(above.follow, item)


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
    return followed._link(None, failed, None, CATCH, lib.vow_executor_inline(), 0, 0)


_core.hooks(
    follow=_follow,
    follow_handling=_follow_handling,
    AsyncioFuture=asyncio.Future,
    ConcurrentFuture=concurrent.futures.Future,
    Coroutine=types.CoroutineType,
)
