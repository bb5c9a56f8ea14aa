"""After each test nothing may be left: promises, bytes, kept objects, unseen rejections."""

from __future__ import annotations

import asyncio
import gc
import inspect
import time
from typing import Any, Iterator, Optional

import pytest
import trio

import vow
from vow import _core


@pytest.fixture(autouse=True, scope="session")
def small_heap() -> None:
    """What the tools have loaded need not be looked through after each test."""
    gc.collect()
    gc.freeze()


def _held() -> tuple[int, int, int]:
    statistics = vow.stats()
    return statistics.live, statistics.bytes, _core.kept()


@pytest.fixture
def unhandled() -> Iterator[list[BaseException]]:
    """The rejections that nobody looked at; a test that expects some clears the list."""
    seen: list[BaseException] = []
    vow.on_unhandled(seen.append)
    yield seen
    vow.on_unhandled(None)


@pytest.fixture(autouse=True)
def nothing_left(unhandled: list[BaseException]) -> Iterator[None]:
    gc.collect()
    before = _held()
    yield
    end = time.monotonic() + 60
    while True:
        gc.collect()
        after = _held()
        if after == before or time.monotonic() > end:
            break
        time.sleep(0.01)
    left = [repr(error) for error in unhandled]
    unhandled.clear()
    gc.collect()
    assert after == before, "promises, bytes and objects that the library holds"
    assert left == [], "rejections that nobody looked at"


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Optional[bool]:
    """A test that is a coroutine function runs in asyncio; one of test_trio.py in trio."""
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(test).parameters}
    if test.__module__ == "test_trio":
        trio.run(lambda: test(**arguments))
    else:
        asyncio.run(test(**arguments))
    return True
