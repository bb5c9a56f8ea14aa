"""Promises in trio, and in anyio on either."""

from __future__ import annotations

import contextvars
import math
import sys
import threading
from typing import Any

import anyio
import pytest
import trio
import trio.testing

import vow
import vow.trio
from vow import _scope


def test_a_promise_is_awaited_in_trio() -> None:
    async def main() -> Any:
        promise, resolver = vow.pending()
        threading.Timer(0.01, resolver.resolve, ("from a thread",)).start()
        assert await promise == "from a thread"
        with pytest.raises(KeyError):
            await vow.pool.run(dict.__getitem__, {}, 1)
        assert await vow.resolved("settled") == "settled"
        async with vow.trio.attached():
            return await vow.delay(0.001, 41).then(lambda x: x + 1)

    assert trio.run(main) == 42


async def test_handlers_run_on_the_thread_of_trio_where_it_is_attached() -> None:
    here = threading.get_ident()
    async with vow.trio.attached():
        thread = vow.pool.run(threading.get_ident)
        seen = await thread.then(lambda there: (there != here, threading.get_ident() == here))
        assert seen == (True, True)


async def test_a_task_that_settles_wakes_another() -> None:
    promise, resolver = vow.pending()
    seen: list[Any] = []

    async def reads() -> None:
        seen.append(await promise)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(reads)
        nursery.start_soon(reads)
        await trio.testing.wait_all_tasks_blocked()
        resolver.resolve(1)
    assert seen == [1, 1]


async def test_awaiting_is_a_checkpoint_of_trio_while_it_is_pending() -> None:
    promise, resolver = vow.pending()
    with trio.CancelScope() as scope:
        scope.cancel()
        await promise
    assert scope.cancelled_caught
    assert promise.state == "pending"  # it was not begun to be awaited
    resolver.resolve()


async def test_coroutines_run_in_the_nursery_with_the_context_of_their_registration() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")

    async def job(_: Any = None) -> str:
        await trio.sleep(0.001)
        return variable.get()

    async with vow.trio.attached():
        variable.set("mine")
        link = vow.resolved().then(job)
        variable.set("later")
        assert await link == "mine"
        assert await vow.from_awaitable(job()) == "later"
        assert await vow.map([1, 2, 3], job, concurrency=2) == ["later"] * 3

        async def fails() -> None:
            raise KeyError("fails")

        with pytest.raises(KeyError, match="fails"):
            await vow.run(fails)


async def test_a_cancelled_coroutine_is_waited_for() -> None:
    ended: list[str] = []

    async def job() -> None:
        try:
            await trio.sleep(math.inf)
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(0.01)
            ended.append("ended")

    async with vow.trio.attached():
        with pytest.raises(vow.TimedOut):
            await vow.timeout(vow.run(job), 0.01)
        assert ended == ["ended"]
        promise = vow.run(job)
        await trio.testing.wait_all_tasks_blocked()
        threading.Thread(target=promise.cancel).start()
        with pytest.raises(vow.Cancelled):
            await promise
        assert ended == ["ended"] * 2
        left = vow.run(job)
        await trio.testing.wait_all_tasks_blocked()
    assert ended == ["ended"] * 3
    assert left.cancelled()


def test_what_is_left_when_the_block_ends_is_shut_down() -> None:
    async def main() -> vow.Promise[Any]:
        async with vow.trio.attached():
            return vow.delay(3600).then(lambda x: x)

    with pytest.raises(vow.Shutdown):
        trio.run(main).wait(5)


def test_a_second_attachment_is_refused_and_the_next_run_has_its_own() -> None:
    async def main() -> int:
        async with vow.trio.attached():
            with pytest.raises(RuntimeError, match="one already"):
                async with vow.trio.attached():
                    pass
            return await vow.delay(0.001, 1)

    assert trio.run(main) == trio.run(main) == 1


async def test_blocking_in_trio_is_a_deadlock_that_is_named() -> None:
    promise, resolver = vow.pending()
    with pytest.raises(vow.Deadlock, match="trio"):
        promise.wait()
    with pytest.raises(vow.TimedOut):
        promise.wait(0.001)
    resolver.resolve()
    assert promise.wait() is None


