"""Running a function on an executor."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Optional, TypeVar, overload

from . import _asyncio, _calls
from ._above import above
from ._executors import Executor
from ._library import ffi, lib
from ._promise import Promise, _callable
from ._reactions import link
from ._values import NONE

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, TypeVarTuple, Unpack

    P = ParamSpec("P")
    Ts = TypeVarTuple("Ts")
T = TypeVar("T")


# With an executor only positional arguments are checked: see Executor.run.


@overload
def run(fn: Callable[P, Awaitable[T]], /, *args: P.args, **keywords: P.kwargs) -> Promise[T]: ...


@overload
def run(fn: Callable[P, T], /, *args: P.args, **keywords: P.kwargs) -> Promise[T]: ...


@overload
def run(
    fn: Callable[[Unpack[Ts]], Awaitable[T]], /, *args: Unpack[Ts], executor: Optional[Executor]
) -> Promise[T]: ...


@overload
def run(
    fn: Callable[[Unpack[Ts]], T], /, *args: Unpack[Ts], executor: Optional[Executor]
) -> Promise[T]: ...


def run(  # type: ignore[misc]
    fn: Callable[..., Any], /, *args: Any, executor: Optional[Executor] = None, **keywords: Any
) -> Promise[Any]:
    """Runs `fn(*args)` on an executor, later; the promise of what it returns.

    Without one: asyncio's thread where asyncio is running, in a handler that handler's executor,
    elsewhere the pool.
    """
    _callable(fn, "run")
    _asyncio.enter()
    if args or keywords:
        fn = functools.partial(fn, *args, **keywords)
    begin = lib.vow_promise_with(NONE)
    call = _calls.Call(fn)
    return Promise._of(link(begin, call, _calls.on_settled, ffi.NULL, executor=executor))


def current() -> Executor:
    """The executor that a handler registered here and now would run on."""
    _asyncio.enter()
    return Executor._borrowed(lib.vow_executor_retain(lib.vow_executor_current()), name="current")


above.run = run
