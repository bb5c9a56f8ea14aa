"""Scenes of cancelling: which functions run, with what, and that they are through at the end.

In the journals, `x!` is the producer of x who is told, `f<` that f is called, `f>` that it returns,
`f~` that the library has let go of it, and `!Cancelled` the outcome.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any, Callable, Optional

import pytest

import vow


class Stage:
    """A function of the program, which says what becomes of it."""

    def __init__(self, journal: list[str], name: str, body: Callable[..., Any]) -> None:
        self.journal = journal
        self.name = name
        self.body = body
        weakref.finalize(self, journal.append, name + "~")

    def __call__(self, *inputs: Any) -> Any:
        shown = [type(one).__name__ if isinstance(one, vow.Error) else repr(one) for one in inputs]
        self.journal.append(f"{self.name}<{' '.join(shown)}")
        return self.body(*inputs)


def produced(journal: list[str], name: str) -> tuple[vow.Promise[Any], vow.Resolver[Any]]:
    promise, resolver = vow.pending()
    resolver.on_cancel(lambda: journal.append(name + "!"))
    return promise, resolver


def seen(journal: list[str], promise: vow.Promise[Any]) -> vow.Promise[Any]:
    """Writes the outcome down, and is fulfilled then."""
    return promise.then(
        lambda value: journal.append(f"!{value}"),
        lambda error: journal.append(f"!{type(error).__name__}"),
        executor=vow.inline,
    )


def nothing(*_inputs: Any) -> None:
    return None


@pytest.mark.parametrize("shared", [False, True])
def test_a_then_is_let_go_of_before_it_settles(shared: bool) -> None:
    journal: list[str] = []
    promise, _resolver = produced(journal, "x")
    other: Optional[vow.Promise[Any]] = promise if shared else None
    last = promise.then(Stage(journal, "f", nothing), executor=vow.inline)
    del promise
    end = seen(journal, last)
    assert last.cancel()
    assert not last.cancel()
    end.wait()
    assert journal == ([] if shared else ["x!"]) + ["f~", "!Cancelled"]
    assert other is None or other.state == "pending"


@pytest.mark.parametrize("shared", [False, True])
def test_clean_up_runs_once_on_the_way_down(shared: bool) -> None:
    journal: list[str] = []
    promise, _resolver = produced(journal, "x")
    other: Optional[vow.Promise[Any]] = promise if shared else None
    last = (
        promise.catch(Stage(journal, "c", lambda error: 7), executor=vow.inline)
        .finally_(Stage(journal, "f", nothing), executor=vow.inline)
        .then(Stage(journal, "t", nothing), executor=vow.inline)
    )
    del promise
    end = seen(journal, last)
    assert last.cancel()
    end.wait()
    way_down = ["c<Cancelled", "c~", "f<", "f~", "t~", "!Cancelled"]
    assert journal == ([] if shared else ["x!"]) + way_down
    del other


@pytest.mark.parametrize("where", ["pool", "serial"])
def test_a_function_that_runs_returns_first(where: str) -> None:
    journal: list[str] = []
    entered, opened = threading.Event(), threading.Event()

    def work(_value: Any) -> None:
        entered.set()
        assert opened.wait(60)
        journal.append("f>")

    executor = vow.pool if where == "pool" else vow.serial("quiet")
    last = vow.resolved(5).then(Stage(journal, "f", work), executor=executor)
    end = seen(journal, last)
    assert entered.wait(60)
    assert last.cancel()
    assert last.state == "pending"
    opened.set()
    end.wait()
    assert journal == ["f<5", "f>", "f~", "!Cancelled"]


@pytest.mark.parametrize("cancels", [False, True])
def test_a_function_is_kept_until_what_it_returned_is_through(cancels: bool) -> None:
    journal: list[str] = []
    promise, resolver = produced(journal, "y")
    given = [promise]
    del promise
    last = vow.resolved(5).then(Stage(journal, "f", lambda _: given.pop()), executor=vow.inline)
    end = seen(journal, last)
    assert journal == ["f<5"]
    if cancels:
        assert last.cancel()
    else:
        resolver.resolve(1)
    end.wait()
    assert journal == ["f<5"] + (["y!", "f~", "!Cancelled"] if cancels else ["f~", "!1"])


@pytest.mark.parametrize("way", ["timeout", "all", "scope", "token"])
def test_clean_up_runs_however_it_ends(way: str) -> None:
    journal: list[str] = []
    source = vow.CancelSource()
    promise, _resolver = produced(journal, "x")
    token = source.token if way == "token" else None
    held = [promise.finally_(Stage(journal, "f", nothing), executor=vow.inline, token=token)]
    del promise
    if way == "timeout":
        with vow.Loop(virtual=True) as loop:
            end = vow.timeout(held.pop(), 1)
            loop.advance(1)
            assert isinstance(end.exception(), vow.TimedOut)
    elif way == "all":
        other, decides = vow.pending()
        end = vow.all([held.pop(), other])
        decides.reject(ValueError("no"))
        with pytest.raises(ValueError):
            end.wait()
    elif way == "scope":
        scope = vow.Scope()
        scope.add(held.pop())
        scope.cancel()
        scope.close().wait()
    else:
        assert source.cancel()
        assert isinstance(held[0].exception(), vow.Cancelled)
    assert journal == ["x!", "f<", "f~"]


def test_a_map_settles_when_its_calls_have_returned() -> None:
    journal: list[str] = []
    entered, opened = threading.Event(), threading.Event()

    def work(number: int) -> None:
        journal.append(f"m<{number}")
        entered.set()
        assert opened.wait(60)
        journal.append("m>")

    promise = vow.map([1, 2, 3], work, concurrency=1)
    end = seen(journal, promise)
    assert entered.wait(60)
    assert promise.cancel()
    assert promise.state == "pending"
    opened.set()
    end.wait()
    assert journal == ["m<1", "m>", "!Cancelled"]


def test_clean_up_runs_exactly_once_whoever_is_quicker() -> None:
    for round_ in range(200):
        called: list[int] = []
        promise, resolver = vow.pending()
        executor = vow.inline if round_ % 2 else vow.pool
        last = promise.finally_(lambda: called.append(round_), executor=executor)
        del promise
        other = threading.Thread(target=last.cancel)
        other.start()
        resolver.resolve(1)
        other.join()
        seen([], last).wait()
        assert called == [round_]
        del last
