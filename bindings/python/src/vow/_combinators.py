"""Many promises as one."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Iterable, Optional, TypeVar, Union, overload

from . import _asyncio, _core
from ._executors import Executor
from ._promise import Promise, _callable
from ._reactions import handle_of

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
