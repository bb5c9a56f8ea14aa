"""What was acquired is released, however its use ends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import vow


class Pool:
    """One connection, which is given back to a journal."""

    def __init__(self) -> None:
        self.journal: list[str] = []

    def give_back(self, connection: str) -> None:
        self.journal.append(f"{connection} is back")

    async def give_back_slowly(self, connection: str) -> None:
        self.journal.append(f"{connection} goes")
        await asyncio.sleep(0.02)
        self.give_back(connection)


@pytest.fixture
def pool() -> Pool:
    return Pool()


def test_a_block_gives_back(pool: Pool) -> None:
    with vow.using(vow.resolved("c"), pool.give_back) as connection:
        assert (connection, pool.journal) == ("c", [])
    assert pool.journal == ["c is back"]


def test_without_a_resource_there_is_no_block(pool: Pool) -> None:
    with pytest.raises(KeyError), vow.using(vow.rejected(KeyError()), pool.give_back):
        raise AssertionError("the block runs")
    assert pool.journal == []


def test_it_is_for_one_block(pool: Pool) -> None:
    used = vow.using(vow.resolved("c"), pool.give_back)
    with used:
        pass
    with pytest.raises(RuntimeError), used:
        pass


async def test_a_resource_may_be_awaitable_itself() -> None:
    class Connection:
        def __await__(self) -> Any:
            raise AssertionError("it is awaited")

    async def take() -> Connection:
        return Connection()

    async with vow.using(take(), lambda c: None) as connection:
        assert isinstance(connection, Connection)


async def test_a_release_that_is_a_coroutine_is_waited_for(pool: Pool) -> None:
    async with vow.using(vow.delay(0.001, "c"), pool.give_back_slowly) as connection:
        pool.journal.append(f"{connection} is used")
    assert pool.journal == ["c is used", "c goes", "c is back"]


@pytest.mark.parametrize("again", [False, True])
async def test_a_task_that_is_cancelled_in_the_block_ends_after_release(pool: Pool, again: bool) -> None:
    async def work() -> None:
        async with vow.using(vow.resolved("c"), pool.give_back_slowly):
            pool.journal.append("used")
            await asyncio.sleep(60)

    task = asyncio.create_task(work())
    while "used" not in pool.journal:
        await asyncio.sleep(0)
    task.cancel()
    while again and "c goes" not in pool.journal:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert pool.journal == ["used", "c goes", "c is back"]


@pytest.mark.parametrize("steps", range(12))
@pytest.mark.parametrize("coroutine", [False, True])
async def test_what_comes_in_the_moment_of_the_cancellation_is_given_back(
    pool: Pool, steps: int, coroutine: bool
) -> None:
    """At each step of asyncio's loop: as often as it was taken, it is given back."""
    taken = 0

    async def take() -> str:
        nonlocal taken
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        taken += 1
        return "c"

    def produce() -> vow.Promise[str]:
        promise, resolver = vow.pending()

        def give() -> None:
            nonlocal taken
            taken += resolver.resolve("c")

        loop = asyncio.get_running_loop()
        loop.call_soon(lambda: loop.call_soon(give))
        return promise

    async def work() -> None:
        async with vow.using(take() if coroutine else produce(), pool.give_back):
            await asyncio.sleep(60)

    task = asyncio.create_task(work())
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for _ in range(1000):
        if len(pool.journal) == taken:
            break
        await asyncio.sleep(0.001)
    assert len(pool.journal) == taken
