"""Loop: promises in a program that has an event loop of its own, or none."""

from __future__ import annotations

import math
import select
import threading
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional

from ._errors import Shutdown, check
from ._executors import Executor
from ._handles import LoopRef, Uncopied
from ._library import lib
from ._seconds import nanoseconds

if TYPE_CHECKING:
    from ._promise import Promise


class _Local(threading.local):
    loop: Optional[weakref.ref[Loop]] = None


_local = _Local()


def current_ref() -> Optional[LoopRef]:
    """The loop that this thread made or ran last."""
    loop = None if _local.loop is None else _local.loop()
    return None if loop is None else loop._ref


def forget_parent() -> None:
    """In a forked child: destroys the copy of the parent's loop on this thread."""
    loop = None if _local.loop is None else _local.loop()
    _local.loop = None
    if loop is not None:
        loop.close()


class _VirtualRef(LoopRef):
    __slots__ = ()


def is_virtual(ref: LoopRef) -> bool:
    """Whether a loop's clock stands still unless it is moved."""
    return isinstance(ref, _VirtualRef)


class Loop(Uncopied):
    """An event loop of the library. The thread that makes it registers and waits with it.

    `fileno()` is readable while something is to be run: watch it in any other loop and call
    `run_once(0)` then. With `virtual=True` the clock moves by `advance` alone, for tests. In
    asyncio none is needed.
    """

    def __init__(self, virtual: bool = False) -> None:
        handle = lib.vow_loop_create_virtual() if virtual else lib.vow_loop_create()
        if not handle:
            check(-2, "Loop: no memory, or no descriptors")
        self._ref: Optional[LoopRef] = _VirtualRef(handle) if virtual else LoopRef(handle)
        self.executor = Executor._borrowed(lib.vow_executor_retain(lib.vow_loop_executor(handle)))
        _local.loop = weakref.ref(self)

    def _open(self) -> LoopRef:
        if self._ref is None:
            raise Shutdown("the loop is closed")
        return self._ref

    def fileno(self) -> int:
        """The descriptor to watch for input."""
        return int(lib.vow_loop_fd(self._open().handle))

    def run_once(self, timeout: Optional[float] = None) -> int:
        """Waits until something can be run, at most `timeout` seconds, and runs it: how many."""
        ref = self._open()
        _local.loop = weakref.ref(self)
        limit = nanoseconds(timeout, "run_once")
        interruptible = threading.current_thread() is threading.main_thread()
        if interruptible and limit != 0 and not is_virtual(ref):
            ready = select.poll()
            ready.register(self.fileno(), select.POLLIN)
            ready.poll(None if timeout is None else math.ceil(timeout * 1000))
            limit = 0
        ran: int = lib.vow_loop_run_once(ref.handle, limit)
        check(ran, "run_once")
        return ran

    def run_until(self, promise: Promise[Any], timeout: Optional[float] = None) -> Any:
        """Runs the loop until a promise is settled: its value, or its exception."""
        self._open()
        _local.loop = weakref.ref(self)
        return promise.wait(timeout)

    def advance(self, seconds: float) -> int:
        """Moves the clock of a virtual loop on, running what is due: how many."""
        ran: int = lib.vow_loop_advance(self._open().handle, nanoseconds(seconds, "advance"))
        check(ran, "advance")
        return ran

    def wake(self) -> None:
        """Makes a waiting `run_once` return. From any thread."""
        ref = self._ref
        if ref is not None:
            lib.vow_loop_wake(ref.handle)

    def close(self) -> None:
        """Ends the loop: what is queued and its delays are rejected with `Shutdown`."""
        self._ref = None

    def __enter__(self) -> Loop:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()
