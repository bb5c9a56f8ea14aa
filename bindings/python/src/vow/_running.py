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
    from typing_extensions import ParamSpec

    P = ParamSpec("P")
T = TypeVar("T")


@overload
def run(fn: Callable[P, Awaitable[T]], /, *args: P.args, **keywords: P.kwargs) -> Promise[T]: ...


@overload
def run(fn: Callable[P, T], /, *args: P.args, **keywords: P.kwargs) -> Promise[T]: ...


def run(fn: Callable[..., Any], /, *args: Any, **keywords: Any) -> Promise[Any]:
    """Runs `fn(*args)` later; the promise of what it returns.

    On asyncio's thread where asyncio is running, in a handler on that handler's executor, elsewhere
    on the pool; `executor.run` says where.
    """
    return _run(None, fn, args, keywords)


def _run(
    executor: Optional[Executor], fn: Callable[..., Any], args: Any, keywords: Any
) -> Promise[Any]:
    _callable(fn, "run")
    _asyncio.enter()
    if args or keywords:
        fn = functools.partial(fn, *args, **keywords)
    begin = lib.vow_promise_with(NONE)
    call = _calls.Call(fn)
    return Promise._of(link(begin, call, _calls.on_settled, ffi.NULL, executor=executor))


above.run = _run
