"""Many threads at once."""

from __future__ import annotations

import gc
import random
import sys
import threading
import time
from typing import Any, Iterator

import pytest

import vow


@pytest.fixture(autouse=True)
def restless() -> Iterator[None]:
    """Threads change places all the time."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def together(count: int, work: Any) -> None:
    barrier = threading.Barrier(count)
    errors: list[BaseException] = []

    def run(number: int) -> None:
        barrier.wait(30)
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []


def test_readers_and_settlers_race() -> None:
    for _ in range(100):
        promise, resolver = vow.pending()
        seen: list[str] = []

        def work(n: int) -> None:
            if n == 0:
                resolver.resolve(["value"])
            elif n == 1:
                seen.append(promise.wait(30)[0])
            else:
                seen.append(promise.then(lambda x: x, executor=vow.inline).wait(30)[0])

        together(4, work)
        assert seen == ["value"] * 3


def test_reading_and_forgetting_race() -> None:
    """A reader makes the promise Python's own while others still use the library's."""
    for _ in range(200):
        promise = vow.resolved(object())
        links: list[Any] = []

        def work(n: int) -> None:
            links.append(promise.then(lambda x: x) if n % 2 else promise)
            promise.result()

        together(4, work)
        assert len({id(link.wait(30)) for link in links}) == 1


def test_handlers_on_the_pool_with_a_busy_collector() -> None:
    def work(n: int) -> Any:
        node: Any = {}
        node["self"] = node
        if n % 50 == 0:
            gc.collect(0)
        return vow.pool.run(lambda: n).then(lambda x: (x, node)[0])

    assert vow.map(range(3000), work, concurrency=64).wait(120) == list(range(3000))


def test_links_are_made_and_dropped_by_all() -> None:
    promise, resolver = vow.pending()
    total = vow.stats().handlers

    def work(n: int) -> None:
        chance = random.Random(n)
        mine: list[Any] = [promise]
        for _ in range(500):
            mine.append(chance.choice(mine).then(lambda x: x, executor=vow.inline))
            if chance.random() < 0.3:
                mine.pop(chance.randrange(1, len(mine))).cancel()
            if len(mine) > 20:
                del mine[1:10]

    together(4, work)
    resolver.resolve(1)
    assert promise.wait() == 1
    assert vow.stats().handlers == total


def test_objects_are_destroyed_on_the_threads_of_the_pool() -> None:
    here = threading.get_ident()
    ended: list[int] = []

    class Told:
        def __del__(self) -> None:
            ended.append(threading.get_ident())

    # Not by waiting for them: whoever waits may run the pool's work itself. And this thread is to hold none of the
    # promises any more when the first object is made.
    all_are_let_go = threading.Event()

    def tell() -> Told:
        all_are_let_go.wait()
        return Told()

    for _ in range(200):
        vow.pool.run(tell).then(lambda x: None, executor=vow.pool)
    all_are_let_go.set()
    until = time.monotonic() + 60
    while len(ended) < 200 and time.monotonic() < until:
        time.sleep(0.001)
    assert len(ended) == 200
    assert here not in ended
