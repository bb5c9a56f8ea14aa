"""Where handlers run."""

from __future__ import annotations

import concurrent.futures
import threading
import time
from typing import Any, Callable

import pytest

import vow

from programs import threads


def test_the_pool_runs_handlers_on_other_threads() -> None:
    assert vow.pool.run(threading.get_ident).wait() != threading.get_ident()


def test_run_passes_arguments() -> None:
    assert vow.run(divmod, 7, 2).wait() == (3, 1)
    assert vow.pool.run(int, "ff", base=16).wait() == 255


def test_inline_runs_within_the_call_that_settles() -> None:
    promise, resolver = vow.pending()
    ran: list[int] = []
    promise.then(lambda x: ran.append(threading.get_ident()), executor=vow.inline)
    resolver.resolve()
    assert ran == [threading.get_ident()]


def test_a_serial_executor_runs_one_at_a_time() -> None:
    serial = vow.serial("one")
    state = {"inside": 0, "most": 0}

    def work(n: int) -> int:
        state["inside"] += 1
        state["most"] = max(state["most"], state["inside"])
        time.sleep(0.0005)
        state["inside"] -= 1
        return n

    assert vow.all([serial.run(work, n) for n in range(40)]).wait() == list(range(40))
    assert state["most"] == 1


def test_an_executor_of_concurrent_futures() -> None:
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        executor = vow.from_futures(threads)
        assert vow.resolved(20).then(lambda x: x + 1, executor=executor).wait() == 21


def test_ones_own_executor() -> None:
    queue: list[Callable[[], None]] = []
    executor = vow.Executor(queue.append, serial=True)
    promise = vow.resolved(1).then(lambda x: x + 1, executor=executor)
    assert promise.state == "pending"
    assert len(queue) == 1
    queue.pop()()
    assert promise.wait() == 2


def test_an_executor_that_refuses_loses_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr("sys.unraisablehook", seen.append)

    def refuse(work: Callable[[], None]) -> None:
        raise ValueError("not today")

    assert vow.resolved(1).then(lambda x: 2, executor=vow.Executor(refuse)).wait() == 2
    assert [type(one.exc_value) for one in seen] == [ValueError]
    seen.clear()
    with pytest.raises(TypeError):
        vow.Executor(3)  # type: ignore[arg-type]


def test_handlers_stay_on_the_executor_that_they_are_made_on() -> None:
    executor = threads(1, "here")

    def outer() -> Any:
        return vow.resolved(1).then(lambda x: threading.current_thread().name)

    assert executor.run(outer).wait().startswith("here")


def test_waiting_in_a_serial_handler_for_its_own_executor_is_refused() -> None:
    serial = vow.serial()

    def outer() -> Any:
        return serial.run(lambda: 1).wait()

    with pytest.raises(vow.Deadlock):
        serial.run(outer).wait()
