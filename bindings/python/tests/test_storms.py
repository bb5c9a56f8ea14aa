"""The storms, smaller: tasks, a web service with two users, and what leaves something behind."""

from __future__ import annotations

import asyncio
import contextvars
from typing import Any, Callable

import pytest

import vow

import leaks
import tasks
import two_users


@pytest.fixture(autouse=True)
def quiet(unhandled: list[BaseException]) -> None:
    """What nobody looks at is some of it."""
    vow.on_unhandled(lambda error: None)


@pytest.mark.parametrize("seed", [1, 2])
def test_each_task_ends_in_the_right_way(seed: int) -> None:
    awaits, wrong = tasks.storm(1.0, seed)
    assert wrong == []
    assert awaits > 0


def test_a_task_that_ends_in_another_way_would_be_found(monkeypatch: Any) -> None:
    monkeypatch.setattr(tasks.Storm, "settle", lambda self, resolver: resolver.resolve("another"))
    _, wrong = tasks.storm(60.0, 3)
    assert set(wrong) == {"awaited 'another'"}


def test_no_answer_has_the_other_users_name() -> None:
    service = two_users.starlette()
    assert asyncio.run(two_users.storm(two_users.directly(service), 1500)) == []


def test_a_service_that_mixes_them_up_would_be_found(monkeypatch: Any) -> None:
    first: list[contextvars.Context] = []

    def query_of_the_first() -> Any:
        first.append(contextvars.copy_context())
        return first[0].copy().run(vow.run, two_users.query)

    monkeypatch.setattr(two_users, "WAYS", {"run": query_of_the_first})
    wrong = asyncio.run(two_users.storm(two_users.directly(two_users.starlette()), 100))
    assert {(way, said) for _, way, said in wrong} == {("run", "alice")}
    assert {name for name, _, _ in wrong} == {"bob"}


CASES = [(kind, "asyncio") for kind in leaks.KINDS]
CASES += [(kind, loop) for loop in leaks.LOOPS for kind in leaks.EVERYWHERE]


@pytest.mark.parametrize("kind, loop", CASES, ids=[f"{kind.__name__}-{on}" for kind, on in CASES])
def test_what_is_done_often_leaves_nothing(
    kind: Callable[[], Any], loop: str, unhandled: list[BaseException]
) -> None:
    assert leaks.look(kind, 500, loop) == []
    unhandled.clear()  # promises without a resolver are some of what is done


def test_what_leaves_something_would_be_found() -> None:
    left: list[Any] = []
    found = leaks.look(lambda: left.append([vow.Promise]), 500)
    assert "+500 objects" in found and f"+500 references of {vow.Promise!r}" in found
