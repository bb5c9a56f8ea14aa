"""Reference counts, cycles, and memory that stays flat."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
import weakref
from typing import Any

import pytest

import vow
from vow import _core


class Thing:
    pass


def test_reference_counts_are_back_after_a_chain() -> None:
    thing = Thing()

    def handler(item: Thing) -> Thing:
        return item

    before = sys.getrefcount(thing), sys.getrefcount(handler)
    for executor in (vow.inline, vow.pool):
        promise = vow.resolved(thing)
        for _ in range(100):
            promise = promise.then(handler, executor=executor)
        assert promise.wait() is thing
        del promise
    # The worker that ran the last handler lets go of it a moment later.
    for _ in range(10_000):
        gc.collect()
        if (sys.getrefcount(thing), sys.getrefcount(handler)) == before:
            break
        time.sleep(0.001)
    assert (sys.getrefcount(thing), sys.getrefcount(handler)) == before


def test_a_handler_is_let_go_of_when_it_never_runs() -> None:
    class Handler:
        def __call__(self, value: Any) -> None:
            raise AssertionError

    handlers = [Handler() for _ in range(3)]
    gone = [weakref.ref(handler) for handler in handlers]
    promise, resolver = vow.pending()
    links = [promise.then(handler) for handler in handlers]
    del handlers
    for link in links:
        link.cancel()
    assert [one() for one in gone] == [None] * 3
    resolver.resolve()


def test_a_cycle_through_an_awaited_exception_is_collected() -> None:
    gone: list[weakref.ref[Any]] = []

    async def fails() -> None:
        mark = Thing()
        gone.append(weakref.ref(mark))
        first, resolver = vow.pending()
        second = first.then(lambda x: 1 // x)
        third = second.then(lambda x: x)
        resolver.resolve(0)
        try:
            await third
        except ZeroDivisionError as error:
            mark.error = error  # type: ignore[attr-defined]
        assert first.state == "fulfilled"

    asyncio.run(fails())
    gc.collect()
    assert gone[0]() is None
    assert _core.kept() == 0


def test_a_cycle_of_python_objects_dies_on_another_thread() -> None:
    def make() -> weakref.ref[Thing]:
        one: Any = Thing()
        one.other = Thing()
        one.other.other = one
        vow.resolved(one).then(lambda x: None, executor=vow.pool).wait()
        return weakref.ref(one)

    refs = [make() for _ in range(100)]
    vow.pool.run(gc.collect).wait()
    gc.collect()
    assert [ref() for ref in refs] == [None] * 100


@pytest.mark.parametrize("error", [False, True])
def test_reading_a_promise_makes_it_pythons_own(error: bool) -> None:
    live = vow.stats().live
    promise = vow.rejected(KeyError("k")) if error else vow.resolved(["value"])
    assert vow.stats().live == live + 1
    value = promise.exception() if error else promise.result()
    assert vow.stats().live == live
    link = promise.catch(lambda e: e) if error else promise.then(lambda x: x)
    assert link.wait() is value
