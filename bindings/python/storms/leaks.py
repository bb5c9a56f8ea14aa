"""Operations of every kind leave nothing behind: no promise, no object, no memory, no reference.

    python leaks.py [OPERATIONS]    of each kind: 1,000 where nothing is said, and a million to be sure

After a first tenth, which fills caches, the rest may change neither the counts of the library and the
collector, nor the references of what is shared by all, nor the memory of the process by more than a few
bytes for each operation. A line for each kind; the last one says how many left something, and the exit
status whether any did.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import logging
import os
import sys
import time
from typing import Any, Callable

import trio
import uvloop
import vow
import vow.trio
from vow import _core

PAGE = os.sysconf("SC_PAGE_SIZE")
LOOPS = ("asyncio", "uvloop", "trio")
BYTES = 16  # for each operation, at most: a leaked object is larger


def links() -> None:
    promise, resolver = vow.pending()
    link = promise.then(lambda x: x + 1, executor=vow.inline).catch(repr, executor=vow.inline)
    last = link.finally_(lambda: None, executor=vow.inline)
    resolver.resolve(1)
    last.result()


def rejections() -> None:
    promise, resolver = vow.pending()
    link = promise.catch(lambda e: 1, KeyError, executor=vow.inline)
    resolver.reject(KeyError("x"))
    link.result()


def many() -> None:
    vow.all([vow.resolved(1), vow.resolved("a"), vow.resolved([1])]).result()


def futures() -> None:
    promise, resolver = vow.pending()
    future = promise.to_future()
    resolver.resolve(3)
    future.result()
    promise, resolver = vow.pending()
    promise.to_future().cancel()


def callbacks() -> None:
    promise, resolver = vow.pending()
    promise.add_done_callback(repr)
    promise.remove_done_callback(repr)
    resolver.resolve()


def registrations() -> None:
    promise, resolver = vow.pending()
    resolver.on_cancel(lambda: None)
    source = vow.CancelSource()
    link = promise.then(lambda x: x, token=source.token, executor=vow.inline)
    source.cancel("why")
    link.exception()
    resolver.resolve()


def mistakes() -> None:
    wrong: list[Callable[[], Any]] = [
        lambda: vow.all([1]),  # type: ignore[list-item]
        lambda: vow.resolved().then(3),  # type: ignore[call-overload]
        lambda: vow.resolved()._link(1),  # type: ignore[call-arg]
        lambda: vow.resolved()._reader(1),  # type: ignore[arg-type]
        lambda: vow.resolved()._give_up(3),  # type: ignore[arg-type]
        lambda: vow.resolved().__await__().throw(3),  # type: ignore[call-overload]
        lambda: _core.combine("x", [], "all"),  # type: ignore[arg-type]
        lambda: _core.hooks(unknown=1),
    ]
    for call in wrong:
        try:
            call()
        except TypeError:
            continue
        raise AssertionError("no TypeError")


def iterators() -> None:
    for promise in (vow.resolved((1, 2)), vow.rejected(StopIteration()), vow.resolved(KeyError())):
        try:
            next(promise.__await__())
        except (RuntimeError, StopIteration):
            pass


async def awaits() -> None:
    promise, resolver = vow.pending()
    asyncio.get_running_loop().call_soon(resolver.resolve, 1)
    await promise


async def handlers_first() -> None:
    promise, resolver = vow.pending()
    link = promise.then(str)
    asyncio.get_running_loop().call_soon(resolver.resolve, 1)
    await promise
    await link


async def cancelled_tasks() -> None:
    promise, _resolver = vow.pending()

    async def reads() -> None:
        await promise

    task = asyncio.ensure_future(reads())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])


async def coroutines() -> None:
    async def one() -> int:
        return 1

    async def fails() -> None:
        raise KeyError

    await vow.from_awaitable(one())
    try:
        await vow.run(fails)
    except KeyError:
        pass


async def threads() -> None:
    await vow.pool.run(int)


async def left() -> None:
    """Iterators that have begun to wait, and are left in each way."""
    for way in range(4):
        promise, _resolver = vow.pending()
        iterator: Any = promise.__await__()
        next(iterator)
        try:
            if way == 0:
                iterator.close()
            elif way == 1:
                iterator.throw(KeyError)
            elif way == 2:
                next(iterator)
        except (KeyError, RuntimeError):
            pass


# ---------------------------------------------------------------- On asyncio, uvloop and trio


async def made() -> None:
    promise, resolver = vow.pending()
    resolver.resolve(1)
    await promise


async def linked() -> None:
    assert await vow.resolved(1).then(lambda x: x + 1) == 2


async def error_through() -> None:
    try:
        await vow.rejected(KeyError("x")).then(str)
    except KeyError:
        pass
    await vow.rejected(KeyError("x")).catch(str)


async def timed() -> None:
    assert await vow.timeout(vow.resolved(1).then(lambda x: x), 60) == 1
    try:
        await vow.timeout(vow.delay(60), 0)
    except vow.TimedOut:
        pass


async def cancelled() -> None:
    promise = vow.delay(60).then(str)
    promise.cancel("why")
    try:
        await promise
    except vow.Cancelled:
        pass


async def combined() -> None:
    await vow.all([vow.resolved(1), vow.resolved("a").then(str)])
    await vow.any([vow.rejected(KeyError()), vow.resolved(1)])
    await vow.map([1, 2], str, concurrency=1)


async def used() -> None:
    async with vow.using(vow.resolved(1), str):
        pass


async def scoped() -> None:
    async with vow.Scope() as scope:
        scope.add(vow.resolved(1).then(str))


EVERYWHERE = [made, linked, error_through, timed, cancelled, combined, used, scoped]
KINDS: list[Callable[[], Any]] = [
    links,
    rejections,
    many,
    futures,
    callbacks,
    registrations,
    mistakes,
    iterators,
    awaits,
    handlers_first,
    cancelled_tasks,
    coroutines,
    threads,
    left,
]

SHARED: list[Any] = [
    None,
    True,
    False,
    (),
    "",
    1,
    KeyError,
    StopIteration,
    asyncio.CancelledError,
    asyncio._get_running_loop,
    vow.Promise,
    vow.Resolver,
    _core.Call,
    _core.Waiter,
    type(vow.resolved().__await__()),
]
# What never dies has no count, from 3.12 on.
SHARED = [item for item in SHARED if sys.getrefcount(item) < 1 << 30]


def do(kind: Callable[[], Any], count: int, loop: str = "asyncio") -> None:
    if not inspect.iscoroutinefunction(kind):
        for _ in range(count):
            kind()
        return

    async def main() -> None:
        for _ in range(count):
            await kind()

    async def attached() -> None:
        async with vow.trio.attached():
            await main()

    if loop == "trio":
        trio.run(attached)
    elif loop == "uvloop":
        uvloop.run(main())
    else:
        asyncio.run(main())


def counts() -> dict[str, int]:
    for _ in range(3):
        gc.collect()
    seen = vow.stats()
    found = {"live": seen.live, "bytes": seen.bytes, "kept": _core.kept()}
    found["objects"] = len(gc.get_objects())
    found["blocks"] = sys.getallocatedblocks()
    for item in SHARED:
        found[f"references of {item!r}"] = sys.getrefcount(item)
    return found


def memory() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE


def rest() -> None:
    """Lets the threads of the pool finish what they have."""
    end = time.monotonic() + 60
    while vow.stats().live and time.monotonic() < end:
        time.sleep(0.001)


def look(kind: Callable[[], Any], operations: int, loop: str = "asyncio") -> list[str]:
    """What operations of a kind leave behind."""
    do(kind, operations // 10 + 1, loop)
    rest()
    before, size = counts(), memory()
    do(kind, operations, loop)
    rest()
    after, grown = counts(), memory() - size
    # Caches of the interpreter, and what looks here, may change by a few; free lists by some blocks.
    more = {name: after[name] - before[name] for name in before}
    found = [f"{count:+} {name}" for name, count in more.items() if abs(count) > (400 if name == "blocks" else 40)]
    if grown > BYTES * operations + (1 << 20):
        found.append(f"{grown:+} bytes of memory")
    return found


def main() -> int:
    operations = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    logging.disable(logging.ERROR)
    wrong = 0
    cases = [(kind, "asyncio") for kind in KINDS]
    cases += [(kind, loop) for loop in LOOPS for kind in EVERYWHERE]
    for kind, loop in cases:
        begin = time.monotonic()
        found = look(kind, operations, loop)
        wrong += bool(found)
        print(
            f"{kind.__name__:16} {loop:8} {operations} times, {time.monotonic() - begin:.0f} s: "
            f"{', '.join(found) or 'nothing left'}",
            flush=True,
        )
    print(f"{wrong} wrong of {len(cases)}")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
