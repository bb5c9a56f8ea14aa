"""Promises that follow coroutines, asyncio's futures, and those of concurrent.futures."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
from typing import Any, Awaitable, Callable, Optional, TypeVar, Union

from ._promise import Promise
from ._resolver import Resolver, pending, resolved

T = TypeVar("T")
_Future = Any  # of asyncio or concurrent.futures


def from_awaitable(
    awaitable: Union[Awaitable[T], concurrent.futures.Future[T]],
) -> Promise[T]:
    """The promise of a coroutine, task or future. Cancelling it cancels that.

    A coroutine becomes a task of the asyncio loop that is running here. A task that was cancelled
    rejects with `Cancelled`.
    """
    return follow(awaitable)


def follow(
    awaitable: Union[Awaitable[T], concurrent.futures.Future[T]],
    late: Optional[Callable[[T], Any]] = None,
) -> Promise[T]:
    """The same. A result that comes though the promise was cancelled is given to `late`."""
    if isinstance(awaitable, Promise):
        return awaitable
    if isinstance(awaitable, concurrent.futures.Future):
        return _follow(awaitable, awaitable.cancel, late)
    if isinstance(awaitable, asyncio.Future):
        return _follow(awaitable, _canceller(awaitable), late)
    if not inspect.isawaitable(awaitable):
        raise TypeError(f"from_awaitable: {awaitable!r} is not awaitable")
    if asyncio._get_running_loop() is None:
        if inspect.iscoroutine(awaitable):
            awaitable.close()
        raise RuntimeError("a coroutine can only be followed where an asyncio loop is running")
    task: asyncio.Future[T] = asyncio.ensure_future(awaitable)
    return _follow(task, _canceller(task), late)


def _canceller(future: asyncio.Future[Any]) -> Any:
    loop = future.get_loop()

    def cancel() -> None:
        if asyncio._get_running_loop() is loop:
            future.cancel()
        elif not loop.is_closed():
            loop.call_soon_threadsafe(future.cancel)

    return cancel


def _follow(future: _Future, cancel: Any, late: Any) -> Promise[Any]:
    promise, resolver = pending()
    resolver.on_cancel(cancel)
    settle = _Settle(resolver, late)
    if isinstance(future, asyncio.Future) and asyncio._get_running_loop() is not future.get_loop():
        future.get_loop().call_soon_threadsafe(future.add_done_callback, settle)
    else:
        future.add_done_callback(settle)
    return promise


class _Settle:
    """What a future calls when it is done."""

    def __init__(self, resolver: Resolver[Any], late: Any) -> None:
        self._resolver = resolver
        self._late = late

    def __call__(self, future: _Future) -> None:
        resolver = self._resolver
        if future.cancelled():
            resolver.reject(asyncio.CancelledError())
        elif future.exception() is not None:
            resolver.reject(future.exception())
        elif not resolver.resolve(future.result()) and self._late is not None:
            resolved().then(lambda _: self._late(future.result()))
        resolver.close()
