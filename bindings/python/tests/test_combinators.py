"""Many promises as one."""

from __future__ import annotations

import threading

import pytest

import vow

from programs import threads


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
