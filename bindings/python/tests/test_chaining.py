"""then, catch, finally_."""

from __future__ import annotations

from typing import Any

import pytest

import vow


def test_catch_takes_only_the_class_that_it_names() -> None:
    error = KeyError("k")
    promise = vow.rejected(error)
    assert promise.catch(lambda e: "key", KeyError).wait() == "key"
    assert promise.catch(lambda e: "any", (OSError, LookupError)).wait() == "any"
    with pytest.raises(KeyError) as caught:
        promise.catch(lambda e: "no", OSError).wait()
    assert caught.value is error


def test_then_takes_both_handlers() -> None:
    assert vow.resolved(1).then(lambda x: "value", lambda e: "error").wait() == "value"
    assert vow.rejected(OSError()).then(lambda x: "value", lambda e: "error").wait() == "error"


def test_finally_passes_the_outcome_on() -> None:
    ran: list[str] = []
    assert vow.resolved(5).finally_(lambda: ran.append("value")).wait() == 5
    with pytest.raises(OSError):
        vow.rejected(OSError("x")).finally_(lambda: ran.append("error")).wait()
    assert ran == ["value", "error"]


@pytest.mark.parametrize("method", ["then", "catch", "finally_"])
def test_what_is_no_function_is_refused_at_once(method: str) -> None:
    with pytest.raises(TypeError, match=f"{method}: 3 cannot be called"):
        getattr(vow.resolved(1), method)(3)


def test_repr_says_the_state() -> None:
    promise, resolver = vow.pending()
    assert repr(promise) == "<vow.Promise pending>"
    resolver.resolve(3)
    assert repr(promise) == "<vow.Promise fulfilled>"
    assert promise.result() == 3
    assert repr(promise) == "<vow.Promise fulfilled 3>"
    failed = vow.rejected(OSError("x"))
    assert isinstance(failed.exception(), OSError)
    assert repr(failed) == "<vow.Promise rejected OSError('x')>"


def test_a_chain_of_100_000_links_is_run_and_freed() -> None:
    first, resolver = vow.pending()
    promise = first
    for _ in range(100_000):
        promise = promise.then(lambda x: x + 1, executor=vow.inline)
    resolver.resolve(0)
    assert promise.result() == 100_000


def test_a_deep_chain_that_never_ran_is_freed() -> None:
    promise, resolver = vow.pending()
    for _ in range(100_000):
        promise = promise.then(lambda x: x)
    resolver.close()
    with pytest.raises(vow.Broken):
        promise.wait()


def test_a_recursion_through_returned_promises_ends() -> None:
    def step(n: int) -> Any:
        return n if n == 20_000 else vow.resolved(n + 1).then(step)

    assert vow.resolved(0).then(step).wait() == 20_000
