"""Delays, time-outs, retries."""

from __future__ import annotations

import time
from typing import Any

import pytest

import vow


def test_a_delay_takes_at_least_its_time() -> None:
    start = time.monotonic()
    assert vow.delay(0.02, "done").wait() == "done"
    assert time.monotonic() - start >= 0.02


@pytest.mark.parametrize("seconds", [-1, float("nan"), "soon"])
def test_a_wrong_time_is_refused(seconds: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="delay"):
        vow.delay(seconds)


def test_a_time_out_rejects_and_cancels_what_took_too_long() -> None:
    told: list[str] = []

    def slow() -> vow.Promise[Any]:
        promise, resolver = vow.pending()
        resolver.on_cancel(lambda: told.append("stop"))
        told.append("begun")
        keep.append(resolver)
        return promise

    keep: list[Any] = []
    with pytest.raises(vow.TimedOut):
        vow.timeout(slow(), 0.005).wait()
    assert told == ["begun", "stop"]
    with pytest.raises(TimeoutError):
        vow.timeout(vow.delay(60), 0.001).wait()
    assert vow.timeout(vow.resolved(1), None).wait() == 1


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


def test_retry_tries_again() -> None:
    tries: list[int] = []

    def work(attempt: int) -> str:
        tries.append(attempt)
        if attempt < 3:
            raise OSError(attempt)
        return "third"

    assert vow.retry(work, attempts=5).wait() == "third"
    assert tries == [1, 2, 3]


def test_retry_gives_up_with_the_last_error() -> None:
    with pytest.raises(OSError, match="3") as caught:
        vow.retry(lambda n: _raise(OSError(str(n))), attempts=3, first_delay=0.001).wait()
    assert vow.error_attempts(caught.value) == 3
    assert vow.error_attempts(OSError()) == 0


def _raise(error: BaseException) -> Any:
    raise error


def test_retry_asks_whether_it_may() -> None:
    asked: list[BaseException] = []

    def may(error: BaseException) -> bool:
        asked.append(error)
        return isinstance(error, OSError)

    with pytest.raises(KeyError):
        vow.retry(lambda n: _raise(OSError() if n == 1 else KeyError()), 9, may_retry=may).wait()
    assert [type(error) for error in asked] == [OSError, KeyError]


def test_retry_has_a_deadline() -> None:
    with pytest.raises(vow.TimedOut) as caught:
        vow.retry(lambda n: vow.delay(60), deadline=0.01, executor=vow.pool).wait()
    assert vow.error_attempts(caught.value) == 1
    with pytest.raises(vow.Invalid):
        vow.retry(lambda n: n, jitter=2).wait()


