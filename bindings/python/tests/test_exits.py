"""`sys.exit()` and Ctrl-C leave what the library calls, on the main thread, as they leave what asyncio calls."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any, Callable

import pytest
import uvloop

import vow


def leave(*_: Any) -> None:
    sys.exit(5)


def inline() -> None:
    promise, resolver = vow.pending()
    promise.then(leave, executor=vow.inline)
    resolver.resolve(1)


def nested() -> None:
    """The inner one leaves when the outer handler, which the library has called, has returned."""

    def outer() -> None:
        inline()
        reached.append("the end of the outer one")

    reached: list[str] = []
    try:
        vow.inline.run(outer)
        for _ in range(2):
            pass
    finally:
        assert reached == ["the end of the outer one"]


def on_cancel() -> None:
    promise, resolver = vow.pending()
    resolver.on_cancel(leave)
    promise.cancel()


def token() -> None:
    source = vow.CancelSource()
    source.token.on_cancel(leave)
    source.cancel()


def may_retry() -> None:
    def fails(attempt: int) -> None:
        raise KeyError

    vow.retry(fails, 2, may_retry=leave, executor=vow.inline).catch(str)  # type: ignore[arg-type]


def hook() -> None:
    vow.on_unhandled(leave)
    vow.rejected(KeyError())


def ctrl_c() -> None:
    vow.inline.run(interrupt)


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("way", [inline, nested, on_cancel, token, may_retry, hook, ctrl_c])
def test_it_leaves_the_call_of_the_library(
    way: Callable[[], None], unhandled: list[BaseException]
) -> None:
    with pytest.raises((SystemExit, KeyboardInterrupt)):
        way()
        for _ in range(2):  # the interpreter looks as it goes back in a loop, at the latest
            pass
    unhandled.clear()


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
@pytest.mark.parametrize("way", [inline, on_cancel, token])
def test_it_leaves_the_loop_from_there(
    run: Any, way: Callable[[], None], unhandled: list[BaseException]
) -> None:
    async def main() -> None:
        asyncio.get_running_loop().call_soon(way)
        await asyncio.sleep(60)

    with pytest.raises(SystemExit):
        run(main())
    unhandled.clear()


def test_a_coroutine_whose_promise_nobody_has_goes_on_and_leaves(
    unhandled: list[BaseException],
) -> None:
    async def work() -> None:
        await asyncio.sleep(0)
        leave()

    async def main() -> None:
        vow.from_awaitable(work())
        await asyncio.sleep(3600)

    with pytest.raises(SystemExit):
        asyncio.run(main())
    unhandled.clear()


def test_on_another_thread_it_rejects_alone() -> None:
    def work() -> None:
        promise, resolver = vow.pending()
        link = promise.then(leave, executor=vow.inline)
        resolver.resolve(1)
        seen.append(link.exception())

    seen: list[Any] = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert [type(error) for error in seen] == [SystemExit]
