"""Reference counts, cycles, copies, and what runs where nobody expects it."""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import sys
import threading
import time
import weakref
from types import TracebackType
from typing import Any, Callable, Optional

import pytest

import vow
from vow import _core

from programs import threads


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


@pytest.mark.parametrize("error", [False, True])
def test_reading_a_promise_makes_it_pythons_own(error: bool) -> None:
    live = vow.stats().live
    promise = vow.rejected(KeyError("k")) if error else vow.resolved(["value"])
    assert vow.stats().live == live + 1
    value = promise.exception() if error else promise.result()
    assert vow.stats().live == live
    link = promise.catch(lambda e: e) if error else promise.then(lambda x: x)
    assert link.wait() is value


MAKERS: dict[str, Callable[[], Any]] = {
    "Promise": lambda: vow.resolved(1),
    "Resolver": lambda: vow.pending()[1],
    "Executor": vow.serial,
    "CancelSource": vow.CancelSource,
    "Token": lambda: vow.CancelSource().token,
    "Registration": lambda: vow.CancelSource().token.on_cancel(lambda: None),
    "Scope": vow.Scope,
    "Loop": vow.Loop,
    "Using": lambda: vow.using(vow.resolved(1), lambda item: None),
    "as_completed": lambda: vow.as_completed([vow.resolved(1)]),
}
WAYS: list[Callable[[Any], Any]] = [
    copy.copy,
    copy.deepcopy,
    lambda item: copy.deepcopy({"in": [item]}),
    *(lambda item, way=way: pickle.dumps(item, way) for way in range(pickle.HIGHEST_PROTOCOL + 1)),
]


@pytest.mark.parametrize("name", MAKERS)
def test_a_copy_is_refused_with_what_to_do_instead(name: str) -> None:
    item = MAKERS[name]()
    for way in WAYS:
        with pytest.raises(TypeError, match=f"{name}: it cannot be copied .* as it is, .* process"):
            way(item)


async def test_an_attachment_has_no_copies() -> None:
    for way in WAYS:
        with pytest.raises(TypeError, match="Attachment: it cannot be copied"):
            way(vow.attach())


def test_no_class_of_the_package_is_forgotten() -> None:
    free = (BaseException, int)  # have nothing of the library's
    classes = [item for item in map(vow.__dict__.get, vow.__all__) if isinstance(item, type)]
    assert {cls.__name__ for cls in classes if not issubclass(cls, free)} == {*MAKERS} - {"Using"}


@pytest.mark.parametrize("part", [_core.Reader, lambda: _core.Call(print)])
def test_nor_do_the_parts_inside(part: Callable[[], Any]) -> None:
    with pytest.raises(TypeError):
        copy.copy(part())


async def reads(promise: vow.Promise[Any]) -> Any:
    return await promise


def test_a_rejection_with_stop_iteration_is_no_value() -> None:
    with pytest.raises(RuntimeError, match="StopIteration") as raised:
        reads(vow.rejected(StopIteration(5))).send(None)
    assert isinstance(raised.value.__cause__, StopIteration)
    assert raised.value.__cause__.value == 5


def test_what_a_class_makes_of_with_traceback_is_not_taken_for_the_exception() -> None:
    class Odd(Exception):
        def with_traceback(self, tb: Optional[TracebackType]) -> Any:
            return 5

    with pytest.raises(Odd):
        vow.rejected(Odd()).wait()
    with pytest.raises(Odd):
        reads(vow.rejected(Odd())).send(None)
    assert isinstance(vow.rejected(Odd()).exception(), Odd)


def test_an_awaitable_that_is_entered_again_while_it_raises_ends_once() -> None:
    class Enters:
        def __del__(self) -> None:
            with pytest.raises(StopIteration):
                next(there)
            entered.append(True)

    def raises() -> None:
        kept = Enters()
        raise KeyError(kept)

    entered: list[bool] = []
    error = ValueError()
    promise = vow.rejected(error)
    assert promise.exception() is error
    try:
        raises()
    except KeyError as other:
        error.__traceback__ = other.__traceback__
    there = promise.__await__()
    count = sys.getrefcount(promise)
    with pytest.raises(ValueError):
        next(there)
    assert entered and sys.getrefcount(promise) == count - 1


def test_handlers_may_end_while_those_that_run_are_listed() -> None:
    """Making the list collects garbage, whose finalizer lets them end."""
    begun, end = threading.Semaphore(0), threading.Event()

    def stays() -> None:
        begun.release()
        end.wait()

    class Ends:
        def __del__(self) -> None:
            end.set()
            for promise in promises:
                promise.wait(60)

    def listed() -> int:
        # Python keeps some tuples and lists for reuse, and making these collects nothing.
        kept = [(number, [number]) for number in range(4000)]
        garbage: Any = Ends()
        garbage.me = garbage
        del garbage
        threshold = gc.get_threshold()
        try:
            gc.set_threshold(gc.get_count()[0] + 2)
            gc.enable()
            return len(_core.running())
        finally:
            gc.disable()
            gc.set_threshold(*threshold)
            del kept

    executor = threads(4)
    promises = [executor.run(stays) for _ in range(4)]
    for _ in promises:
        begun.acquire()
    gc.collect()
    gc.disable()
    try:
        assert listed() == 4
    finally:
        gc.enable()
        end.set()
    assert [promise.wait(60) for promise in promises] == [None] * 4
    assert _core.running() == []


def test_a_loop_that_goes_on_on_another_thread_has_its_handlers_there() -> None:
    """Also where that thread has the identifier of the one before, which has ended."""
    loop = asyncio.new_event_loop()
    seen: list[tuple[int, int]] = []

    async def main() -> None:
        link = vow.resolved().then(lambda _: threading.get_ident())
        while not link.done():
            await asyncio.sleep(0)
        seen.append((link.result(), threading.get_ident()))

    for _ in range(20):
        thread = threading.Thread(target=lambda: loop.run_until_complete(main()))
        thread.start()
        thread.join()
    assert len(seen) == 20 and all(handler == here for handler, here in seen)
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


def test_an_attachment_that_was_closed_from_another_loop_is_made_anew() -> None:
    first, second = asyncio.new_event_loop(), asyncio.new_event_loop()

    async def attach() -> Any:
        attachment = vow.attach()
        assert await vow.resolved(1).then(str) == "1"
        return attachment

    async def close(attachment: Any) -> None:
        vow.attach()
        attachment.close()

    async def is_run() -> bool:
        link = vow.resolved(2).then(str)
        for _ in range(100):
            await asyncio.sleep(0)
        return link.done()

    attachment = first.run_until_complete(attach())
    second.run_until_complete(close(attachment))
    assert first.run_until_complete(is_run())
    for loop in (first, second):
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
