"""Promises for Python, and for the C code beside it: awaited, chained, waited for.

import asyncio, vow

async def main():
    promise, resolver = vow.pending()
    answer = promise.then(lambda x: x + 1)
    resolver.resolve(41)
    print(await answer)

asyncio.run(main())
"""

from ._asyncio import Attachment, attach
from ._awaitables import from_awaitable
from ._cancellation import CancelSource, Token
from ._combinators import all as all
from ._combinators import all_settled
from ._combinators import any as any
from ._combinators import map as map
from ._combinators import race, reduce, repeat, some
from ._completed import as_completed
from ._context import get_context, set_context
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
    StillPending,
    TimedOut,
    error_attempts,
    error_index,
)
from . import _futures as _futures  # what Promise.to_future calls
from ._executors import (
    Executor,
    from_futures,
    inline,
    pool,
    serial,
    set_default,
    threads,
)
from ._inside import Stats, Trace, graph, shutdown, stats, trace, trim
from ._library import has, path, version
from ._lifetime import exit_timeout
from ._loops import Loop
from ._progress import set_current_progress
from ._promise import Promise
from ._registration import Registration, Stage
from ._resolver import Resolver, pending, rejected, resolved
from ._running import current, run
from ._scope import Scope
from ._time import delay, fd_ready, now, retry, timeout
from ._unhandled import on_unhandled
from ._using import Using, using
from ._values import ForeignObject, Pointer

__version__ = version

# Without all, any and map, which `from vow import *` would put before Python's own.
__all__ = [
    "Aggregate",
    "Attachment",
    "Broken",
    "CancelSource",
    "Cancelled",
    "Cycle",
    "Deadlock",
    "Error",
    "Executor",
    "ForeignObject",
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
    "Stage",
    "Stats",
    "StillPending",
    "TimedOut",
    "Token",
    "Trace",
    "Using",
    "all_settled",
    "as_completed",
    "attach",
    "current",
    "delay",
    "error_attempts",
    "error_index",
    "exit_timeout",
    "fd_ready",
    "from_awaitable",
    "from_futures",
    "get_context",
    "graph",
    "has",
    "inline",
    "now",
    "on_unhandled",
    "path",
    "pending",
    "pool",
    "race",
    "reduce",
    "rejected",
    "repeat",
    "resolved",
    "retry",
    "run",
    "serial",
    "set_context",
    "set_current_progress",
    "set_default",
    "shutdown",
    "some",
    "stats",
    "threads",
    "timeout",
    "trace",
    "trim",
    "using",
    "version",
]
