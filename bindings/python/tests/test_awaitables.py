"""Coroutines and futures as promises, and the context variables that they see."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import gc
import threading
import time
import weakref
from typing import Any, Awaitable, Callable

import pytest
import uvloop

import vow


async def later(value: Any) -> Any:
    await asyncio.sleep(0.001)
    if isinstance(value, BaseException):
        raise value
    return value


async def test_a_coroutine_becomes_a_promise() -> None:
    assert await vow.from_awaitable(later(3)) == 3
    with pytest.raises(KeyError):
        await vow.from_awaitable(later(KeyError()))


async def test_cancelling_on_another_thread_cancels_the_task() -> None:
    task = asyncio.ensure_future(asyncio.sleep(100))
    promise = vow.from_awaitable(task)
    thread = threading.Thread(target=promise.cancel)
    thread.start()
    with pytest.raises(asyncio.CancelledError):
        await task
    thread.join()


async def test_a_promise_that_nobody_wants_stops_its_task() -> None:
    task = asyncio.ensure_future(asyncio.sleep(100))
    vow.from_awaitable(task)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancelled_task_rejects() -> None:
    task = asyncio.ensure_future(asyncio.sleep(100))
    promise = vow.from_awaitable(task)
    task.cancel()
    with pytest.raises(vow.Cancelled):
        await promise


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


async def test_what_had_failed_when_it_was_cancelled_is_no_failure_of_clean_up() -> None:
    async def fails() -> None:
        raise KeyError

    promise = vow.from_awaitable(fails())
    asyncio.get_running_loop().call_soon(promise.cancel)  # before its task says that it has ended
    with pytest.raises(vow.Cancelled):
        await promise


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


user: contextvars.ContextVar[str] = contextvars.ContextVar("user", default="nobody")


async def who(*_arguments: Any) -> str:
    await asyncio.sleep(0)
    return user.get()


async def as_retry(attempt: int) -> str:
    if attempt == 1:
        await asyncio.sleep(0)
        raise ConnectionError(user.get())
    return await who()


async def in_a_scope() -> Any:
    async with vow.Scope() as scope:
        members = [scope.add(who()), scope.add(vow.run(who))]
    return {member.result() for member in members}.pop()


WAYS: dict[str, Callable[[], Awaitable[Any]]] = {
    "run": lambda: vow.run(who),
    "then": lambda: vow.delay(0.001).then(who),
    "catch": lambda: vow.delay(0.001).then(lambda x: 1 // 0).catch(who),
    "finally": lambda: _told_by_finally(),
    "map": lambda: vow.map([1, 2, 3], who, concurrency=1).then(lambda users: set(users).pop()),
    "retry": lambda: vow.retry(as_retry, first_delay=0.001),
    "scope": in_a_scope,
}


def _told_by_finally() -> Awaitable[Any]:
    told: list[str] = []

    async def tell() -> None:
        told.append(await who())

    return vow.delay(0.001).finally_(tell).then(lambda x: told[0])


@pytest.mark.parametrize("way", WAYS)
async def test_coroutines_of_two_users_see_their_own_data(way: str) -> None:
    async def request(name: str) -> None:
        user.set(name)
        for _ in range(5):
            assert await WAYS[way]() == name
            await asyncio.sleep(0)

    await asyncio.gather(*(request(name) for name in ("alice", "bob", "carol")))


async def test_a_coroutine_changes_variables_for_itself_alone() -> None:
    async def change() -> str:
        user.set("changed")
        await asyncio.sleep(0)
        return user.get()

    user.set("alice")
    assert await vow.run(change) == "changed"
    assert user.get() == "alice"


async def test_the_attached_loop_keeps_no_context_of_a_request() -> None:
    """Else the first request's data would live as long as the loop."""

    class Data:
        pass

    kept: contextvars.ContextVar[Data] = contextvars.ContextVar("kept")

    async def request() -> Any:
        data = Data()
        kept.set(data)
        await vow.delay(0.001)
        return weakref.ref(data)

    gone = await asyncio.ensure_future(request())
    await asyncio.sleep(0)
    gc.collect()
    assert gone() is None
