"""A web service with promises in its handlers, asked by two users at once: storms/two_users.py, smaller."""

from __future__ import annotations

import asyncio
import contextvars
from typing import Any

import two_users
import vow


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
