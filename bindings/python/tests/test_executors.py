"""Where handlers run."""

from __future__ import annotations

import threading
from typing import Any, Callable


import vow

from programs import threads


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
