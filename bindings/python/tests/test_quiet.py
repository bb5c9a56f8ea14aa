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
