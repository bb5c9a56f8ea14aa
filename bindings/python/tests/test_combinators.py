"""Many promises as one."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import vow

from programs import threads


def test_all_keeps_the_order() -> None:
    pairs = [vow.pending() for _ in range(3)]
    promise = vow.all([p for p, _ in pairs])
    for number, (_, resolver) in reversed(list(enumerate(pairs))):
        resolver.resolve(number)
    assert promise.wait() == [0, 1, 2]
    assert vow.all([]).wait() == []


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


def test_map_keeps_to_its_concurrency() -> None:
    lock = threading.Lock()
    state = {"now": 0, "most": 0}

    def enter(n: int) -> Any:
        with lock:
            state["now"] += 1
            state["most"] = max(state["most"], state["now"])
        return vow.delay(0.002).then(lambda x: leave(n))

    def leave(n: int) -> int:
        with lock:
            state["now"] -= 1
        return n * n

    assert vow.map(range(30), enter, concurrency=5).wait() == [n * n for n in range(30)]
    assert 1 < state["most"] <= 5


def test_map_stops_at_the_first_failure() -> None:
    begun: list[int] = []

    def work(n: int) -> int:
        begun.append(n)
        if n == 3:
            raise KeyError(n)
        return n

    with pytest.raises(KeyError) as caught:
        vow.map(range(1000), work, concurrency=1).wait()
    assert begun == [0, 1, 2, 3]
    assert vow.error_index(caught.value) == 3


def test_map_on_an_executor() -> None:
    names = vow.map([1, 2], lambda n: threading.current_thread().name, executor=threads(1, "m"))
    assert all(name.startswith("m_") for name in names.wait())
    with pytest.raises(ValueError, match="concurrency of -1"):
        vow.map([], str, -1)


def test_cancelling_a_map_stops_it() -> None:
    begun: list[int] = []

    def work(n: int) -> Any:
        begun.append(n)
        return vow.delay(60)

    with vow.Loop() as loop:
        promise = vow.map(range(10), work, concurrency=2)
        while len(begun) < 2:
            loop.run_once(1)
        assert promise.cancel()
        with pytest.raises(vow.Cancelled):
            promise.wait()
    assert begun == [0, 1]


def test_a_scope_waits_for_its_members() -> None:
    done: list[str] = []
    with vow.Scope() as scope:
        scope.add(vow.delay(0.005).then(lambda x: done.append("slow")))
        scope.add(vow.resolved(1).then(lambda x: done.append("fast")))
    assert sorted(done) == ["fast", "slow"]


def test_a_scope_that_fails_cancels_its_members() -> None:
    with pytest.raises(KeyError):
        with vow.Scope() as scope:
            member = scope.add(vow.delay(60).then(lambda x: x))
            raise KeyError("block")
    assert isinstance(member.exception(), vow.Cancelled)


def test_a_scope_fails_with_its_member() -> None:
    with pytest.raises(OSError):
        with vow.Scope() as scope:
            scope.add(vow.rejected(OSError("member")))


def test_a_closed_or_cancelled_scope_takes_nobody() -> None:
    scope = vow.Scope()
    scope.cancel()
    member = scope.add(vow.delay(60))
    assert isinstance(member.exception(), vow.Cancelled)
    assert scope.close().wait() is None
    with pytest.raises(vow.Shutdown):
        scope.add(vow.resolved(1))
    with pytest.raises(vow.Shutdown):
        scope.close()


def test_a_scope_that_fails_fast_cancels_the_others() -> None:
    with pytest.raises(OSError):
        with vow.Scope(fail_fast=True) as scope:
            other = scope.add(vow.delay(60))
            scope.add(vow.rejected(OSError("member")))
    assert isinstance(other.exception(), vow.Cancelled)


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


def test_a_deadline_ends_a_scope_in_asyncio() -> None:
    import asyncio

    async def main() -> None:
        with pytest.raises(vow.TimedOut):
            async with vow.Scope(deadline=0.01) as scope:
                scope.add(asyncio.sleep(60))

    asyncio.run(main())


def test_a_scope_in_asyncio() -> None:
    import asyncio

    done: list[int] = []

    async def work(n: int) -> None:
        await asyncio.sleep(0.001 * n)
        done.append(n)

    async def main() -> None:
        async with vow.Scope() as scope:
            for n in (3, 1, 2):
                scope.add(work(n))
        assert sorted(done) == [1, 2, 3]

    asyncio.run(main())


def test_progress_of_a_map_on_an_executor_is_told() -> None:
    told: list[float] = []
    may_go_on = threading.Semaphore(0)

    def work(number: int) -> int:
        may_go_on.acquire(timeout=20)
        return number

    def tell(fraction: float, note: Any) -> None:
        told.append(fraction)
        may_go_on.release()

    with vow.Loop() as loop:
        promise = vow.map(range(4), work, concurrency=1, executor=threads(1))
        promise.on_progress(tell)
        may_go_on.release()
        assert loop.run_until(promise, 10) == [0, 1, 2, 3]
        while len(told) < 4 and loop.run_once(10):  # the last may come after the outcome
            pass
    assert told == [0.25, 0.5, 0.75, 1]


def test_a_block_that_is_left_by_its_user_tells_of_no_deadline(
    unhandled: list[BaseException],
) -> None:
    import asyncio

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
