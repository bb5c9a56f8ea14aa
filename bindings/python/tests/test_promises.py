"""What the names of the package make of Python's functions, values and mistakes."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from pathlib import Path
from typing import Any, Callable

import pytest

import vow

from programs import threads


def test_catch_takes_only_the_class_that_it_names() -> None:
    error = KeyError("k")
    promise = vow.rejected(error)
    assert promise.catch(lambda e: "key", KeyError).wait() == "key"
    assert promise.catch(lambda e: "any", (OSError, LookupError)).wait() == "any"
    with pytest.raises(KeyError) as caught:
        promise.catch(lambda e: "no", OSError).wait()
    assert caught.value is error


def test_finally_passes_the_outcome_on() -> None:
    ran: list[str] = []
    assert vow.resolved(5).finally_(lambda: ran.append("value")).wait() == 5
    with pytest.raises(OSError):
        vow.rejected(OSError("x")).finally_(lambda: ran.append("error")).wait()
    assert ran == ["value", "error"]


@pytest.mark.parametrize("method", ["then", "catch", "finally_"])
def test_what_is_no_function_is_refused_at_once(method: str) -> None:
    with pytest.raises(TypeError, match=f"{method}: 3 cannot be called"):
        getattr(vow.resolved(1), method)(3)


def test_repr_says_the_state() -> None:
    promise, resolver = vow.pending()
    assert repr(promise) == "<vow.Promise pending>"
    resolver.resolve(3)
    assert repr(promise) == "<vow.Promise fulfilled>"
    assert promise.result() == 3
    assert repr(promise) == "<vow.Promise fulfilled 3>"
    failed = vow.rejected(OSError("x"))
    assert isinstance(failed.exception(), OSError)
    assert repr(failed) == "<vow.Promise rejected OSError('x')>"


def test_a_chain_of_100_000_links_is_run_and_freed() -> None:
    first, resolver = vow.pending()
    promise = first
    for _ in range(100_000):
        promise = promise.then(lambda x: x + 1, executor=vow.inline)
    resolver.resolve(0)
    assert promise.result() == 100_000


def test_a_deep_chain_that_never_ran_is_freed() -> None:
    promise, resolver = vow.pending()
    for _ in range(100_000):
        promise = promise.then(lambda x: x)
    resolver.close()
    with pytest.raises(vow.Broken):
        promise.wait()


def test_a_recursion_through_returned_promises_ends() -> None:
    def step(n: int) -> Any:
        return n if n == 20_000 else vow.resolved(n + 1).then(step)

    assert vow.resolved(0).then(step).wait() == 20_000


def test_reject_takes_an_exception_or_its_class() -> None:
    promise, resolver = vow.pending()
    resolver.reject(KeyError)  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        promise.wait()
    other, settle = vow.pending()
    with pytest.raises(TypeError, match="no exception"):
        settle.reject("text")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no exception"):
        vow.rejected("text")  # type: ignore[arg-type]
    settle.resolve()
    other.wait()


def test_a_block_that_ends_without_a_result_breaks_the_promise() -> None:
    promise, resolver = vow.pending()
    with resolver:
        pass
    with pytest.raises(vow.Broken):
        promise.wait()
    assert resolver.resolve(1) is False
    assert resolver.reject(OSError()) is False


def test_what_ends_the_program_leaves_the_block() -> None:
    promise, resolver = vow.pending()
    with pytest.raises(KeyboardInterrupt):
        with resolver:
            raise KeyboardInterrupt
    assert isinstance(promise.exception(), KeyboardInterrupt)


def test_the_producer_is_told_when_nobody_is_left() -> None:
    promise, resolver = vow.pending()
    told: list[str] = []
    resolver.on_cancel(lambda: told.append("unwanted"))
    del promise
    assert told == ["unwanted"]


async def test_a_coroutine_is_followed() -> None:
    async def later() -> str:
        await asyncio.sleep(0)
        return "later"

    promise, resolver = vow.pending()
    resolver.resolve(later())
    assert await promise == "later"


def test_run_passes_arguments() -> None:
    assert vow.run(divmod, 7, 2).wait() == (3, 1)
    assert vow.pool.run(int, "ff", base=16).wait() == 255


def test_ones_own_executor() -> None:
    queue: list[Callable[[], None]] = []
    executor = vow.Executor(queue.append, serial=True)
    promise = vow.resolved(1).then(lambda x: x + 1, executor=executor)
    assert promise.state == "pending"
    assert len(queue) == 1
    queue.pop()()
    assert promise.wait() == 2


def test_handlers_stay_on_the_executor_that_they_are_made_on() -> None:
    executor = threads(1, "here")

    def outer() -> Any:
        return vow.resolved(1).then(lambda x: threading.current_thread().name)

    assert executor.run(outer).wait().startswith("here")


@pytest.mark.parametrize("seconds", [-1, float("nan"), "soon"])
def test_a_wrong_time_is_refused(seconds: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="delay"):
        vow.delay(seconds)


@pytest.mark.parametrize("prompt", [False, True])
def test_a_time_out_that_nobody_has_any_more_ends_its_work(prompt: bool) -> None:
    told: list[str] = []
    promise, resolver = vow.pending()
    resolver.on_cancel(lambda: told.append("stop"))
    timed = vow.timeout(promise, 3600, prompt=prompt)
    del promise
    assert told == []
    del timed
    assert told == ["stop"]


def test_a_time_out_that_has_a_handler_goes_on() -> None:
    promise, resolver = vow.pending()
    seen: list[int] = []
    vow.timeout(promise, 3600).then(seen.append, executor=vow.inline)
    resolver.resolve(1)
    assert seen == [1]


def test_retry_gives_up_with_the_last_error() -> None:
    with pytest.raises(OSError, match="3") as caught:
        vow.retry(lambda n: raises(OSError(str(n))), attempts=3, first_delay=0.001).wait()
    assert vow.error_attempts(caught.value) == 3
    assert vow.error_attempts(OSError()) == 0


def test_the_first_delay_of_a_retry_is_waited_for() -> None:
    begun = time.monotonic()
    with pytest.raises(OSError):
        vow.retry(lambda n: raises(OSError(str(n))), attempts=2, first_delay=0.1, jitter=0).wait()
    assert time.monotonic() - begun >= 0.1


def raises(error: BaseException) -> Any:
    raise error


def test_retry_asks_whether_it_may() -> None:
    asked: list[BaseException] = []

    def may(error: BaseException) -> bool:
        asked.append(error)
        return isinstance(error, OSError)

    with pytest.raises(KeyError):
        vow.retry(lambda n: raises(OSError() if n == 1 else KeyError()), 9, may_retry=may).wait()
    assert [type(error) for error in asked] == [OSError, KeyError]


def test_all_fails_with_the_first_and_says_which() -> None:
    error = KeyError("second")
    with pytest.raises(KeyError) as caught:
        vow.all([vow.resolved(1), vow.rejected(error), vow.pending()[0]]).wait()
    assert caught.value is error
    assert vow.error_index(error) == 1
    assert vow.error_index(OSError()) == -1


def test_all_settled_gives_values_and_exceptions() -> None:
    error = KeyError("k")
    assert vow.all_settled([vow.resolved(1), vow.rejected(error)]).wait() == [1, error]


def test_any_takes_the_first_value() -> None:
    assert vow.any([vow.rejected(KeyError()), vow.resolved(2)]).wait() == 2
    errors = [KeyError("a"), OSError("b")]
    with pytest.raises(vow.Aggregate) as caught:
        vow.any([vow.rejected(error) for error in errors]).wait()
    assert caught.value.errors == errors


def test_race_settles_as_the_first() -> None:
    assert vow.race([vow.delay(60), vow.delay(0.001, "fast")]).wait() == "fast"
    with pytest.raises(vow.Invalid):
        vow.race([]).wait()


def test_map_on_an_executor() -> None:
    names = vow.map([1, 2], lambda n: threading.current_thread().name, executor=threads(1, "m"))
    assert all(name.startswith("m_") for name in names.wait())
    with pytest.raises(ValueError, match="concurrency of -1"):
        vow.map([], str, -1)


def test_a_deadline_ends_a_scope() -> None:
    with pytest.raises(vow.TimedOut):
        with vow.Scope(deadline=0.01, grace=60) as scope:
            member = scope.add(vow.delay(60))
    assert isinstance(member.exception(), vow.Cancelled)
    with pytest.raises(vow.TimedOut):
        with vow.Scope(deadline=0) as scope:
            scope.add(vow.delay(60))
    with pytest.raises(ValueError):
        vow.Scope(deadline=-1)


def test_a_block_that_is_left_by_its_user_tells_of_no_deadline(
    unhandled: list[BaseException],
) -> None:
    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.02)

    async def work() -> None:
        async with vow.Scope(deadline=0.01) as scope:
            scope.add(slow())
            await asyncio.sleep(60)

    async def main() -> None:
        task = asyncio.ensure_future(work())
        await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert unhandled == []


def test_a_rejection_that_nobody_saw_is_told_once(unhandled: list[BaseException]) -> None:
    error = KeyError("lost")
    promise = vow.rejected(error)
    del promise
    assert unhandled == [error]
    unhandled.clear()


def test_without_a_hook_it_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    vow.on_unhandled(None)
    with caplog.at_level(logging.ERROR, "vow"):
        vow.rejected(KeyError("lost"))
    (record,) = caplog.records
    assert record.name == "vow"
    assert "KeyError('lost')" in record.getMessage()
    assert record.exc_info is not None and record.exc_info[0] is KeyError
    caplog.clear()


def test_progress_is_told() -> None:
    promise, resolver = vow.pending()
    seen: list[tuple[float, Any]] = []
    with vow.Loop() as loop:
        promise.on_progress(lambda fraction, note: seen.append((fraction, note)))
        resolver.set_progress(0.25, "a quarter")
        end = time.monotonic() + 60
        while not seen and time.monotonic() < end:
            loop.run_once(0.1)
        assert seen == [(0.25, "a quarter")]
        resolver.resolve()
        assert promise.wait() is None
    resolver.resolve()


def test_a_map_tells_its_share_by_itself() -> None:
    seen: list[float] = []
    with vow.Loop() as loop:
        promise = vow.map([1, 2, 3, 4], lambda n: vow.delay(0.005 * n, n), concurrency=2)
        promise.on_progress(lambda fraction, note: seen.append(fraction))
        assert loop.run_until(promise, 10) == [1, 2, 3, 4]
    assert seen == sorted(seen)
    assert all(0 < fraction <= 1 for fraction in seen)


def test_a_trace_is_written(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    with vow.trace(path):
        promise, resolver = vow.pending()
        link = promise.then(lambda x: x, label="second")
        resolver.resolve(1)
        assert link.wait() == 1
    events = json.loads(path.read_text())["traceEvents"]
    assert "second" in {event.get("name") for event in events}
    assert vow.trace(path).stop() == 0


def test_the_live_graph_is_written() -> None:
    with vow.trace():
        promise, resolver = vow.pending()
        link = promise.then(lambda x: x)
        nodes = json.loads(vow.graph("json"))["nodes"]
        assert len(nodes) >= 2
        assert vow.graph("dot").startswith("digraph")
        resolver.resolve()
        assert link.wait() is None
    with pytest.raises(ValueError, match="svg"):
        vow.graph("svg")
