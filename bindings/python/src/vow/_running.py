"""Running a function on an executor."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Optional, TypeVar, overload

from . import _core
from ._above import above
from ._executors import Executor
from ._promise import Promise, _callable
from ._reactions import RUN, handle_of

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
    if args or keywords:
        fn = functools.partial(fn, *args, **keywords)
    where = handle_of(executor)
    return _core.resolved(None)._link(fn, None, None, RUN, where, 0, 0)  # type: ignore[no-any-return]


above.run = _run
