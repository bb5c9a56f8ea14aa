"""What could leave a promise pending, or who reads it waiting, for ever."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from typing import Any, Callable

import pytest

import vow
from programs import run_dev


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


def test_waiting_in_a_coroutine_is_a_deadlock() -> None:
    async def later() -> int:
        await asyncio.sleep(0.001)
        return 1

    async def main() -> None:
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

    asyncio.run(main())


def test_an_attachment_that_is_closed_ends_what_awaits_there() -> None:
    async def main() -> None:
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

    asyncio.run(main())


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
