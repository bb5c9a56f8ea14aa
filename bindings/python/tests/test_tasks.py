"""Tasks that await, are cancelled and are woken, by everybody at once: storms/tasks.py, shorter."""

from __future__ import annotations

from typing import Any

import pytest

import tasks
import vow


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
