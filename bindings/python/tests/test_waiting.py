"""Blocking a thread, loops of the library, and what could leave somebody waiting for ever."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import select
import signal
import threading
import time
from typing import Any, Callable

import pytest

import vow

from programs import run_dev


@pytest.mark.parametrize("main", [True, False])
def test_a_wait_ends_when_its_time_is_up(main: bool) -> None:
    promise, resolver = vow.pending()
    caught: list[BaseException] = []

    def wait() -> None:
        try:
            promise.wait(0.01)
        except vow.TimedOut as error:
            caught.append(error)

    if main:
        wait()
    else:
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join()
    assert "0.01 seconds" in str(caught.pop())
    assert promise.state == "pending"
    resolver.resolve(1)
    assert promise.wait(0) == 1


def test_a_wait_of_no_time_looks_and_returns() -> None:
    promise, resolver = vow.pending()
    with pytest.raises(vow.TimedOut):
        promise.wait(0)
    with pytest.raises(ValueError, match="negative"):
        promise.wait(-1)
    resolver.resolve()


@pytest.mark.parametrize("loop", [False, True])
def test_a_signal_ends_a_wait_of_the_main_thread(loop: bool) -> None:
    promise, _resolver = vow.pending()
    here = vow.Loop() if loop else None
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        promise.wait(60)
    timer.join()
    if here is not None:
        here.close()


def test_a_handler_on_the_pool_may_wait() -> None:
    def outer() -> Any:
        return vow.pool.run(lambda: 1).wait() + 1

    assert vow.all([vow.pool.run(outer) for _ in range(50)]).wait() == [2] * 50


def test_the_descriptor_says_when_there_is_work() -> None:
    with vow.Loop() as loop:
        poll = select.poll()
        poll.register(loop.fileno(), select.POLLIN)
        assert poll.poll(0) == []
        link = vow.resolved(1).then(lambda x: x + 1)
        assert len(poll.poll(60_000)) == 1
        assert loop.run_once(0) == 1
        assert poll.poll(0) == []
        assert link.result() == 2


def test_a_virtual_clock_is_moved_by_hand() -> None:
    with vow.Loop(virtual=True) as loop:
        order: list[int] = []
        for hours in (2, 1, 3):
            vow.delay(3600 * hours, hours).then(order.append)
        loop.advance(3600 * 2.5)
        assert order == [1, 2]
        loop.advance(3600)
        assert order == [1, 2, 3]
        assert vow.delay(1e6, "far").wait() == "far"


def test_a_loop_can_be_woken() -> None:
    with vow.Loop() as loop:
        threading.Timer(0.01, loop.wake).start()
        assert loop.run_once(10) == 0


def test_a_closed_loop_shuts_its_work_down() -> None:
    loop = vow.Loop()
    link = vow.delay(60).then(lambda x: x)
    loop.close()
    loop.wake()
    with pytest.raises(vow.Shutdown):
        link.wait(5)
    with pytest.raises(vow.Shutdown):
        loop.run_once(0)
    with pytest.raises(vow.Shutdown):
        loop.fileno()


def test_what_another_thread_settles_ends_the_wait_of_a_loop() -> None:
    with vow.Loop() as loop:
        for wait in (loop.run_until, vow.Promise.wait):
            end = time.monotonic() + 30
            wait(vow.pool.run(time.sleep, 0.05), 60)
            assert time.monotonic() < end


def test_advance_needs_a_virtual_loop() -> None:
    with vow.Loop() as loop:
        with pytest.raises(vow.Invalid):
            loop.advance(1)


def test_what_a_handler_means_for_the_program_leaves_the_loop() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with vow.Loop() as loop:
        promise = vow.run(stop).catch(lambda error: "seen")
        with pytest.raises(KeyboardInterrupt):
            while True:
                loop.run_once(1)
        assert loop.run_until(promise, 5) == "seen"


def test_an_executor_of_processes_is_refused() -> None:
    with concurrent.futures.ProcessPoolExecutor(1) as processes:
        with pytest.raises(TypeError, match="another process"):
            vow.from_futures(processes)


def test_what_an_executor_sends_away_is_refused() -> None:
    """One that pickles its work, as those of processes do, on another thread."""

    class Away(concurrent.futures.Executor):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
            import pickle

            future: concurrent.futures.Future[Any] = concurrent.futures.Future()

            def send() -> None:
                try:
                    pickle.dumps(fn)
                except Exception as error:
                    future.set_exception(error)

            threading.Thread(target=send).start()
            return future

    with pytest.raises(vow.Shutdown, match="TypeError"):
        vow.from_futures(Away()).run(lambda: 1).wait(20)


def test_work_that_its_executor_cancels_is_refused() -> None:
    begun, opened = threading.Event(), threading.Event()
    threads = concurrent.futures.ThreadPoolExecutor(1)
    executor = vow.from_futures(threads)
    ran: list[str] = []

    def work() -> str:
        begun.set()
        opened.wait(60)
        return "ran"

    first = executor.run(work)
    assert begun.wait(60)
    second = executor.run(ran.append, "second")
    third = vow.resolved(1).finally_(lambda: ran.append("third"), executor=executor)
    told = second.catch(lambda e: type(e).__name__, executor=vow.inline)
    threads.shutdown(wait=False, cancel_futures=True)
    opened.set()
    assert first.wait(20) == "ran"
    assert told.wait(20) == "Shutdown"
    with pytest.raises(vow.Shutdown, match="cancelled"):
        third.wait(20)
    assert ran == []


async def test_waiting_in_a_coroutine_is_a_deadlock() -> None:
    async def later() -> int:
        await asyncio.sleep(0.001)
        return 1

    promise = vow.from_awaitable(later())
    derived = promise.then(lambda x: x + 1)
    with pytest.raises(vow.Deadlock, match="await"):
        derived.wait()
    with pytest.raises(vow.TimedOut):
        derived.wait(0.01)
    assert await derived == 2
    assert derived.wait() == 2
    with pytest.raises(vow.Deadlock):
        await vow.run(lambda: vow.from_awaitable(later()).wait())
    with pytest.raises(vow.Deadlock):
        with vow.Scope() as scope:
            scope.add(later())
    await asyncio.sleep(0.01)


async def test_an_attachment_that_is_closed_ends_what_awaits_there() -> None:
    attachment = vow.attach()
    promise, resolver = vow.pending()

    async def reads() -> Any:
        return await promise

    task = asyncio.ensure_future(reads())
    await asyncio.sleep(0)
    attachment.close()
    with pytest.raises(vow.Shutdown):
        await asyncio.wait_for(task, 20)
    again = asyncio.ensure_future(reads())
    await asyncio.sleep(0)
    resolver.resolve(1)
    assert await asyncio.wait_for(again, 20) == 1


def test_awaiting_and_waiting_without_memory_raises() -> None:
    out, _ = run_dev(
        '''
        import asyncio, ctypes, importlib.util, os
        from ctypes import CFUNCTYPE, c_size_t, c_void_p
        beside = os.path.join(os.path.dirname(importlib.util.find_spec("vow").origin), "lib", "libvow.so.0")
        lib = ctypes.CDLL(os.environ.get("VOW_LIBRARY", beside))
        libc = ctypes.CDLL(None)
        libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = c_void_p, [c_size_t], [c_void_p]
        left = None

        @CFUNCTYPE(c_void_p, c_void_p, c_size_t)
        def allocate(context, bytes):
            return None if left == 0 else libc.malloc(bytes)

        @CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)
        def deallocate(context, memory, bytes):
            libc.free(memory)

        class Allocator(ctypes.Structure):
            _fields_ = [("size", c_size_t), ("allocate", type(allocate)), ("deallocate", type(deallocate)), ("context", c_void_p)]

        own = Allocator(ctypes.sizeof(Allocator), allocate, deallocate, None)
        assert lib.vow_set_allocator(ctypes.byref(own)) == 0
        import vow

        async def main():
            global left
            promise, resolver = vow.pending()
            left = 0
            try:
                await promise
            except vow.OutOfMemory:
                print("no memory")
            left = None
            resolver.resolve(1)
            print(await promise)

        asyncio.run(main())
        promise, resolver = vow.pending()
        left = 0
        try:
            promise.wait(20)
        except vow.OutOfMemory:
            print("none either")
        left = None
        resolver.resolve(2)
        print(promise.wait())
        '''
    )
    assert out == "no memory\n1\nnone either\n2\n"
