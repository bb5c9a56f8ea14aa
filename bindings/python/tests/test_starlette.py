"""A web service with promises in its handlers, asked by two users at once."""

from __future__ import annotations

import asyncio
import contextvars
import os
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

import vow

REQUESTS = int(os.environ.get("VOW_REQUESTS", "1000"))
USERS = ("alice", "bob")

user: contextvars.ContextVar[str] = contextvars.ContextVar("user", default="nobody")


async def query(_before: Any = None) -> str:
    await asyncio.sleep(0)
    return user.get()


async def answer(request: Request) -> PlainTextResponse:
    user.set(request.headers["user"])
    way = request.path_params["way"]
    if way == "run":
        name = await vow.run(query)
    elif way == "then":
        name = await vow.resolved().then(query)
    elif way == "map":
        (name,) = await vow.map([1], query)
    else:
        name = await vow.retry(query)
    return PlainTextResponse(name)


async def ask(service: Starlette, name: str, way: str) -> str:
    body = b""

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        nonlocal body
        body += message.get("body", b"")

    path = f"/{way}"
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "scheme": "http",
        "query_string": b"",
        "headers": [(b"user", name.encode())],
        "client": ("client", 1),
        "server": ("server", 2),
    }
    await service(scope, receive, send)
    return body.decode()


def test_no_answer_has_the_other_users_name() -> None:
    service = Starlette(routes=[Route("/{way}", answer)])
    wrong: list[tuple[str, str, str]] = []

    async def client(name: str) -> None:
        for number in range(REQUESTS // 8):
            way = ("run", "then", "map", "retry")[number % 4]
            said = await ask(service, name, way)
            if said != name:
                wrong.append((name, way, said))

    async def main() -> None:
        await asyncio.gather(*(client(name) for name in USERS for _ in range(4)))

    asyncio.run(main())
    assert wrong == []
