"""What runs where nobody expects it: finalizers, collections, threads and loops that take turns."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from types import TracebackType
from typing import Any, Optional

import pytest

import vow

from programs import threads
from vow import _core


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
