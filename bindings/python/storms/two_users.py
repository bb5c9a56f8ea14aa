"""Two users ask a web service at once, and no answer may have the other's name.

    python two_users.py [REQUESTS] [--served]

The service's handlers wait for promises in every way that has a coroutine function in it. It is FastAPI's
where that is installed, else Starlette's. Requests go to it directly, as ASGI calls, so that there can
be many; with --served over sockets of this machine, by uvicorn and httpx. The last line says how many
answers were wrong, and the exit status whether any was.
"""

from __future__ import annotations

import argparse
import asyncio
import contextvars
import importlib.util
import socket
import sys
import time
from typing import Any, Awaitable, Callable

import vow

USERS = ("alice", "bob")
CLIENTS = 16  # at once, for each user

user: contextvars.ContextVar[str] = contextvars.ContextVar("user", default="nobody")


async def query(*_: Any) -> str:
    """What a database would be asked: it suspends, and knows the user by the context alone."""
    await asyncio.sleep(0)
    return user.get()


def look(*_: Any) -> str:
    return user.get()


async def in_a_scope() -> str:
    async with vow.Scope() as scope:
        member = vow.run(query)
        scope.add(member)
    name: str = member.result()
    return name


async def in_a_block() -> str:
    async with vow.using(query(), look) as name:
        assert name == await vow.run(query)
        return name


# Each way in which a coroutine, or a function on another thread, is run for a request.
WAYS: dict[str, Callable[[], Awaitable[Any]]] = {
    "run": lambda: vow.run(query),
    "then": lambda: vow.resolved().then(query),
    "later": lambda: vow.delay(0.0001).then(query),
    "catch": lambda: vow.rejected(KeyError()).catch(query),
    "map": lambda: vow.map([1, 2], query, concurrency=1).then(lambda names: names[1]),
    "retry": lambda: vow.retry(query),
    "timeout": lambda: vow.timeout(query(), 60),
    "pool": lambda: vow.pool.run(look).then(query),
    "thread": lambda: vow.resolved().then(look, executor=vow.pool),
    "race": lambda: vow.race([vow.run(query), vow.delay(60)]),
    "scope": in_a_scope,
    "block": in_a_block,
}


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def starlette() -> Any:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    async def answer(request: Request) -> PlainTextResponse:
        user.set(request.headers["user"])
        return PlainTextResponse(await WAYS[request.path_params["way"]]())

    return Starlette(routes=[Route("/{way}", answer)])


def fastapi() -> Any:
    from fastapi import Depends, FastAPI, Header  # type: ignore[import-not-found,unused-ignore]
    from fastapi.responses import PlainTextResponse  # type: ignore[import-not-found,unused-ignore]

    service = FastAPI()

    async def who(asking: str = Header(alias="user")) -> None:
        user.set(asking)

    async def answer(way: str) -> str:
        said: str = await WAYS[way]()
        return said

    there = service.get("/{way}", dependencies=[Depends(who)], response_class=PlainTextResponse)
    there(answer)
    return service


Ask = Callable[[str, str], Awaitable[str]]  # a user's name and the way: the answer


def directly(service: Any) -> Ask:
    async def ask(name: str, way: str) -> str:
        body = b""

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            nonlocal body
            body += message.get("body", b"")

        scope = {
            "type": "http",
            "method": "GET",
            "path": f"/{way}",
            "raw_path": f"/{way}".encode(),
            "root_path": "",
            "scheme": "http",
            "query_string": b"",
            "headers": [(b"user", name.encode())],
            "client": ("client", 1),
            "server": ("server", 2),
        }
        await service(scope, receive, send)
        return body.decode()

    return ask


async def storm(ask: Ask, requests: int) -> list[tuple[str, str, str]]:
    """Asks so often: who got an answer with another name, in which way, and the answer."""
    wrong: list[tuple[str, str, str]] = []
    ways = list(WAYS)
    left = iter(range(requests))

    async def client(name: str) -> None:
        for number in left:
            way = ways[number % len(ways)]
            said = await ask(name, way)
            if said != name:
                wrong.append((name, way, said))

    await asyncio.gather(*(client(name) for name in USERS for _ in range(CLIENTS)))
    return wrong


async def served(service: Any, requests: int) -> list[tuple[str, str, str]]:
    """The same through uvicorn and httpx, on a port of this machine."""
    import httpx  # type: ignore[import-not-found,unused-ignore]
    import uvicorn  # type: ignore[import-not-found,unused-ignore]

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        config = uvicorn.Config(service, log_level="warning", lifespan="off")
        server = uvicorn.Server(config)
        serving = asyncio.ensure_future(server.serve([listening]))
        while not server.started:
            await asyncio.sleep(0.01)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:

            async def ask(name: str, way: str) -> str:
                said: str = (await client.get(f"/{way}", headers={"user": name})).text
                return said

            wrong = await storm(ask, requests)
        server.should_exit = True
        await serving
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="Two users ask a web service at once.")
    parser.add_argument("requests", nargs="?", type=int, default=100_000)
    parser.add_argument("--served", action="store_true", help="over sockets of this machine")
    said = parser.parse_args()
    kind = "fastapi" if has("fastapi") else "starlette"
    service = fastapi() if kind == "fastapi" else starlette()
    begin = time.perf_counter()
    if said.served:
        wrong = asyncio.run(served(service, said.requests))
    else:
        wrong = asyncio.run(storm(directly(service), said.requests))
    seconds = time.perf_counter() - begin
    for name, way, answer in wrong[:20]:
        print(f"{name} asked by {way} and was answered {answer!r}")
    how = "served" if said.served else "called"
    print(f"{kind}, {how}, {len(WAYS)} ways, {seconds:.0f} s")
    print(f"{len(wrong)} wrong of {said.requests}")
    return min(len(wrong), 1)


if __name__ == "__main__":
    sys.exit(main())
