"""then, catch, finally_."""

from __future__ import annotations

import asyncio
import contextvars
from typing import Any

import pytest

import vow


def fail(error: BaseException) -> Any:
    raise error


class Adds:
    def __init__(self, order: list[int], number: int) -> None:
        self.order, self.number = order, number

    def __call__(self, value: Any) -> None:
        self.order.append(self.number)


def test_then_gets_the_value_and_settles_with_what_it_returns() -> None:
    assert vow.resolved(41).then(lambda x: x + 1).wait() == 42


def test_a_promise_has_many_readers() -> None:
    promise, resolver = vow.pending()
    readers = [promise.then(i.__add__) for i in range(5)]
    resolver.resolve(10)
    assert [reader.wait() for reader in readers] == [10, 11, 12, 13, 14]
    assert promise.wait() == 10


def test_handlers_of_one_promise_start_in_order() -> None:
    promise, resolver = vow.pending()
    order: list[int] = []
    serial = vow.serial("order")
    links = [promise.then(Adds(order, i), executor=serial) for i in range(50)]
    resolver.resolve()
    vow.all(links).wait()
    assert order == list(range(50))


def test_a_returned_promise_is_waited_for() -> None:
    inner, resolver = vow.pending()
    outer = vow.resolved(1).then(lambda x: inner)
    resolver.resolve("inner")
    assert outer.wait() == "inner"


def test_an_exception_passes_then_and_reaches_catch() -> None:
    error = KeyError("k")
    never: list[Any] = []
    promise = vow.rejected(error).then(never.append).then(never.append)
    assert promise.catch(lambda e: e).wait() is error
    assert never == []


def test_a_value_passes_catch() -> None:
    assert vow.resolved(3).catch(lambda e: 4).wait() == 3


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


def test_what_finally_raises_takes_the_place() -> None:
    with pytest.raises(KeyError):
        vow.resolved(5).finally_(lambda: fail(KeyError())).wait()


def test_finally_waits_for_a_promise() -> None:
    inner, resolver = vow.pending()
    promise = vow.resolved(5).finally_(lambda: inner)
    assert not promise.done()
    resolver.resolve("ignored")
    assert promise.wait() == 5


def test_context_variables_travel_along() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")
    variable.set("here")
    promise = vow.resolved(1).then(lambda x: variable.get(), executor=vow.pool)
    variable.set("later")
    assert promise.wait() == "here"


@pytest.mark.parametrize("method", ["then", "catch", "finally_"])
def test_what_is_no_function_is_refused_at_once(method: str) -> None:
    with pytest.raises(TypeError, match=f"{method}: 3 cannot be called"):
        getattr(vow.resolved(1), method)(3)


def test_a_promise_is_not_made_by_its_class() -> None:
    with pytest.raises(TypeError, match="vow.pending"):
        vow.Promise()
    with pytest.raises(TypeError, match="vow.pending"):
        vow.Resolver()


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


def test_result_of_a_pending_promise_is_refused() -> None:
    promise, resolver = vow.pending()
    with pytest.raises(asyncio.InvalidStateError):
        promise.result()
    with pytest.raises(asyncio.InvalidStateError):
        promise.exception()
    resolver.resolve()
    assert promise.result() is None
    assert promise.exception() is None


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
