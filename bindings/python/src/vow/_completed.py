"""Promises one after the other, as they settle."""

from __future__ import annotations

import collections
import time
from typing import Any, AsyncIterator, Awaitable, Generic, Iterable, Iterator, Optional, TypeVar

from . import _asyncio, _core
from ._errors import TimedOut
from ._executors import inline
from ._handles import PromiseRef, Uncopied
from ._promise import Promise, to_promise
from ._resolver import Resolver, pending
from ._time import timeout as timed

T = TypeVar("T")


class _Member(_core.Reader):
    """One promise, until it is settled."""

    __slots__ = ("owner", "promise")

    def __init__(self, owner: as_completed[Any], promise: Promise[Any]) -> None:
        self.owner: Optional[as_completed[Any]] = owner
        self.promise = promise

    def wake(self) -> None:
        owner, self.owner = self.owner, None
        if owner is not None:
            owner._add(self.promise)


class as_completed(Uncopied, Generic[T]):
    """The promises in the order in which they settle: with `for`, or with `async for` in a coroutine.

    `TimedOut` is raised when it takes longer than `timeout` seconds in all; they go on.
    """

    def __init__(self, promises: Iterable[Awaitable[T]], timeout: Optional[float] = None) -> None:
        _asyncio.enter()
        members = [to_promise(item, "as_completed") for item in promises]
        self._end = None if timeout is None else time.monotonic() + timeout
        self._settled: collections.deque[Promise[T]] = collections.deque()
        self._bell: Optional[Resolver[Any]] = None
        self._left = len(members)
        for promise in members:
            member = _Member(self, promise)
            promise._reader(member)
            PromiseRef(promise._wake(member, inline._ref.handle))

    def _add(self, promise: Promise[T]) -> None:
        self._settled.append(promise)
        bell = self._bell
        if bell is not None:
            bell.resolve()

    def _seconds(self) -> Optional[float]:
        if self._end is None:
            return None
        left = self._end - time.monotonic()
        if left <= 0 and not self._settled:
            raise TimedOut(f"{self._left} promises are still pending")
        return max(left, 0)

    def _ring(self) -> Promise[Any]:
        promise, self._bell = pending()
        if self._settled:  # one came before the bell was there
            self._bell.resolve()
        return promise

    def __iter__(self) -> Iterator[Promise[T]]:
        while self._left:
            while not self._settled:
                self._ring().wait(self._seconds())
            self._left -= 1
            yield self._settled.popleft()

    async def __aiter__(self) -> AsyncIterator[Promise[T]]:
        while self._left:
            while not self._settled:
                await timed(self._ring(), self._seconds())
            self._left -= 1
            yield self._settled.popleft()
