"""Blocking a thread."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import pytest

import vow


@pytest.mark.parametrize("main", [True, False])
def test_a_wait_ends_when_its_time_is_up(main: bool) -> None:
    promise, resolver = vow.pending()
    caught: list[BaseException] = []

    def wait() -> None:
        try:
            promise.wait(0.01)
        except vow.TimedOut as error:
            caught.append(error)

    if main:
        wait()
    else:
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join()
    assert "0.01 seconds" in str(caught.pop())
    assert promise.state == "pending"
    resolver.resolve(1)
    assert promise.wait(0) == 1


def test_a_wait_of_no_time_looks_and_returns() -> None:
    promise, resolver = vow.pending()
    with pytest.raises(vow.TimedOut):
        promise.wait(0)
    with pytest.raises(ValueError, match="negative"):
        promise.wait(-1)
    resolver.resolve()


@pytest.mark.parametrize("loop", [False, True])
def test_a_signal_ends_a_wait_of_the_main_thread(loop: bool) -> None:
    promise, _resolver = vow.pending()
    here = vow.Loop() if loop else None
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        promise.wait(60)
    timer.join()
    if here is not None:
        here.close()


def test_a_handler_on_the_pool_may_wait() -> None:
    def outer() -> Any:
        return vow.pool.run(lambda: 1).wait() + 1

    assert vow.all([vow.pool.run(outer) for _ in range(50)]).wait() == [2] * 50
