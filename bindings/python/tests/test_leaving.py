"""Who leaves a long-lived promise or token leaves nothing there."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import weakref
from typing import Any, Awaitable, Callable

import pytest
import uvloop

import vow
from vow import _core

Way = Callable[[vow.Promise[Any]], Awaitable[Any]]
N = 50


async def cancelled(awaitable: Awaitable[Any], turns: int = 1) -> None:
    async def work() -> None:
        await awaitable

    task = asyncio.create_task(work())
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def as_completed(promise: vow.Promise[Any]) -> None:
    for first in vow.as_completed([promise, vow.resolved(1)]):
        assert await first == 1
        break


async def as_completed_async(promise: vow.Promise[Any]) -> None:
    async for first in vow.as_completed([promise, vow.resolved(1)]):
        assert await first == 1
        break


async def to_future(promise: vow.Promise[Any]) -> None:
    future = promise.to_future()
    future.add_done_callback(print)
    assert future.cancel()


async def dropped_future(promise: vow.Promise[Any]) -> None:
    concurrent.futures.wait([promise.to_future()], 0)


async def wrap_future(promise: vow.Promise[Any]) -> None:
    await cancelled(asyncio.wrap_future(promise.to_future()))


async def on_progress(promise: vow.Promise[Any]) -> None:
    promise.on_progress(lambda fraction, note: None).leave()


async def on_progress_block(promise: vow.Promise[Any]) -> None:
    with promise.on_progress(lambda fraction, note: None):
        pass


async def timeout(promise: vow.Promise[Any]) -> None:
    with pytest.raises(vow.TimedOut):
        await vow.timeout(promise, 0)


async def wait(promise: vow.Promise[Any]) -> None:
    with pytest.raises(vow.TimedOut):
        promise.wait(0)


WAYS: dict[str, Way] = {
    "await": cancelled,
    "shield": lambda promise: cancelled(asyncio.shield(promise)),
    "shield, later": lambda promise: cancelled(asyncio.shield(promise), 5),
    "wait_for": lambda promise: cancelled(asyncio.wait_for(asyncio.shield(promise), 5), 3),
    "gather": lambda promise: cancelled(asyncio.gather(asyncio.shield(promise))),
    "asyncio.wait": lambda promise: asyncio.wait([asyncio.ensure_future(promise)], timeout=0),
    **{
        way.__name__: way
        for way in (
            as_completed,
            as_completed_async,
            to_future,
            dropped_future,
            wrap_future,
            on_progress,
            on_progress_block,
            timeout,
            wait,
        )
    },
}


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
@pytest.mark.parametrize("name", WAYS)
def test_nothing_stays_with_the_promise(run: Any, name: str) -> None:
    async def settle_down() -> tuple[int, int]:
        for _ in range(10):
            await asyncio.sleep(0.001)
        gc.collect()
        return vow.stats().handlers, _core.kept()

    async def main() -> None:
        promise, resolver = vow.pending()
        link = promise.then(lambda x: x)
        before = await settle_down()
        for _ in range(N):
            await WAYS[name](promise)
        assert await settle_down() == before
        resolver.resolve(1)
        assert await link == 1

    run(main())


async def test_who_is_shielded_alone_keeps_the_promise_wanted() -> None:
    promise, resolver = vow.pending()
    told: list[str] = []
    resolver.on_cancel(lambda: told.append("unwanted"))
    for _ in range(N):
        await cancelled(asyncio.shield(promise))
    await asyncio.sleep(0.001)
    assert vow.stats().handlers < 5
    shielded = asyncio.shield(promise)
    del promise
    await cancelled(shielded)
    await asyncio.sleep(0.001)
    assert told == []
    resolver.resolve()


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_a_task_that_a_program_has_of_a_promise_stays(run: Any) -> None:
    async def main() -> None:
        promise, resolver = vow.pending()
        link = promise.then(lambda x: x)
        task = asyncio.ensure_future(promise)
        await cancelled(asyncio.shield(task))
        await cancelled(asyncio.shield(task), 3)
        forgotten = asyncio.ensure_future(promise)
        seen: list[Any] = []
        forgotten.add_done_callback(lambda ended: seen.append(ended.result()))
        del forgotten
        await asyncio.sleep(0.001)
        gc.collect()
        resolver.resolve(1)
        assert (await task, await link) == (1, 1)
        await asyncio.sleep(0.001)
        assert seen == [1]

    run(main())


def test_a_future_that_nobody_holds_calls_its_callbacks() -> None:
    promise, resolver = vow.pending()
    seen: list[Any] = []
    promise.to_future().add_done_callback(lambda future: seen.append(future.result()))
    gc.collect()
    resolver.resolve(1)
    assert seen == [1]


async def test_what_is_left_early_can_be_gone_on_with_and_goes_on() -> None:
    ended: list[int] = []

    async def later(number: int) -> int:
        await asyncio.sleep(0.005 * number)
        ended.append(number)
        return number

    both = vow.as_completed([later(1), later(2), later(3)])
    async for first in both:
        assert await first == 1
        break
    async for second in both:
        assert await second == 2
        break
    del both
    vow.from_awaitable(later(4)).to_future()
    await asyncio.sleep(0.05)
    assert ended == [1, 2, 3, 4]


def test_a_listener_to_progress_says_what_has_become_of_it() -> None:
    class Held:
        pass

    held = Held()
    ref = weakref.ref(held)
    stages: list[str] = []

    def hear(fraction: float, note: Any, held: Any = held) -> None:
        stages.append(heard.stage)
        assert heard.leave() == "running"

    with vow.Loop() as loop:
        promise, resolver = vow.pending()
        heard = promise.on_progress(hear)
        deaf = promise.on_progress(lambda fraction, note: stages.clear())
        stages += [heard.stage, deaf.stage]
        assert deaf.leave() == "never runs"
        del held, hear
        for fraction in (0.25, 0.5):
            resolver.set_progress(fraction)
            while loop.run_once(0):
                pass
        assert stages == ["waiting", "waiting", "running"]
        assert heard.leave() == "has run"
        gc.collect()
        assert ref() is None
        resolver.resolve()
        assert promise.wait() is None
    assert promise.on_progress(lambda fraction, note: None).leave() == "never runs"
