"""Delays, time-outs, retries, descriptors."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Optional, TypeVar, overload

from . import _asyncio, _core
from ._executors import Executor
from ._library import lib
from ._promise import Promise, _callable, to_promise
from ._reactions import handle_of
from ._seconds import nanoseconds

T = TypeVar("T")

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
