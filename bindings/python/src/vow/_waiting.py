"""Blocking a thread until a promise is settled, so that Ctrl-C still reaches the main thread."""

from __future__ import annotations

import asyncio
import math
import os
import select
import threading
import time
from typing import TYPE_CHECKING, Any, Optional

from . import _asyncio, _core, _loops
from ._elsewhere import in_trio
from ._errors import Deadlock, TimedOut, check
from ._executors import inline
from ._handles import LoopRef, PromiseRef
from ._library import lib
from ._seconds import nanoseconds

if TYPE_CHECKING:
    from ._promise import Promise

_home = os.getpid()


class _Waiter(_core.Reader):
    """A blocked thread, as a reader of the promise."""

    __slots__ = ("lock",)

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def wake(self) -> None:
        if self.lock.locked():
            self.lock.release()


def _block_on_lock(promise: Promise[Any], timeout: Optional[float]) -> bool:
    waiter = _Waiter()
    waiter.lock.acquire()
    promise._reader(waiter)
    reaction = PromiseRef(promise._wake(waiter, inline._ref.handle))
    longest = threading.TIMEOUT_MAX
    try:
        if not waiter.lock.acquire(timeout=longest if timeout is None else min(timeout, longest)):
            return False
        if not promise.done():
            raise _core.why_not(reaction.handle)
        return True
    finally:
        lib.vow_cancel(reaction.handle)
        del reaction


class _Bell(_core.Reader):
    """A loop that is run until the promise is settled, which another thread may do."""

    __slots__ = ("loop",)

    def __init__(self, loop: LoopRef) -> None:
        self.loop = loop

    def wake(self) -> None:
        lib.vow_loop_wake(self.loop.handle)


def _run_loop(promise: Promise[Any], loop: LoopRef, timeout: Optional[float]) -> bool:
    bell = _Bell(loop)
    promise._reader(bell)
    reaction = PromiseRef(promise._wake(bell, inline._ref.handle))
    try:
        return _run_until(promise, loop, timeout)
    finally:
        lib.vow_cancel(reaction.handle)
        del reaction


def _run_until(promise: Promise[Any], loop: LoopRef, timeout: Optional[float]) -> bool:
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
    status = lib.vow_await(ref.handle, nanoseconds(timeout, "wait"), 0)
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
    if not main or os.getpid() != _home or _core.inside():
        done = _block_in_library(promise, timeout)
    else:
        loop = _asyncio.current_ref() or _loops.current_ref()
        if loop is None:
            done = _block_on_lock(promise, timeout)
        elif _loops.is_virtual(loop):
            done = _block_in_library(promise, timeout)
        else:
            done = _run_loop(promise, loop, timeout)
    if not done:
        raise TimedOut(f"the promise is still pending after {timeout} seconds")
