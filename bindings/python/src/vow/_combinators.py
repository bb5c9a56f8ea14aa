"""Many promises as one."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Iterable, Optional, TypeVar, Union, overload

from . import _asyncio, _calls, _table, _values
from ._executors import Executor
from ._library import ffi, lib
from ._promise import Promise, _callable, hold_all

T = TypeVar("T")
U = TypeVar("U")
Awaitables = Iterable[Awaitable[T]]  # promises are awaitable


def _combine(function: Any, promises: Awaitables[Any], where: str, *more: Any) -> Promise[Any]:
    _asyncio.enter()
    handles = hold_all(promises, where)
    return Promise._of(function(ffi.new("handle[]", handles), len(handles), *more))


def all(promises: Awaitables[T]) -> Promise[list[T]]:
    """The list of all values; rejected as soon as one is."""
    return _combine(lib.vow_all, promises, "all")


def all_settled(promises: Awaitables[T]) -> Promise[list[Union[T, BaseException]]]:
    """When all are settled, the list of values and, for those that were rejected, exceptions."""
    return _combine(lib.vow_all_settled, promises, "all_settled")


def any(promises: Awaitables[T]) -> Promise[T]:
    """The first value; rejected with `Aggregate` when all are."""
    return _combine(lib.vow_any, promises, "any")


def some(promises: Awaitables[T], wanted: int) -> Promise[list[T]]:
    """The first `wanted` values; rejected with `Aggregate` when there cannot be so many."""
    if wanted < 0:
        raise ValueError(f"some: {wanted} wanted")
    return _combine(lib.vow_some, promises, "some", wanted)


def race(promises: Awaitables[T]) -> Promise[T]:
    """Settles as the first one to settle does."""
    return _combine(lib.vow_race, promises, "race")


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
    if concurrency < 0:
        raise ValueError(f"map: a concurrency of {concurrency}")
    if executor is not None:
        return executor.run(map, list(items), fn, concurrency)
    _asyncio.enter()
    number = _calls.keep_call(fn)
    result = lib.vow_map(_values.to_list(items), _calls.on_item, number, concurrency)
    return Promise._kept(result, number)


def reduce(
    promises: Awaitables[T],
    fn: Callable[[Any, T], Any],
    initial: Any = None,
    executor: Optional[Executor] = None,
) -> Promise[Any]:
    """Waits for each in turn: `fn(accumulated, value)`, at first with `initial`."""
    _callable(fn, "reduce")
    if executor is not None:
        return executor.run(reduce, list(promises), fn, initial)
    _asyncio.enter()
    handles = hold_all(promises, "reduce")
    number = _table.keep(_calls.Call(fn))
    array = ffi.new("handle[]", handles)
    start = _values.to_value(initial)
    result = lib.vow_reduce(array, len(handles), start, _calls.on_reduce, number)
    return Promise._kept(result, number)


def repeat(
    state: T,
    again: Callable[[T], bool],
    step: Union[Callable[[T], Awaitable[T]], Callable[[T], T]],
    executor: Optional[Executor] = None,
) -> Promise[T]:
    """While `again(state)`, the state becomes the result of `step(state)`; the last state.

    In constant memory, however often. An `again` that raises rejects.
    """
    _callable(again, "repeat")
    _callable(step, "repeat")
    if executor is not None:
        return executor.run(repeat, state, again, step)
    _asyncio.enter()
    number = _table.keep(_calls.Repeat(step, again))
    start = _values.to_value(state)
    result = lib.vow_repeat(start, _calls.on_again, _calls.on_step, number)
    return Promise._kept(result, number)
