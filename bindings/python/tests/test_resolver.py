"""Resolvers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import vow


def test_the_first_result_counts() -> None:
    promise, resolver = vow.pending()
    assert resolver.resolve(1) is True
    assert resolver.resolve(2) is False
    assert resolver.reject(OSError()) is False
    assert promise.wait() == 1


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


def test_a_block_that_raises_rejects() -> None:
    promise, resolver = vow.pending()
    with resolver:
        raise KeyError("in the block")
    with pytest.raises(KeyError):
        promise.wait()


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


def test_the_producer_is_told_when_it_is_cancelled() -> None:
    promise, resolver = vow.pending()
    told: list[str] = []
    resolver.on_cancel(lambda: told.append("cancelled"))
    assert promise.cancel()
    assert told == ["cancelled"]
    assert not resolver.resolve(1)
    with pytest.raises(vow.Cancelled):
        promise.wait()


def test_the_producer_is_told_when_nobody_is_left() -> None:
    promise, resolver = vow.pending()
    told: list[str] = []
    resolver.on_cancel(lambda: told.append("unwanted"))
    del promise
    assert told == ["unwanted"]


def test_the_producer_is_not_told_after_it_resolved() -> None:
    promise, resolver = vow.pending()
    told: list[str] = []
    resolver.on_cancel(lambda: told.append("no"))
    resolver.resolve(1)
    assert not promise.cancel()
    del promise, resolver
    assert told == []


def test_a_coroutine_is_followed() -> None:
    async def later() -> str:
        await asyncio.sleep(0)
        return "later"

    async def main() -> None:
        promise, resolver = vow.pending()
        resolver.resolve(later())
        assert await promise == "later"

    asyncio.run(main())


def test_what_a_notice_raises_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr("sys.unraisablehook", seen.append)
    promise, resolver = vow.pending()

    def broken() -> None:
        raise ValueError("in a notice")

    resolver.on_cancel(broken)
    promise.cancel()
    assert [type(one.exc_value) for one in seen] == [ValueError]
    assert seen[0].object is broken
    seen.clear()
