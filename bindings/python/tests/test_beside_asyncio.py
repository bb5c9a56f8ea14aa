"""The guide's table of what asyncio does and what promises do: each row is a scene, run with both."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import gc
import inspect
import logging
import os
import re
import sys
from pathlib import Path
from typing import Any, Awaitable, Callable, Coroutine

import pytest

import vow

GUIDE = Path(os.environ["VOW_GUIDE"])


class Settler:
    """What settles a future of asyncio, as a resolver does a promise."""

    def __init__(self, future: asyncio.Future[Any]) -> None:
        self.resolve = future.set_result
        self.reject = future.set_exception


class Asyncio:
    """Its own things."""

    cancelled: Any = asyncio.CancelledError

    def pending(self) -> tuple[Any, Any]:
        future = asyncio.get_running_loop().create_future()
        return future, Settler(future)

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.ensure_future(coroutine)

    def together(self, *awaitables: Awaitable[Any]) -> Any:
        return asyncio.gather(*awaitables)

    def in_time(self, awaitable: Awaitable[Any], seconds: float) -> Any:
        return asyncio.wait_for(awaitable, seconds)

    def group(self) -> Any:
        return asyncio.TaskGroup()  # type: ignore[attr-defined,unused-ignore]

    def add(self, group: Any, coroutine: Coroutine[Any, Any, Any]) -> None:
        group.create_task(coroutine)


class Vow:
    """The same with promises."""

    cancelled: Any = vow.Cancelled

    def pending(self) -> tuple[Any, Any]:
        return vow.pending()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return vow.from_awaitable(coroutine)

    def together(self, *awaitables: Awaitable[Any]) -> Any:
        return vow.all(awaitables)

    def in_time(self, awaitable: Awaitable[Any], seconds: float) -> Any:
        return vow.timeout(awaitable, seconds)

    def group(self) -> Any:
        return vow.Scope(fail_fast=True)

    def add(self, group: Any, coroutine: Coroutine[Any, Any, Any]) -> None:
        group.add(coroutine)


Kit = Any
Scene = Callable[[Kit], Awaitable[str]]
SCENES: dict[str, Scene] = {}


def scene(name: str) -> Callable[[Scene], Scene]:
    def register(function: Scene) -> Scene:
        SCENES[name] = function
        return function

    return register


async def outcome(awaitable: Awaitable[Any]) -> str:
    """The value, or the name of the exception."""
    try:
        return repr(await awaitable)
    except BaseException as error:
        return f"`{type(error).__name__}`"


async def reads(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


async def turn() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def awaited_by_a_task(kit: Any) -> tuple[Any, Any, asyncio.Task[Any]]:
    """What is pending, what settles it, and a task that awaits it already."""
    awaited, settler = kit.pending()
    task = asyncio.ensure_future(reads(awaited))
    await turn()
    return awaited, settler, task


def state(awaited: Any) -> str:
    if not awaited.done():
        return "pending"
    return "cancelled" if awaited.cancelled() else "settled"


class Job:
    """A coroutine that takes its time to clean up."""

    def __init__(self, error: Any = None) -> None:
        self.state = "never begun"
        self.error = error
        self.may_end = asyncio.Event()
        self.may_end.set()

    async def __call__(self) -> None:
        self.state = "running"
        try:
            await asyncio.sleep(3600)
        finally:
            try:
                for _ in range(3):
                    await asyncio.sleep(0)
                await self.may_end.wait()
            except asyncio.CancelledError:
                self.state = "stopped in its clean-up"
                raise
            self.state = "ended"
            if self.error is not None:
                raise self.error


@scene("a task is cancelled while it awaits")
async def _(kit: Kit) -> str:
    awaited, settler, task = await awaited_by_a_task(kit)
    task.cancel()
    return f"{await outcome(task)}; what it awaited is {state(awaited)}"


@scene("the same, and another task awaits it too")
async def _(kit: Kit) -> str:
    awaited, settler = kit.pending()
    task, other = (asyncio.ensure_future(reads(awaited)) for _ in range(2))
    await turn()
    task.cancel()
    await outcome(task)
    if not awaited.done():
        settler.resolve(1)
    return f"the other gets {await outcome(other)}"


@scene("somebody cancels what a task awaits")
async def _(kit: Kit) -> str:
    awaited, settler, task = await awaited_by_a_task(kit)
    awaited.cancel()
    said = await outcome(task)
    return f"{said} in the task" + ("; the task counts as cancelled" if task.cancelled() else "")


@scene("`task.cancel(message)`")
async def _(kit: Kit) -> str:
    awaited, settler, task = await awaited_by_a_task(kit)
    task.cancel("why")
    try:
        await task
    except asyncio.CancelledError as error:
        return f"`{error!r}`"
    return "nothing"


@scene("`cancel()` of what is settled")
async def _(kit: Kit) -> str:
    awaited, settler = kit.pending()
    settler.resolve(1)
    return f"`{awaited.cancel()}`"


@scene("a coroutine is cancelled and awaited")
async def _(kit: Kit) -> str:
    job = Job()
    running = kit.run(job())
    await turn()
    running.cancel()
    return f"{await outcome(running)}, when it has {job.state}"


@scene("its clean-up raises `KeyError`")
async def _(kit: Kit) -> str:
    told: list[BaseException] = []
    vow.on_unhandled(told.append)
    running = kit.run(Job(KeyError())())
    await turn()
    running.cancel()
    said = await outcome(running)
    vow.on_unhandled(None)
    return said + "".join(f"; `on_unhandled` is told `{type(error).__name__}`" for error in told)


@scene("a task that awaits a coroutine is cancelled twice")
async def _(kit: Kit) -> str:
    job = Job()
    job.may_end.clear()
    task = asyncio.ensure_future(reads(kit.run(job())))
    await turn()
    task.cancel()
    await turn()
    task.cancel()
    said = await outcome(task)
    then = job.state
    job.may_end.set()
    await turn()
    return f"{said}; the coroutine is {then}" + ("" if job.state == then else f", then {job.state}")


@scene("`asyncio.wait_for` comes too late")
async def _(kit: Kit) -> str:
    job = Job()
    said = await outcome(asyncio.wait_for(kit.run(job()), 0.001))
    return f"{said}, when the coroutine has {job.state}"


@scene("`wait_for`, `vow.timeout` come too late")
async def _(kit: Kit) -> str:
    job = Job()
    said = await outcome(kit.in_time(job(), 0.001))
    return f"{said}, when the coroutine has {job.state}"


@scene("`asyncio.timeout` around an await")
async def _(kit: Kit) -> str:
    awaited, settler = kit.pending()
    try:
        async with asyncio.timeout(0.001):  # type: ignore[attr-defined,unused-ignore]
            await awaited
    except asyncio.TimeoutError as error:
        return f"`{type(error).__name__}`; what it awaited is {state(awaited)}"
    return "nothing"


@scene("`asyncio.shield`, whose task is cancelled")
async def _(kit: Kit) -> str:
    awaited, settler = kit.pending()
    task = asyncio.ensure_future(reads(asyncio.shield(awaited)))
    await turn()
    task.cancel()
    said = await outcome(task)
    then = state(awaited)
    settler.resolve(1)
    await turn()
    return f"{said}; what it shields is {then}"


@scene("`asyncio.gather`, one fails")
async def _(kit: Kit) -> str:
    failing, settler = kit.pending()
    other, resolver = kit.pending()
    gathered = asyncio.gather(failing, other)
    await turn()
    settler.reject(KeyError())
    said = await outcome(gathered)
    then = state(other)
    resolver.resolve(1)
    await turn()
    return f"{said}; the other is {then}"


@scene("`asyncio.gather`, cancelled")
async def _(kit: Kit) -> str:
    pairs = [kit.pending() for _ in range(2)]
    gathered = asyncio.gather(*(awaited for awaited, _ in pairs))
    await turn()
    gathered.cancel()
    said = await outcome(gathered)
    return f"{said}; they are {' and '.join(sorted({state(awaited) for awaited, _ in pairs}))}"


@scene("`gather`, `vow.all` of coroutines, one fails")
async def _(kit: Kit) -> str:
    async def fails() -> None:
        await asyncio.sleep(0.001)
        raise KeyError

    job = Job()
    running = kit.run(job())
    together = kit.together(fails(), running)
    del running
    said = await outcome(together)
    then = job.state
    await turn()
    await turn()
    if job.state == "running":
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
            await outcome(task)
        return f"{said}; the other goes on"
    return f"{said}; the other is cancelled, and {then} still"


@scene("`asyncio.wait`, first completed")
async def _(kit: Kit) -> str:
    one, settler = kit.pending()
    other, resolver = kit.pending()
    asyncio.get_running_loop().call_soon(settler.resolve, 1)
    done, pending = await asyncio.wait([one, other], return_when="FIRST_COMPLETED")
    resolver.resolve(1)
    return f"{len(done)} done, {len(pending)} pending"


@scene("`TaskGroup`, `vow.Scope(fail_fast=True)`, a member fails")
async def _(kit: Kit) -> str:
    async def fails() -> None:
        await asyncio.sleep(0.001)
        raise KeyError

    job = Job()
    try:
        async with kit.group() as group:
            kit.add(group, job())
            kit.add(group, fails())
    except BaseException as error:
        inner = getattr(error, "exceptions", ())
        of = " of " + ", ".join(f"`{type(one).__name__}`" for one in inner) if inner else ""
        return f"`{type(error).__name__}`{of}, when the other has {job.state}"
    return "nothing"


@scene("several tasks await one")
async def _(kit: Kit) -> str:
    awaited, settler = kit.pending()
    tasks = [asyncio.ensure_future(reads(awaited)) for _ in range(3)]
    await turn()
    settler.resolve("value")
    seen = [await task for task in tasks]
    return "each gets the value" if seen == ["value"] * 3 else repr(seen)


@scene("an exception is raised in two tasks")
async def _(kit: Kit) -> str:
    awaited, settler = kit.pending()
    error = KeyError()
    settler.reject(error)
    seen = []
    for _ in range(2):
        try:
            await awaited
        except KeyError as raised:
            seen.append(raised is error)
    return "it is the same object" if seen == [True, True] else "they are copies"


@scene("`result()` while it is pending")
async def _(kit: Kit) -> str:
    awaited, settler = kit.pending()
    try:
        awaited.result()
    except Exception as error:
        settler.resolve(1)
        return f"`{type(error).__name__}`"
    return "nothing"


@scene("settling twice")
async def _(kit: Kit) -> str:
    _awaited, settler = kit.pending()
    settler.resolve(1)
    try:
        return f"`{settler.resolve(2)}`"
    except asyncio.InvalidStateError as error:
        return f"`{type(error).__name__}`"


@scene("awaiting what is settled")
async def _(kit: Kit) -> str:
    awaited, settler = kit.pending()
    settler.resolve(1)
    turns: list[int] = []
    asyncio.get_running_loop().call_soon(turns.append, 1)
    await awaited
    return "goes on in the same turn" if not turns else "takes a turn"


@scene("a callback registered before a task awaits")
async def _(kit: Kit) -> str:
    awaited, settler = kit.pending()
    order: list[str] = []

    async def task() -> None:
        await awaited
        order.append("the task")

    awaited.add_done_callback(lambda _: order.append("the callback"))
    running = asyncio.ensure_future(task())
    await turn()
    settler.resolve(1)
    await running
    return ", then ".join(order)


@scene("a done callback raises")
async def _(kit: Kit) -> str:
    seen: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, _context: seen.append("the loop's exception handler")
    )
    before, sys.unraisablehook = sys.unraisablehook, lambda _: seen.append("`sys.unraisablehook`")
    try:
        awaited, settler = kit.pending()
        awaited.add_done_callback(lambda _: 1 // 0)
        settler.resolve(1)
        await asyncio.sleep(0.005)
    finally:
        sys.unraisablehook = before
    return f"{', '.join(seen)} is told"


@scene("an exception that nobody looks at")
async def _(kit: Kit) -> str:
    seen: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(record.name)

    handler = Handler()
    loggers = [logging.getLogger(name) for name in ("asyncio", "vow")]
    vow.on_unhandled(None)
    for logger in loggers:
        logger.addHandler(handler)
    awaited, settler = kit.pending()
    settler.reject(KeyError())
    del awaited, settler
    gc.collect()
    for logger in loggers:
        logger.removeHandler(handler)
    return "is logged" + "".join(f" by the logger `{name}`" for name in seen)


@scene("context variables of a coroutine")
async def _(kit: Kit) -> str:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    variable.set("before")

    async def look() -> str:
        seen = variable.get()
        variable.set("inside")
        return seen

    running = kit.run(look())
    variable.set("after")
    seen = await running, variable.get()
    return "those of its start" if seen == ("before", "after") else repr(seen)


@scene("context variables of a done callback")
async def _(kit: Kit) -> str:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    variable.set("before")
    awaited, settler = kit.pending()
    seen: list[str] = []
    awaited.add_done_callback(lambda _: seen.append(variable.get()))
    variable.set("after")
    settler.resolve(1)
    await asyncio.sleep(0.005)
    return "those of its registration" if seen == ["before"] else repr(seen)


def left_at_the_end(kit: Kit) -> str:
    async def main() -> Any:
        later = vow.delay(3600) if isinstance(kit, Vow) else asyncio.sleep(3600)
        return kit.run(reads(later))

    left = asyncio.run(main())
    return f"is {state(left)}"


def rows() -> list[tuple[str, str, str]]:
    text = GUIDE.read_text()
    table = text[text.index("| scene | asyncio | promises |") :].split("\n\n")[0]
    cells = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in table.splitlines()[2:]
    ]
    return [(name, of_asyncio, of_vow) for name, of_asyncio, of_vow in cells]


def test_each_scene_is_in_the_guide_and_each_row_is_a_scene() -> None:
    assert [name for name, _, _ in rows()] == [*SCENES, "what runs when `asyncio.run` ends"]


NEWER = ("`TaskGroup`", "`asyncio.timeout`", "`task.cancel(message)`")  # of 3.11


def shown() -> list[tuple[str, str, str]]:
    return [row for row in rows() if sys.version_info >= (3, 11) or not row[0].startswith(NEWER)]


@pytest.mark.parametrize("name, of_asyncio, of_vow", shown(), ids=[row[0] for row in shown()])
def test_a_row_of_the_guide(name: str, of_asyncio: str, of_vow: str) -> None:
    seen = []
    for kit in (Asyncio(), Vow()):
        if name in SCENES:
            seen.append(asyncio.run(play(SCENES[name], kit)))
        else:
            seen.append(left_at_the_end(kit))
        gc.collect()
    assert (seen[0], "the same" if seen[1] == seen[0] else seen[1]) == (of_asyncio, of_vow)


NAMES = {
    "asyncio": asyncio,
    "concurrent": concurrent,
    "function": lambda *_: 1,
    "items": [1, 2, 3],
    "print": lambda *_: None,
    "vow": vow,
}


def names() -> list[str]:
    """The code in the second column of the guide's table of names."""
    text = GUIDE.read_text()
    table = text[text.index("| there | here | what differs |") :].split("\n\n")[0]
    cells = [re.split(r"(?<!\\)\|", line)[2] for line in table.splitlines()[2:]]
    return [code for cell in cells for code in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.parametrize("code", names())
async def test_what_the_guide_names_is_there(code: str) -> None:
    """Each is an expression that a program can have, of the names that stand here."""

    promise, resolver = vow.pending()
    others = [vow.delay(0.001, number) for number in range(3)]
    loop = asyncio.get_running_loop()

    async def coroutine() -> int:
        return 1

    running = coroutine()
    here: dict[str, Any] = {
        "promise": promise,
        "resolver": resolver,
        "many": others,
        "loop": loop,
    }
    here["coroutine"] = running
    loop.call_later(0.005, resolver.resolve, 1)
    if ".result" in code or ".exception" in code:
        resolver.resolve(1)
    result = eval(code, {**NAMES, **here})
    if inspect.isawaitable(result):
        await result
    elif code == "vow.pending()":
        assert result[1].resolve(1)
    elif hasattr(result, "__aiter__"):
        assert len([one async for one in result]) == 3
    elif hasattr(result, "__aenter__"):
        async with result:
            pass
    running.close()
    promise.cancel()
    await vow.all_settled([promise, *others])


async def play(played: Scene, kit: Kit) -> str:
    return await played(kit)
