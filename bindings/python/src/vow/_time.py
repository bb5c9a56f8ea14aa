"""Delays, time-outs, retries, descriptors."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Optional, TypeVar, overload

from . import _asyncio, _calls, _table
from ._errors import Cancelled
from ._executors import Executor, inline
from ._gate import callback
from ._handles import PromiseRef, ResolverRef
from ._library import ffi, lib
from ._promise import Promise, _callable, to_promise
from ._reactions import FINALLY, call_of, handle_of, link
from ._unhandled import tell
from ._values import NONE, from_error, is_error
from ._seconds import nanoseconds
from ._wakes import wake_when_gone

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


class _Ended:
    """That a promise has settled, as a promise of its own."""

    __slots__ = ("is_late", "promise", "resolver")

    def __init__(self) -> None:
        self.is_late = False  # the time was up before
        out = ffi.new("handle *")
        self.promise = PromiseRef(lib.vow_promise_create(out))
        self.resolver = ResolverRef(out[0])

    def wake(self) -> None:
        lib.vow_resolve(self.resolver.handle, NONE)


@callback("vow_handler")
def _on_end(value: Any, number: int) -> Any:
    ended = _table.find(number)
    if ended is not None:
        if ended.is_late and is_error(value):
            error = from_error(value)
            if not isinstance(error, Cancelled):
                tell(error)
        ended.wake()
    return NONE


@callback("vow_handler")
def _until_ended(value: Any, number: int) -> Any:
    ended = _table.find(number)
    if ended is None:
        return NONE
    ended.is_late = True
    # Shielded: who cancels the whole waits as well.
    promise = lib.vow_promise_retain(ended.promise.handle)
    return lib.vow_from_promise(lib.vow_shield(promise))


def timeout(promise: Awaitable[T], seconds: Optional[float], *, prompt: bool = False) -> Promise[T]:
    """A promise of the same outcome, or of `TimedOut` when it takes longer than so many seconds.

    Then what it waited for is cancelled, unless somebody else reads or holds it, and waited for: it
    settles when the coroutine or handler behind it has ended, as `asyncio.wait_for` does. With
    `prompt` at once; that ends in its own time, which is for handlers that block a thread.
    """
    limit = nanoseconds(seconds, "timeout")
    _asyncio.enter()
    handle = to_promise(promise, "timeout")._hold_for_good()
    if prompt or seconds is None:
        return Promise._of(lib.vow_timeout(handle, limit))
    ended = _Ended()
    watched = link(handle, ended, _on_end, _on_end, FINALLY, inline, destroy=wake_when_gone)
    timed = lib.vow_timeout(watched, limit)
    return Promise._of(link(timed, ended, _until_ended, _until_ended, FINALLY, inline))


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
    call = call_of(_calls.Call(fn, may_retry), where)
    return Promise._of(lib.vow_retry_with(policy, _calls.on_item, call))


