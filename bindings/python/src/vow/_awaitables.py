"""Coroutines and futures as promises: given to the package, or returned by handlers."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import inspect
import types
from typing import Any, Awaitable, Callable, Optional, TypeVar, Union

from . import _core
from ._asyncio import cancelling
from ._calls import tell
from ._elsewhere import local
from ._errors import check
from ._executors import CATCH
from ._library import lib
from ._promise import Promise
from ._resolver import Resolver, resolved

T = TypeVar("T")

_Future = Any  # of asyncio or concurrent.futures


def from_awaitable(
    awaitable: Union[Awaitable[T], concurrent.futures.Future[T]],
) -> Promise[T]:
    """The promise of a coroutine, task or future. Cancelling it cancels that.

    A coroutine becomes a task of the asyncio loop that is running here, and goes on when nobody has
    the promise any more. A task that was cancelled rejects with `Cancelled`.
    """
    return follow(awaitable)


def follow(
    awaitable: Union[Awaitable[T], concurrent.futures.Future[T]],
    late: Optional[Callable[[T], Any]] = None,
) -> Promise[T]:
    """The same. A result that comes though the promise was cancelled is given to `late`."""
    if type(awaitable) is types.CoroutineType:
        loop = asyncio._get_running_loop()
        if loop is not None:  # as mostly
            promise, following = _made(loop.create_task(awaitable), late, True)
            following.future.add_done_callback(following)
            return promise
    if isinstance(awaitable, Promise):
        return awaitable
    if isinstance(awaitable, concurrent.futures.Future):
        return _follow(awaitable, late)
    if isinstance(awaitable, asyncio.Future):
        return _follow(awaitable, late)
    if not inspect.isawaitable(awaitable):
        raise TypeError(f"from_awaitable: {awaitable!r} is not awaitable")
    if asyncio._get_running_loop() is None:
        if inspect.iscoroutine(awaitable):
            if local.follow is not None:
                return local.follow(awaitable, late, False)
            awaitable.close()
        raise RuntimeError(
            "a coroutine can only be followed where an asyncio loop is running, or vow.trio is attached"
        )
    task: asyncio.Future[T] = asyncio.ensure_future(awaitable)
    return _follow(task, late, True)


def _made(
    future: _Future, late: Optional[Callable[[Any], Any]], is_own: bool
) -> tuple[Promise[Any], _Following]:
    """What is cancelled settles when the future is done; what fails then is told."""
    promise, resolver = _core.following(is_own)
    following = _Following(future, resolver, late)
    check(resolver._on_cancel(following.cancel), "from_awaitable")
    return promise, following


def _follow(
    future: _Future, late: Optional[Callable[[Any], Any]], is_own: bool = False
) -> Promise[Any]:
    promise, following = _made(future, late, is_own)
    if isinstance(future, asyncio.Future) and asyncio._get_running_loop() is not future.get_loop():
        future.get_loop().call_soon_threadsafe(future.add_done_callback, following)
    else:
        future.add_done_callback(following)
    return promise


class _Following:
    """Settles a promise as its future ends: the future calls it."""

    __slots__ = ("_had_ended", "_late", "_resolver", "future")

    def __init__(
        self, future: _Future, resolver: Resolver[Any], late: Optional[Callable[[Any], Any]]
    ) -> None:
        self.future = future
        self._resolver = resolver
        self._late = late
        self._had_ended = False  # when it was asked to end

    def cancel(self) -> None:
        """Asks the future to end."""
        future = self.future
        if isinstance(future, concurrent.futures.Future):
            self._ask()
            return
        loop = future.get_loop()
        if loop.is_closed():  # it will never end
            self._resolver.reject(asyncio.CancelledError())
        elif asyncio._get_running_loop() is loop:
            self._ask()
            if cancelling.asked is not None:
                cancelling.asked.append(future)
        else:
            loop.call_soon_threadsafe(self._ask)

    def _ask(self) -> None:
        self._had_ended = self.future.done()
        self.future.cancel()

    def __call__(self, future: _Future) -> None:
        resolver = self._resolver
        if future.cancelled():
            resolver.reject(asyncio.CancelledError())
        elif future.exception() is not None:
            error = future.exception()
            if not resolver.reject(error) and not self._had_ended:
                tell(error)  # it was cancelled, and its clean-up failed
            del error
        elif not resolver.resolve(future.result()) and self._late is not None:
            late, item = self._late, future.result()
            resolved().then(lambda _: late(item))
        resolver.close()


def to_promise(item: Any, where: str) -> Promise[Any]:
    """A promise itself, or the promise of an awaitable."""
    if isinstance(item, Promise):
        return item
    try:
        return follow(item)
    except TypeError:
        raise TypeError(f"{where}: {item!r} is neither a promise nor an awaitable") from None


def _adopted(item: Any, context: Optional[contextvars.Context]) -> Any:
    """The promise of an awaitable.

    The task of a coroutine has a copy of `context`; None: of the current one, which in a handler is
    not that of its registration.
    """
    if context is None:
        return follow(item)
    return context.run(follow, item)


def _follow_handling(coroutine: Any, context: contextvars.Context, error: BaseException) -> Any:
    """The promise of a coroutine that handles an error: the context of what it raises, as in `except`."""

    def failed(raised: BaseException) -> None:
        innermost = raised
        while innermost is not error and innermost.__context__ is not None:
            innermost = innermost.__context__
        if innermost is not error:
            innermost.__context__ = error
        raise raised

    followed = context.run(follow, coroutine)
    return followed._link(None, failed, None, CATCH, lib.vow_executor_inline(), 0, 0)


_core.hooks(
    to_promise=to_promise,
    follow=_adopted,
    follow_handling=_follow_handling,
    AsyncioFuture=asyncio.Future,
    ConcurrentFuture=concurrent.futures.Future,
    Coroutine=types.CoroutineType,
)
