"""Loop, for programs that have another event loop or none; and blocking a thread until a promise is settled."""

from __future__ import annotations

import asyncio
import math
import os
import select
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Optional

from . import _asyncio, _core
from ._elsewhere import in_trio
from ._errors import Deadlock, Shutdown, TimedOut, check
from ._executors import Executor, inline
from ._library import LoopRef, PromiseRef, Ref, Uncopied, lib, nanoseconds

if TYPE_CHECKING:
    from ._promise import Promise

class _Local(threading.local):
    loop: Optional[weakref.ref[Loop]] = None


_local = _Local()


def current_ref() -> Optional[Ref]:
    """The loop that this thread made or ran last."""
    loop = None if _local.loop is None else _local.loop()
    return None if loop is None else loop._ref


def forget_parent() -> None:
    """In a forked child: destroys the copy of the parent's loop on this thread."""
    loop = None if _local.loop is None else _local.loop()
    _local.loop = None
    if loop is not None:
        loop.close()


class _VirtualRef(Ref):
    __slots__ = ()


def is_virtual(ref: Ref) -> bool:
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
        self._ref: Optional[Ref] = _VirtualRef(lib.vow_loop_destroy, handle) if virtual else LoopRef(handle)
        self.executor = Executor._borrowed(lib.vow_executor_retain(lib.vow_loop_executor(handle)))
        _local.loop = weakref.ref(self)

    def _open(self) -> Ref:
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

    def __exit__(self, kind: Any, error: Optional[BaseException], traceback: Any) -> None:
        self.close()


_home = os.getpid()


class _Waiter(_core.Reader):
    """A blocked thread, as a reader of the promise: `wake` ends its wait."""

    __slots__ = ("lock", "loop")

    def __init__(self, loop: Optional[Ref] = None) -> None:
        self.loop = loop
        self.lock = threading.Lock()
        self.lock.acquire()

    def wake(self) -> None:
        if self.loop is not None:
            lib.vow_loop_wake(self.loop.handle)
        elif self.lock.locked():
            self.lock.release()


def _block_here(promise: Promise[Any], loop: Optional[Ref], timeout: Optional[float]) -> bool:
    """On the main thread: runs the loop that is here, or sleeps, until another thread wakes it."""
    waiter = _Waiter(loop)
    promise._reader(waiter)
    reaction = PromiseRef(promise._wake(waiter, inline._ref.handle))
    longest = threading.TIMEOUT_MAX
    try:
        if loop is not None:
            return _run_until(promise, loop, timeout)
        if not waiter.lock.acquire(timeout=longest if timeout is None else min(timeout, longest)):
            return False
        if not promise.done():
            raise _core.why_not(reaction.handle)
        return True
    finally:
        lib.vow_cancel(reaction.handle)
        del reaction


def _run_until(promise: Promise[Any], loop: Ref, timeout: Optional[float]) -> bool:
    descriptor = select.poll()
    descriptor.register(lib.vow_loop_fd(loop.handle), select.POLLIN)
    end = None if timeout is None else time.monotonic() + timeout
    while not promise.done():
        left = None if end is None else max(end - time.monotonic(), 0)
        if left == 0 and timeout:
            return False
        ready = descriptor.poll(None if left is None else math.ceil(left * 1000))
        check(lib.vow_loop_run_once(loop.handle, 0), "wait")
        if timeout == 0 and not ready:
            return promise.done()
    return True


def _block_in_library(promise: Promise[Any], timeout: Optional[float]) -> bool:
    ref = promise._ref
    waiter = _Waiter()
    promise._reader(waiter)
    if ref is None:
        return True
    # The interpreter's calls of a thread end in reverse order.
    nested = lib.vow_nest_waits(True)
    try:
        status = lib.vow_await(ref.handle, nanoseconds(timeout, "wait"), 0)
    finally:
        lib.vow_nest_waits(nested)
    del ref  # or the traceback of what is raised here would hold the library's promise
    check(status, "wait")
    return bool(status)


def block(promise: Promise[Any], timeout: Optional[float]) -> None:
    """Blocks until the promise is settled; `TimedOut` when the time is up."""
    nanoseconds(timeout, "wait")
    if timeout is None and (asyncio._get_running_loop() is not None or in_trio()):
        # It cannot be known what the promise needs of the loop, which stands still meanwhile.
        name = "trio" if asyncio._get_running_loop() is None else "asyncio"
        raise Deadlock(f"wait() blocks {name}'s loop, which the promise may need: await it")
    main = threading.current_thread() is threading.main_thread()
    loop = _asyncio.current_ref() or current_ref()
    if not main or os.getpid() != _home or _core.inside() or (loop and is_virtual(loop)):
        done = _block_in_library(promise, timeout)
    else:
        done = _block_here(promise, loop, timeout)
    if not done:
        raise TimedOut(f"the promise is still pending after {timeout} seconds")
