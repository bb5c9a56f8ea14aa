"""Cancelling waits for coroutines: what is cancelled has settled when they have ended."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Optional

import pytest

import vow


class Jobs:
    """Coroutines that take their time to clean up, and how many of them live at once."""

    def __init__(self) -> None:
        self.begun = self.live = self.most = self.ended = 0

    async def job(self, *_arguments: Any, error: Optional[BaseException] = None) -> str:
        self.begun += 1
        self.live += 1
        self.most = max(self.most, self.live)
        try:
            await asyncio.sleep(3600)
            return "never"
        finally:
            for _ in range(3):
                await asyncio.sleep(0.001)
            self.live -= 1
            self.ended += 1
            if error is not None:
                raise error


def test_a_scope_in_a_cancelled_task_is_left_then_too() -> None:
    async def main() -> None:
        jobs = Jobs()

        async def scoped() -> None:
            async with vow.Scope() as scope:
                scope.add(jobs.job())
                await asyncio.sleep(3600)

        for work in (scoped, lambda: closing(jobs)):
            task = asyncio.ensure_future(work())
            await asyncio.sleep(0.001)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert jobs.live == 0
        assert jobs.ended == 2

    async def closing(jobs: Jobs) -> None:
        async with vow.Scope() as scope:
            scope.add(jobs.job())

    asyncio.run(main())


def test_an_exception_of_the_clean_up_is_told(unhandled: list[BaseException]) -> None:
    async def main() -> None:
        jobs = Jobs()
        error = ValueError("in the clean-up")

        def told() -> bool:
            seen = unhandled == [error]
            unhandled.clear()
            return seen

        promise = vow.from_awaitable(jobs.job(error=error))
        await asyncio.sleep(0)
        promise.cancel()
        with pytest.raises(vow.Cancelled):
            await promise
        assert told()
        with pytest.raises(KeyError):
            async with vow.Scope() as scope:
                scope.add(jobs.job(error=error))
                await asyncio.sleep(0)
                raise KeyError
        assert told()
        with pytest.raises(vow.TimedOut):
            await vow.timeout(jobs.job(error=error), 0.001)
        assert told()

    asyncio.run(main())


def test_a_cancelled_task_waits_for_the_coroutine_that_it_awaits() -> None:
    async def main() -> None:
        jobs = Jobs()

        async def reads(promise: vow.Promise[Any]) -> None:
            await promise

        for make in (lambda: vow.from_awaitable(jobs.job()), lambda: vow.run(jobs.job)):
            task = asyncio.ensure_future(reads(make()))
            await asyncio.sleep(0.001)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert jobs.live == 0
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(vow.from_awaitable(jobs.job()), 0.001)
        assert (jobs.live, jobs.ended) == (0, 3)

    asyncio.run(main())


def test_a_cancelled_task_does_not_wait_for_a_thread() -> None:
    async def main() -> None:
        opened = threading.Event()
        promise = vow.pool.run(opened.wait, 60)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(promise, 0.01)
        assert not opened.is_set()
        opened.set()
        with pytest.raises(vow.Cancelled):
            await promise

    asyncio.run(main())


@pytest.mark.parametrize("way", ["direct", "run", "coroutine"])
def test_map_keeps_its_bound_with_time_outs(way: str) -> None:
    async def main() -> None:
        jobs = Jobs()

        async def item(number: int) -> Any:
            return await vow.timeout(jobs.job(), 0.002)

        def call(number: int) -> Any:
            if way == "direct":
                return vow.timeout(jobs.job(), 0.002).catch(repr)
            if way == "run":
                return vow.timeout(vow.run(jobs.job), 0.002).catch(repr)
            return vow.from_awaitable(item(number)).catch(repr)

        assert len(await vow.map(range(12), call, concurrency=2)) == 12
        # On a busy machine a time-out may be over before its job has begun.
        assert jobs.most <= 2 and (jobs.live, jobs.ended) == (0, jobs.begun)

    asyncio.run(main())


@pytest.mark.parametrize("timeout", [vow.timeout])
def test_a_time_out_waits_for_clean_up_and_can_be_prompt(timeout: Any) -> None:
    async def main() -> None:
        jobs = Jobs()
        with pytest.raises(vow.TimedOut):
            await timeout(vow.run(jobs.job), 0.01)
        assert (jobs.live, jobs.ended) == (0, jobs.begun)
        jobs = Jobs()
        with pytest.raises(vow.TimedOut):
            await timeout(vow.run(jobs.job), 0.01, prompt=True)
        assert jobs.live == jobs.begun
        held, resolver = vow.pending()
        with pytest.raises(vow.TimedOut):
            await vow.timeout(held, 0.001)  # not cancelled: others hold it
        resolver.resolve()
        while jobs.live:
            await asyncio.sleep(0.001)

    asyncio.run(main())


def test_a_coroutine_whose_loop_is_closed_is_not_waited_for() -> None:
    loop = asyncio.new_event_loop()

    async def later() -> vow.Promise[Any]:
        return vow.from_awaitable(asyncio.sleep(3600))

    promise = loop.run_until_complete(later())
    for task in asyncio.all_tasks(loop):
        task._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
    assert promise.cancel()
    with pytest.raises(vow.Cancelled):
        promise.wait(20)
