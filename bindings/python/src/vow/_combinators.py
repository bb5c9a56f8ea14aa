"""Many promises as one, one after the other, later, in time, or again."""

from __future__ import annotations

import collections
import time
from typing import (
    Any,
    AsyncIterator,
    Awaitable,
    Callable,
    Generic,
    Iterable,
    Iterator,
    Optional,
    TypeVar,
    Union,
    overload,
)

from . import _asyncio, _core
from ._awaitables import to_promise
from ._errors import TimedOut
from ._executors import Executor, handle_of, inline
from ._library import PromiseRef, Ref, Uncopied, lib, nanoseconds
from ._promise import Promise, _callable
from ._resolver import Resolver, pending

T = TypeVar("T")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
T3 = TypeVar("T3")
T4 = TypeVar("T4")
T5 = TypeVar("T5")
U = TypeVar("U")

Awaitables = Iterable[Awaitable[T]]  # promises are awaitable


_ALL, _ALL_SETTLED, _ANY, _RACE = range(4)  # as extension/resolver.c has them


def _combine(kind: int, promises: Awaitables[Any], where: str) -> Promise[Any]:
    return _core.combine(kind, promises, where)  # type: ignore[no-any-return]


@overload
def all(  # type: ignore[overload-overlap]
    promises: tuple[Awaitable[T1], Awaitable[T2]], /
) -> Promise[tuple[T1, T2]]: ...


@overload
def all(  # type: ignore[overload-overlap]
    promises: tuple[Awaitable[T1], Awaitable[T2], Awaitable[T3]], /
) -> Promise[tuple[T1, T2, T3]]: ...


@overload
def all(  # type: ignore[overload-overlap]
    promises: tuple[Awaitable[T1], Awaitable[T2], Awaitable[T3], Awaitable[T4]], /
) -> Promise[tuple[T1, T2, T3, T4]]: ...


@overload
def all(  # type: ignore[overload-overlap]
    promises: tuple[Awaitable[T1], Awaitable[T2], Awaitable[T3], Awaitable[T4], Awaitable[T5]], /
) -> Promise[tuple[T1, T2, T3, T4, T5]]: ...


@overload
def all(promises: Awaitables[T]) -> Promise[list[T]]: ...


def all(promises: Awaitables[Any]) -> Promise[Any]:
    """The list of all values; rejected as soon as one is.

    For type checkers, up to five promises in a tuple have a tuple of values, to be unpacked.
    """
    return _combine(_ALL, promises, "all")


def all_settled(promises: Awaitables[T]) -> Promise[list[Union[T, BaseException]]]:
    """When all are settled, the list of values and, for those that were rejected, exceptions."""
    return _combine(_ALL_SETTLED, promises, "all_settled")


def any(promises: Awaitables[T]) -> Promise[T]:
    """The first value; rejected with `Aggregate` when all are."""
    return _combine(_ANY, promises, "any")


def race(promises: Awaitables[T]) -> Promise[T]:
    """Settles as the first one to settle does."""
    return _combine(_RACE, promises, "race")


@overload
def map(
    items: Iterable[T],
    fn: Callable[[T], Awaitable[U]],
    concurrency: int = ...,
    executor: Optional[Executor] = ...,
) -> Promise[list[U]]: ...


@overload
def map(
    items: Iterable[T],
    fn: Callable[[T], U],
    concurrency: int = ...,
    executor: Optional[Executor] = ...,
) -> Promise[list[U]]: ...


def map(
    items: Iterable[Any],
    fn: Callable[[Any], Any],
    concurrency: int = 0,
    executor: Optional[Executor] = None,
) -> Promise[list[Any]]:
    """The list of what `fn` makes of each item, at most `concurrency` at a time (0: all)."""
    _callable(fn, "map")
    where = handle_of(executor)
    if concurrency < 0:
        raise ValueError(f"map: a concurrency of {concurrency}")
    _asyncio.enter()
    return _core.map(items, (_core.Call(fn), where, 0), concurrency)  # type: ignore[no-any-return]


@overload
def delay(seconds: float) -> Promise[None]: ...


@overload
def delay(seconds: float, value: T) -> Promise[T]: ...


def delay(seconds: float, value: Optional[Any] = None) -> Promise[Any]:
    """A promise that is fulfilled with `value` after so many seconds. Cancelled: the timer is gone."""
    _asyncio.enter()
    promise: Promise[Any] = Promise._of(lib.vow_delay(nanoseconds(seconds, "delay")))
    return promise if value is None else promise.then(lambda nothing: value)


def timeout(promise: Awaitable[T], seconds: Optional[float], *, prompt: bool = False) -> Promise[T]:
    """A promise of the same outcome, or of `TimedOut` when it takes longer than so many seconds.

    Then what it waited for is cancelled, unless somebody else reads or holds it, and waited for: it
    settles when the coroutine or handler behind it has ended, as `asyncio.wait_for` does. With
    `prompt` at once; that ends in its own time, which is for handlers that block a thread.
    """
    limit = nanoseconds(seconds, "timeout")
    is_prompt = prompt or seconds is None
    return _core.timed(to_promise(promise, "timeout"), limit, is_prompt)  # type: ignore[no-any-return]


@overload
def retry(
    fn: Callable[[int], Awaitable[T]],
    attempts: int = ...,
    first_delay: float = ...,
    factor: float = ...,
    max_delay: float = ...,
    jitter: float = ...,
    deadline: Optional[float] = ...,
    may_retry: Optional[Callable[[BaseException], bool]] = ...,
    executor: Optional[Executor] = ...,
) -> Promise[T]: ...


@overload
def retry(
    fn: Callable[[int], T],
    attempts: int = ...,
    first_delay: float = ...,
    factor: float = ...,
    max_delay: float = ...,
    jitter: float = ...,
    deadline: Optional[float] = ...,
    may_retry: Optional[Callable[[BaseException], bool]] = ...,
    executor: Optional[Executor] = ...,
) -> Promise[T]: ...


def retry(
    fn: Callable[[int], Any],
    attempts: int = 3,
    first_delay: float = 0.0,
    factor: float = 2.0,
    max_delay: float = 3600.0,
    jitter: float = 0.0,
    deadline: Optional[float] = None,
    may_retry: Optional[Callable[[BaseException], bool]] = None,
    executor: Optional[Executor] = None,
) -> Promise[Any]:
    """Runs `fn(attempt)`, from 1, until the promise of its result is fulfilled.

    At most `attempts` times (0: without a bound), `first_delay` seconds apart, then `factor` times
    as long each time, up to `max_delay`; `jitter`, from 0 to 1, is how much of it is left to chance.
    Rejected with the last exception, or with `TimedOut` at the `deadline`; `error_attempts` of it
    says how many there were.
    """
    _callable(fn, "retry")
    if not isinstance(attempts, int):
        raise TypeError(f"retry: {attempts!r} is no number of attempts")
    if attempts < 0:
        raise ValueError(f"retry: {attempts} attempts")
    where = handle_of(executor)
    if may_retry is not None:
        _callable(may_retry, "retry")
    _asyncio.enter()
    return _core.retry(  # type: ignore[no-any-return]
        (_core.Call(fn, may_retry), where, 0),
        may_retry is not None,
        attempts,
        nanoseconds(first_delay, "retry"),
        factor,
        nanoseconds(max_delay, "retry"),
        jitter,
        0 if deadline is None else nanoseconds(deadline, "retry"),
    )


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
        self.reaction: Optional[Ref] = None
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
            await timeout(self._ring(), self._seconds())
        return self._next()
