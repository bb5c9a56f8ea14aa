"""Delays, time-outs, retries."""

from __future__ import annotations

from typing import Any

import pytest

import vow


@pytest.mark.parametrize("seconds", [-1, float("nan"), "soon"])
def test_a_wrong_time_is_refused(seconds: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="delay"):
        vow.delay(seconds)


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
