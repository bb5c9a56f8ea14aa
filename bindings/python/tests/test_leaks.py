"""Operations of every kind leave nothing behind: storms/leaks.py, smaller."""

from __future__ import annotations

from typing import Any, Callable

import pytest

import leaks
import vow


@pytest.mark.parametrize("kind", leaks.KINDS, ids=[kind.__name__ for kind in leaks.KINDS])
def test_what_is_done_often_leaves_nothing(
    kind: Callable[[], Any], unhandled: list[BaseException]
) -> None:
    assert leaks.look(kind, 500) == []
    unhandled.clear()  # promises without a resolver are some of what is done


def test_what_leaves_something_would_be_found() -> None:
    left: list[Any] = []
    found = leaks.look(lambda: left.append([vow.Promise]), 500)
    assert found == ["+500 objects", f"+500 references of {vow.Promise!r}"]
