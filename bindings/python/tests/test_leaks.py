"""Operations of every kind leave nothing behind: storms/leaks.py, smaller."""

from __future__ import annotations

from typing import Any, Callable

import pytest

import leaks
import vow


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
