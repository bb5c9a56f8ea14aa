"""Delays, time-outs, retries, descriptors."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Optional, TypeVar, overload

from . import _asyncio, _calls, _table
from ._executors import Executor
from ._library import ffi, lib
from ._promise import Promise, _callable, to_promise
from ._waiting import nanoseconds

T = TypeVar("T")

_READ, _WRITE = 1, 2


def now() -> float:
    """The monotonic clock that a delay made here goes by, in seconds."""
    _asyncio.enter()
    return float(lib.vow_now()) / 1e9


def delay(seconds: float, value: Optional[T] = None) -> Promise[Any]:
    """A promise that is fulfilled with `value` after so many seconds. Cancelled: the timer is gone."""
    _asyncio.enter()
    promise: Promise[Any] = Promise._of(lib.vow_delay(nanoseconds(seconds, "delay")))
    return promise if value is None else promise.then(lambda nothing: value)


def timeout(promise: Awaitable[T], seconds: Optional[float]) -> Promise[T]:
    """A promise of the same outcome, or of `TimedOut` when it takes longer than so many seconds.

    Then what it waited for is cancelled, unless somebody else reads or holds it.
    """
    limit = nanoseconds(seconds, "timeout")
    _asyncio.enter()
    return Promise._of(lib.vow_timeout(to_promise(promise, "timeout")._hold_for_good(), limit))


def fd_ready(fd: Any, read: bool = True, write: bool = False) -> Promise[tuple[bool, bool]]:
    """A promise of (readable, writable), once the descriptor or file can be read or written."""
    number = fd if isinstance(fd, int) else fd.fileno()
    events = _READ * read | _WRITE * write
    _asyncio.enter()
    ready: Promise[int] = Promise._of(lib.vow_fd_ready(number, events))
    return ready.then(lambda there: (bool(there & _READ), bool(there & _WRITE)))


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
    if executor is not None:
        return executor.run(
            retry, fn, attempts, first_delay, factor, max_delay, jitter, deadline, may_retry
        )
    policy = ffi.new("vow_retry_policy *")
    policy.size = ffi.sizeof("vow_retry_policy")
    policy.attempts = attempts
    policy.first_delay_ns = nanoseconds(first_delay, "retry")
    policy.factor = factor
    policy.max_delay_ns = nanoseconds(max_delay, "retry")
    policy.jitter = jitter
    policy.deadline_ns = 0 if deadline is None else nanoseconds(deadline, "retry")
    if may_retry is not None:
        _callable(may_retry, "retry")
        policy.may_retry = _calls.on_condition
    _asyncio.enter()
    number = _table.keep(_calls.Call(fn, may_retry))
    return Promise._kept(lib.vow_retry(policy, _calls.on_item, number), number)
