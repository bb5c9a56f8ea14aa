"""Promises one after the other, as they settle."""

from __future__ import annotations

import collections
import time
from typing import Any, AsyncIterator, Awaitable, Generic, Iterable, Iterator, Optional, TypeVar

from . import _asyncio, _core
from ._errors import TimedOut
from ._executors import inline
from ._handles import PromiseRef, Uncopied
from ._library import lib
from ._promise import Promise, to_promise
from ._resolver import Resolver, pending
from ._time import timeout as timed

T = TypeVar("T")


class _Arrivals:
    """The promises that have settled, in their order, and who waits for the next one."""

    def __init__(self) -> None:
        self.settled: collections.deque[Promise[Any]] = collections.deque()
        self.pending: set[_Member] = set()
        self.bell: Optional[Resolver[Any]] = None


class _Member(_core.Reader):
    """One promise, until it is settled."""

    __slots__ = ("arrivals", "promise", "reaction")

    def __init__(self, arrivals: _Arrivals, promise: Promise[Any]) -> None:
        self.arrivals: Optional[_Arrivals] = arrivals
        self.promise = promise
        self.reaction: Optional[PromiseRef] = None
        arrivals.pending.add(self)
        promise._reader(self)
        self.reaction = PromiseRef(promise._wake(self, inline._ref.handle))

    def wake(self) -> None:
        arrivals, self.arrivals = self.arrivals, None
        if arrivals is not None:
            arrivals.pending.discard(self)
            arrivals.settled.append(self.promise)
            bell = arrivals.bell
            if bell is not None:
                bell.resolve()


class as_completed(Uncopied, Generic[T]):
    """The promises in the order in which they settle: with `for`, or with `async for` in a coroutine.

    `TimedOut` is raised when it takes longer than `timeout` seconds in all. The promises go on then,
    and when the loop is left early; this object reads them until it goes.
    """

    def __init__(self, promises: Iterable[Awaitable[T]], timeout: Optional[float] = None) -> None:
        self._arrivals = _Arrivals()
        _asyncio.enter()
        members = [to_promise(item, "as_completed") for item in promises]
        self._end = None if timeout is None else time.monotonic() + timeout
        self._left = len(members)
        for promise in members:
            _Member(self._arrivals, promise)

    def __del__(self) -> None:
        for member in list(self._arrivals.pending):
            member.arrivals = None
            # The last reader stays: without it nobody would want the result.
            if member.reaction is not None and member.promise._read_by_others(member):
                lib.vow_cancel(member.reaction.handle)

    def _seconds(self) -> Optional[float]:
        if self._end is None:
            return None
        left = self._end - time.monotonic()
        if left <= 0 and not self._arrivals.settled:
            raise TimedOut(f"{self._left} promises are still pending")
        return max(left, 0)

    def _ring(self) -> Promise[Any]:
        arrivals = self._arrivals
        promise, arrivals.bell = pending()
        if arrivals.settled:  # one came before the bell was there
            arrivals.bell.resolve()
        return promise

    def _next(self) -> Promise[T]:
        self._left -= 1
        return self._arrivals.settled.popleft()

    def __iter__(self) -> Iterator[Promise[T]]:
        return self

    def __next__(self) -> Promise[T]:
        if not self._left:
            raise StopIteration
        while not self._arrivals.settled:
            self._ring().wait(self._seconds())
        return self._next()

    def __aiter__(self) -> AsyncIterator[Promise[T]]:
        return self

    async def __anext__(self) -> Promise[T]:
        if not self._left:
            raise StopAsyncIteration
        while not self._arrivals.settled:
            await timed(self._ring(), self._seconds())
        return self._next()
