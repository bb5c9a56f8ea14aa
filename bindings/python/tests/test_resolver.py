"""Resolvers."""

from __future__ import annotations

import asyncio

import pytest

import vow


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


def test_a_coroutine_is_followed() -> None:
    async def later() -> str:
        await asyncio.sleep(0)
        return "later"

    async def main() -> None:
        promise, resolver = vow.pending()
        resolver.resolve(later())
        assert await promise == "later"

    asyncio.run(main())