async def test_a_coroutine_where_nothing_is_attached_is_a_clear_error() -> None:
    async def job() -> None:
        pass

    with pytest.raises(RuntimeError, match="asyncio loop is running, or vow.trio is attached"):
        vow.from_awaitable(job())


def test_a_run_that_has_ended_is_not_woken() -> None:
    async def main() -> None:
        async def reads() -> None:
            await promise

        async with trio.open_nursery() as nursery:
            nursery.start_soon(reads)
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()

    promise, resolver = vow.pending()
    link = promise.then(lambda x: x, executor=vow.inline)
    trio.run(main)
    resolver.resolve(1)
    assert link.wait() == 1


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_anyio_awaits_on_either(backend: str) -> None:
    async def main() -> list[Any]:
        seen: list[Any] = []

        async def reads(promise: vow.Promise[Any]) -> None:
            seen.append(await promise)

        promise, resolver = vow.pending()
        async with anyio.create_task_group() as group:
            for one in (promise, vow.delay(0.001, 2)):
                group.start_soon(reads, one)
            await anyio.sleep(0.01)
            resolver.resolve(3)
        with anyio.move_on_after(0.01) as scope:
            await vow.delay(3600)
        assert scope.cancelled_caught
        return seen

    assert sorted(anyio.run(main, backend=backend)) == [2, 3]


async def using_and_cancelled(outside: bool, seen: list[str]) -> None:
    """A block with a resource that is cancelled, from within the attachment or from outside of it."""

    async def give_back(item: str) -> None:
        await anyio.sleep(0.01)
        seen.append(f"{item} is back")

    async def block() -> None:
        async with vow.using(vow.resolved("c"), give_back):
            seen.append("used")
            await anyio.sleep(0)
        seen.append("left")
        async with vow.using(vow.resolved("d"), give_back):
            await anyio.sleep(3600)

    with anyio.move_on_after(0.1 if outside else 3600) as scope:
        async with vow.trio.attached():
            with anyio.move_on_after(3600 if outside else 0.1) as inner:
                await block()
    assert scope.cancelled_caught == outside and inner.cancelled_caught != outside


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("run", [trio.run, lambda *args: anyio.run(*args, backend="trio")])
def test_what_a_block_uses_is_released_whatever_is_cancelled(run: Any, outside: bool) -> None:
    seen: list[str] = []
    run(using_and_cancelled, outside, seen)
    assert seen == ["used", "c is back", "left", "d is back"]


async def test_a_resource_in_trio_that_comes_too_late_is_released() -> None:
    seen: list[str] = []

    async def take() -> str:
        with trio.CancelScope(shield=True):
            await trio.sleep(0.02)
        return "late"

    async def give_back(item: str) -> None:
        await trio.sleep(0.001)
        seen.append(item)

    with trio.move_on_after(0.01):
        async with vow.trio.attached():
            async with vow.using(take(), give_back):
                raise AssertionError("the block runs")
    assert seen == ["late"]


def test_a_release_in_trio_that_fails_is_raised_and_one_in_a_chain_is_kept() -> None:
    async def main() -> None:
        used = trio.Event()

        async def fails(item: int) -> None:
            await trio.sleep(0.001)
            raise KeyError(item)

        async def body(item: int) -> None:
            used.set()
            await trio.sleep(3600)

        async def give_back(item: int) -> None:
            await trio.sleep(0.001)
            seen.append(item)

        with pytest.raises(KeyError):
            async with vow.using(vow.resolved(1), fails):
                pass
        _scope.use(vow.resolved(2), body, give_back).catch(lambda error: None)
        await used.wait()

    async def attached() -> None:
        async with vow.trio.attached():
            await main()

    seen: list[int] = []
    trio.run(attached)
    assert seen == [2]


def test_what_a_handler_means_for_the_program_leaves_trio_after_the_releases(
    unhandled: list[BaseException],
) -> None:
    async def give_back(item: int) -> None:
        await trio.sleep(0.001)
        seen.append(item)

    async def main() -> None:
        async with vow.trio.attached():
            async with vow.using(vow.resolved(1), give_back):
                vow.delay(0.001).then(lambda _: sys.exit(5))
                await trio.sleep(3600)

    seen: list[int] = []
    with pytest.raises(BaseExceptionGroup) as info:
        trio.run(main)
    assert info.group_contains(SystemExit)
    assert seen == [1]
    unhandled.clear()
