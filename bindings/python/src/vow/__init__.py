"""Promises for Python, and for the C code beside it: awaited, chained, waited for."""

from ._asyncio import attach
from ._awaitables import from_awaitable
from ._calls import on_unhandled
from ._cancellation import CancelSource, Registration, Token
from ._combinators import all as all
from ._combinators import any as any
from ._combinators import map as map
from ._combinators import all_settled, as_completed, delay, race, retry, timeout
from ._errors import (
    Aggregate,
    Broken,
    Cancelled,
    Cycle,
    Deadlock,
    Error,
    Forked,
    Invalid,
    OutOfMemory,
    Reason,
    Shutdown,
    TimedOut,
    error_attempts,
    error_index,
)
from ._executors import Executor, from_futures, inline, pool, run, serial
from ._library import Pointer, version
from ._lifetime import exit_timeout, graph, stats, trace
from ._loops import Loop
from ._promise import Promise
from ._resolver import Resolver, pending, rejected, resolved
from ._scope import Scope, using

__version__ = version

# Without all, any and map, which `from vow import *` would put before Python's own.
__all__ = [
    "Aggregate",
    "Broken",
    "CancelSource",
    "Cancelled",
    "Cycle",
    "Deadlock",
    "Error",
    "Executor",
    "Forked",
    "Invalid",
    "Loop",
    "OutOfMemory",
    "Pointer",
    "Promise",
    "Reason",
    "Registration",
    "Resolver",
    "Scope",
    "Shutdown",
    "TimedOut",
    "Token",
    "all_settled",
    "as_completed",
    "attach",
    "delay",
    "error_attempts",
    "error_index",
    "exit_timeout",
    "from_awaitable",
    "from_futures",
    "graph",
    "inline",
    "on_unhandled",
    "pending",
    "pool",
    "race",
    "rejected",
    "resolved",
    "retry",
    "run",
    "serial",
    "stats",
    "timeout",
    "trace",
    "using",
]
