"""Promises in asyncio."""

from __future__ import annotations

import asyncio
import selectors
import threading
import time
import warnings
import weakref
from typing import Any

import pytest

import vow


async def test_work_of_the_pool_comes_back_to_the_thread_of_asyncio() -> None:
    here = threading.get_ident()
    there = vow.pool.run(threading.get_ident)
    link = there.then(lambda thread: (thread, threading.get_ident()))
    worker, handler = await link
    assert worker != here
    assert handler == here


async def test_timers_fire_and_take_their_time() -> None:
    start = time.monotonic()
    order: list[int] = []
    await vow.all([vow.delay(s / 100, s).then(order.append) for s in (3, 1, 2)])
    assert order == [1, 2, 3]
    assert time.monotonic() - start >= 0.03


def test_an_idle_loop_is_never_woken() -> None:
    class Counting(selectors.DefaultSelector):
        count = 0

        def select(self, timeout: Any = None) -> Any:
            type(self).count += 1
            return super().select(timeout)

    async def main() -> int:
        promise, resolver = vow.pending()
        promise.then(lambda x: x)
        waiting = asyncio.ensure_future(_read(promise))
        far = vow.delay(3600).then(lambda x: x)
        await asyncio.sleep(0.05)
        before = Counting.count
        await asyncio.sleep(0.5)
        woken = Counting.count - before
        resolver.resolve(1)
        assert await waiting == 1
        far.cancel()
        with pytest.raises(vow.Cancelled):
            await far
        return woken

    loop = asyncio.SelectorEventLoop(Counting())
    try:
        assert loop.run_until_complete(main()) <= 2  # the sleep's own
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


async def _read(promise: vow.Promise[Any]) -> Any:
    return await promise


async def test_many_settled_by_many_threads_are_awaited() -> None:
    pairs = [vow.pending() for _ in range(2000)]

    def settle(part: int) -> None:
        for index, (_, resolver) in enumerate(pairs):
            if index % 4 == part:
                resolver.resolve(index)

    workers = [threading.Thread(target=settle, args=(part,)) for part in range(4)]
    for worker in workers:
        worker.start()
    links = [promise.then(lambda x: x * 2) for promise, _ in pairs]
    assert await vow.all(links) == [2 * index for index in range(2000)]
    for worker in workers:
        worker.join()


async def test_asyncio_keeps_its_turn_beside_a_flood_of_handlers() -> None:
    ticks = 0
    stop = False

    async def tick() -> None:
        nonlocal ticks
        while not stop:
            ticks += 1
            await asyncio.sleep(0)

    ticker = asyncio.ensure_future(tick())
    for n in range(5000):
        await vow.run(int, n)
    stop = True
    await ticker
    assert ticks > 2


def test_each_run_has_a_loop_of_its_own_that_ends_with_it() -> None:
    seen: list[Any] = []

    async def main() -> None:
        seen.append(vow.attach())
        assert vow.attach() is seen[-1]
        await vow.delay(0.001)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            asyncio.run(main(), debug=True)
    assert len(set(map(id, seen))) == 3
    assert all(attachment.closed for attachment in seen)
    for attachment in seen:
        attachment.close()
    with pytest.raises(RuntimeError, match="no asyncio loop"):
        vow.attach()


def test_two_loops_run_by_turns() -> None:
    loops = [asyncio.new_event_loop() for _ in range(2)]

    async def main() -> Any:
        return await vow.delay(0.001, 1)

    for _ in range(3):
        assert [loop.run_until_complete(main()) for loop in loops] == [1, 1]
    for loop in loops:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def test_a_loop_that_was_only_closed_is_let_go_of() -> None:
    loop = asyncio.new_event_loop()
    loop.run_until_complete(_read(vow.delay(0.001)))
    gone = weakref.ref(loop)
    loop.close()
    del loop
    asyncio.run(_read(vow.delay(0.001)))
    import gc

    gc.collect()
    assert gone() is None


def test_what_is_left_when_asyncio_ends_is_shut_down() -> None:
    async def main() -> vow.Promise[Any]:
        return vow.delay(3600).then(lambda x: x)

    promise = asyncio.run(main())
    with pytest.raises(vow.Shutdown):
        promise.wait(5)


def test_awaiting_outside_of_asyncio_is_refused() -> None:
    promise, resolver = vow.pending()
    with pytest.raises(RuntimeError, match="outside of asyncio"):
        _read(promise).send(None)
    resolver.resolve()
