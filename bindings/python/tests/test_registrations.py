"""Functions that leave tokens and resolvers."""

from __future__ import annotations

import gc
import weakref
from typing import Any


import vow


def test_what_has_left_is_not_called_and_is_let_go_of() -> None:
    class Held:
        pass

    source = vow.CancelSource()
    told: list[str] = []
    held = Held()
    ref = weakref.ref(held)

    def leaves(held: Any = held) -> None:
        told.append("leaves")

    registration = source.token.on_cancel(leaves)
    stays = source.token.on_cancel(lambda: told.append("stays"))
    del held, leaves
    assert registration.stage == "waiting"
    assert registration.leave() == "never runs"
    gc.collect()
    assert ref() is None
    source.cancel()
    assert told == ["stays"]
    assert stays.leave() == "has run"


def test_a_linked_source_lives_by_its_token() -> None:
    parent = vow.CancelSource()
    token = vow.CancelSource(parent.token).token
    told: list[str] = []
    token.on_cancel(lambda: told.append("cancelled"))
    gc.collect()
    assert told == []
    parent.cancel()
    assert told == ["cancelled"]
    assert token.cancelled
