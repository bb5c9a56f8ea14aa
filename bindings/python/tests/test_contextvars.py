"""Context variables: each handler, coroutines included, sees those of its registration."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import weakref
from typing import Any, Awaitable, Callable

import pytest

import vow

user: contextvars.ContextVar[str] = contextvars.ContextVar("user", default="nobody")


async def who(*_arguments: Any) -> str:
    await asyncio.sleep(0)
    return user.get()


async def as_retry(attempt: int) -> str:
    if attempt == 1:
        await asyncio.sleep(0)
        raise ConnectionError(user.get())
    return await who()


async def in_a_scope() -> Any:
    async with vow.Scope() as scope:
        members = [scope.add(who()), scope.add(vow.run(who))]
    return {member.result() for member in members}.pop()


WAYS: dict[str, Callable[[], Awaitable[Any]]] = {
    "run": lambda: vow.run(who),
    "then": lambda: vow.delay(0.001).then(who),
    "catch": lambda: vow.delay(0.001).then(lambda x: 1 // 0).catch(who),
    "finally": lambda: _told_by_finally(),
    "map": lambda: vow.map([1, 2, 3], who, concurrency=1).then(lambda users: set(users).pop()),
    "retry": lambda: vow.retry(as_retry, first_delay=0.001),
    "scope": in_a_scope,
}


def _told_by_finally() -> Awaitable[Any]:
    told: list[str] = []

    async def tell() -> None:
        told.append(await who())

    return vow.delay(0.001).finally_(tell).then(lambda x: told[0])


@pytest.mark.parametrize("way", WAYS)
def test_coroutines_of_two_users_see_their_own_data(way: str) -> None:
    async def request(name: str) -> None:
        user.set(name)
        for _ in range(5):
            assert await WAYS[way]() == name
            await asyncio.sleep(0)

    async def main() -> None:
        await asyncio.gather(*(request(name) for name in ("alice", "bob", "carol")))

    asyncio.run(main())


def test_a_coroutine_changes_variables_for_itself_alone() -> None:
    async def change() -> str:
        user.set("changed")
        await asyncio.sleep(0)
        return user.get()

    async def main() -> None:
        user.set("alice")
        assert await vow.run(change) == "changed"
        assert user.get() == "alice"

    asyncio.run(main())


def test_the_attached_loop_keeps_no_context_of_a_request() -> None:
    """Else the first request's data would live as long as the loop."""

    class Data:
        pass

    kept: contextvars.ContextVar[Data] = contextvars.ContextVar("kept")

    async def request() -> Any:
        data = Data()
        kept.set(data)
        await vow.delay(0.001)
        return weakref.ref(data)

    async def main() -> None:
        gone = await asyncio.ensure_future(request())
        await asyncio.sleep(0)
        gc.collect()
        assert gone() is None

    asyncio.run(main())
