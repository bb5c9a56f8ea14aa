"""Coroutines and futures as promises."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
from typing import Any

import pytest
import uvloop

import vow


async def later(value: Any) -> Any:
    await asyncio.sleep(0.001)
    if isinstance(value, BaseException):
        raise value
    return value


def test_a_coroutine_becomes_a_promise() -> None:
    async def main() -> None:
        assert await vow.from_awaitable(later(3)) == 3
        with pytest.raises(KeyError):
            await vow.from_awaitable(later(KeyError()))

    asyncio.run(main())


def test_cancelling_on_another_thread_cancels_the_task() -> None:
    async def main() -> None:
        task = asyncio.ensure_future(asyncio.sleep(100))
        promise = vow.from_awaitable(task)
        thread = threading.Thread(target=promise.cancel)
        thread.start()
        with pytest.raises(asyncio.CancelledError):
            await task
        thread.join()

    asyncio.run(main())


def test_a_promise_that_nobody_wants_stops_its_task() -> None:
    async def main() -> None:
        task = asyncio.ensure_future(asyncio.sleep(100))
        vow.from_awaitable(task)
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_a_cancelled_task_rejects() -> None:
    async def main() -> None:
        task = asyncio.ensure_future(asyncio.sleep(100))
        promise = vow.from_awaitable(task)
        task.cancel()
        with pytest.raises(vow.Cancelled):
            await promise

    asyncio.run(main())


def test_a_coroutine_off_the_thread_of_asyncio_is_a_clear_error() -> None:
    promise = vow.resolved(1).then(later, executor=vow.pool)
    with pytest.raises(RuntimeError, match="where an asyncio loop is running"):
        promise.wait()


def test_a_future_of_a_thread_pool_becomes_a_promise() -> None:
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        assert vow.from_awaitable(threads.submit(lambda: 5)).wait() == 5
        with pytest.raises(ZeroDivisionError):
            vow.from_awaitable(threads.submit(lambda: 1 // 0)).wait()


def test_cancelling_the_promise_cancels_the_future() -> None:
    future: concurrent.futures.Future[int] = concurrent.futures.Future()
    promise = vow.from_awaitable(future)
    promise.cancel()
    assert future.cancelled()


def test_a_cancelled_future_rejects() -> None:
    future: concurrent.futures.Future[int] = concurrent.futures.Future()
    promise = vow.from_awaitable(future)
    future.cancel()
    with pytest.raises(vow.Cancelled):
        promise.wait()


def test_a_promise_is_its_own_promise() -> None:
    promise = vow.resolved(1)
    assert vow.from_awaitable(promise) is promise


def test_what_cannot_be_awaited_is_refused() -> None:
    with pytest.raises(TypeError, match="not awaitable"):
        vow.from_awaitable(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="all: 3 is neither"):
        vow.all([3])  # type: ignore[arg-type]


def test_what_had_failed_when_it_was_cancelled_is_no_failure_of_clean_up() -> None:
    async def fails() -> None:
        raise KeyError

    async def main() -> None:
        promise = vow.from_awaitable(fails())
        asyncio.get_running_loop().call_soon(promise.cancel)  # before its task says that it has ended
        with pytest.raises(vow.Cancelled):
            await promise

    asyncio.run(main())  # and nothing is told as unhandled


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_a_cancelled_tasks_time_out_that_falls_due_is_no_news(run: Any) -> None:
    async def reads(promise: vow.Promise[Any]) -> None:
        await promise

    async def work() -> None:
        await vow.from_awaitable(reads(vow.timeout(vow.delay(60), 0.001)))

    async def main() -> None:
        for _ in range(20):
            task = asyncio.create_task(work())
            await asyncio.sleep(0)
            time.sleep(0.002)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    run(main())
