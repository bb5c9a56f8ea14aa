"""Vow beside asyncio, in one process: what a link, an await and a thousand members cost.

    python beside_asyncio.py [ROUNDS]

The two take turns in each round; the table has the best round of each, which is what the machine can do
when nobody disturbs it, in processor time, and their ratio. The import is that of the whole: `import vow` brings asyncio.
"""

from __future__ import annotations

import asyncio
import gc
import platform
import subprocess
import sys
import time
from typing import Any, Awaitable, Callable

import vow

LINKS = 1000
AWAITS = 5000
MEMBERS = 1000

Measured = Callable[[], Awaitable[float]]


def _per_item(seconds: float, count: int) -> float:
    return seconds / count * 1e6


async def link_vow() -> float:
    begin = time.process_time()
    promise, resolver = vow.pending()
    for _ in range(LINKS):
        promise = promise.then(_same)
    resolver.resolve(1)
    await promise
    return _per_item(time.process_time() - begin, LINKS)


def _same(value: Any) -> Any:
    return value


async def link_asyncio() -> float:
    """The same by hand: a future each, settled by a callback of the one before."""
    loop = asyncio.get_running_loop()
    begin = time.process_time()
    first = last = loop.create_future()
    for _ in range(LINKS):
        following = loop.create_future()

        def settle(done: asyncio.Future[Any], following: asyncio.Future[Any] = following) -> None:
            following.set_result(_same(done.result()))

        last.add_done_callback(settle)
        last = following
    first.set_result(1)
    await last
    return _per_item(time.process_time() - begin, LINKS)


async def settled_vow() -> float:
    promise = vow.resolved(1)
    begin = time.process_time()
    for _ in range(AWAITS):
        await promise
    return _per_item(time.process_time() - begin, AWAITS)


async def settled_asyncio() -> float:
    future = asyncio.get_running_loop().create_future()
    future.set_result(1)
    begin = time.process_time()
    for _ in range(AWAITS):
        await future
    return _per_item(time.process_time() - begin, AWAITS)


async def made_vow() -> float:
    begin = time.process_time()
    for _ in range(AWAITS):
        promise, resolver = vow.pending()
        resolver.resolve(1)
        await promise
    return _per_item(time.process_time() - begin, AWAITS)


async def made_asyncio() -> float:
    loop = asyncio.get_running_loop()
    begin = time.process_time()
    for _ in range(AWAITS):
        future = loop.create_future()
        future.set_result(1)
        await future
    return _per_item(time.process_time() - begin, AWAITS)


async def resolved_vow() -> float:
    begin = time.process_time()
    for _ in range(AWAITS):
        await vow.resolved(1)
    return _per_item(time.process_time() - begin, AWAITS)


async def woken_vow() -> float:
    """Awaited while it is pending; somebody else settles it."""
    loop = asyncio.get_running_loop()
    begin = time.process_time()
    for _ in range(AWAITS // 5):
        promise, resolver = vow.pending()
        loop.call_soon(resolver.resolve, 1)
        await promise
    return _per_item(time.process_time() - begin, AWAITS // 5)


async def woken_asyncio() -> float:
    loop = asyncio.get_running_loop()
    begin = time.process_time()
    for _ in range(AWAITS // 5):
        future = loop.create_future()
        loop.call_soon(future.set_result, 1)
        await future
    return _per_item(time.process_time() - begin, AWAITS // 5)


async def error_vow() -> float:
    """An error that passes a link, and is raised where that is awaited."""
    begin = time.process_time()
    for _ in range(AWAITS // 5):
        promise, resolver = vow.pending()
        link = promise.then(_same)
        resolver.reject(KeyError())
        try:
            await link
        except KeyError:
            pass
    return _per_item(time.process_time() - begin, AWAITS // 5)


async def error_asyncio() -> float:
    loop = asyncio.get_running_loop()
    begin = time.process_time()
    for _ in range(AWAITS // 5):
        first, link = loop.create_future(), loop.create_future()

        def settle(done: asyncio.Future[Any], link: asyncio.Future[Any] = link) -> None:
            try:
                link.set_result(_same(done.result()))
            except KeyError as error:
                link.set_exception(error)

        first.add_done_callback(settle)
        first.set_exception(KeyError())
        try:
            await link
        except KeyError:
            pass
    return _per_item(time.process_time() - begin, AWAITS // 5)


async def caught_vow() -> float:
    begin = time.process_time()
    for _ in range(AWAITS // 5):
        promise, resolver = vow.pending()
        link = promise.catch(_same)
        resolver.reject(KeyError())
        await link
    return _per_item(time.process_time() - begin, AWAITS // 5)


async def caught_asyncio() -> float:
    loop = asyncio.get_running_loop()
    begin = time.process_time()
    for _ in range(AWAITS // 5):
        first, link = loop.create_future(), loop.create_future()

        def settle(done: asyncio.Future[Any], link: asyncio.Future[Any] = link) -> None:
            link.set_result(_same(done.exception()))

        first.add_done_callback(settle)
        first.set_exception(KeyError())
        await link
    return _per_item(time.process_time() - begin, AWAITS // 5)


async def timeout_vow() -> float:
    """A time-out that does not come."""
    loop = asyncio.get_running_loop()
    begin = time.process_time()
    for _ in range(AWAITS // 5):
        promise, resolver = vow.pending()
        loop.call_soon(resolver.resolve, 1)
        await vow.timeout(promise, 60)
    return _per_item(time.process_time() - begin, AWAITS // 5)


async def timeout_asyncio() -> float:
    loop = asyncio.get_running_loop()
    begin = time.process_time()
    for _ in range(AWAITS // 5):
        future = loop.create_future()
        loop.call_soon(future.set_result, 1)
        await asyncio.wait_for(future, 60)
    return _per_item(time.process_time() - begin, AWAITS // 5)


async def late_vow() -> float:
    """A time-out that comes."""
    begin = time.process_time()
    for _ in range(AWAITS // 20):
        promise, _resolver = vow.pending()
        try:
            await vow.timeout(promise, 0.0001)
        except vow.TimedOut:
            pass
    return _per_item(time.process_time() - begin, AWAITS // 20)


async def late_asyncio() -> float:
    loop = asyncio.get_running_loop()
    begin = time.process_time()
    for _ in range(AWAITS // 20):
        try:
            await asyncio.wait_for(loop.create_future(), 0.0001)
        except asyncio.TimeoutError:
            pass
    return _per_item(time.process_time() - begin, AWAITS // 20)


async def all_vow() -> float:
    begin = time.process_time()
    pairs = [vow.pending() for _ in range(MEMBERS)]
    together = vow.all([promise for promise, _ in pairs])
    for _, resolver in pairs:
        resolver.resolve(1)
    await together
    return (time.process_time() - begin) * 1e3


async def all_asyncio() -> float:
    loop = asyncio.get_running_loop()
    begin = time.process_time()
    futures = [loop.create_future() for _ in range(MEMBERS)]
    together = asyncio.gather(*futures)
    for future in futures:
        future.set_result(1)
    await together
    return (time.process_time() - begin) * 1e3


async def _work() -> int:
    return 1


async def coroutines_vow() -> float:
    begin = time.process_time()
    await vow.all([vow.from_awaitable(_work()) for _ in range(MEMBERS)])
    return (time.process_time() - begin) * 1e3


async def coroutines_asyncio() -> float:
    begin = time.process_time()
    await asyncio.gather(*[_work() for _ in range(MEMBERS)])
    return (time.process_time() - begin) * 1e3


ROWS: list[tuple[str, str, Measured, Measured]] = [
    ("a link of 1,000", "µs", link_vow, link_asyncio),
    ("await of a settled one", "µs", settled_vow, settled_asyncio),
    ("make, settle, await", "µs", made_vow, made_asyncio),
    ("make settled, await", "µs", resolved_vow, made_asyncio),
    ("make, await, be woken", "µs", woken_vow, woken_asyncio),
    ("an error through a link", "µs", error_vow, error_asyncio),
    ("an error caught", "µs", caught_vow, caught_asyncio),
    ("a time-out, in time", "µs", timeout_vow, timeout_asyncio),
    ("a time-out, too late", "µs", late_vow, late_asyncio),
    ("1,000 in `all` / gather", "ms", all_vow, all_asyncio),
    ("1,000 coroutines", "ms", coroutines_vow, coroutines_asyncio),
]


async def best(rounds: int) -> list[tuple[float, float]]:
    found = [(float("inf"), float("inf"))] * len(ROWS)
    for _ in range(rounds):
        for place, (_, _, of_vow, of_asyncio) in enumerate(ROWS):
            gc.collect()
            before = found[place]
            found[place] = min(before[0], await of_vow()), min(before[1], await of_asyncio())
    return found


def importing(module: str) -> float:
    """Milliseconds of processor time that a fresh interpreter takes to import it."""
    program = (
        f"import time; begin = time.process_time(); import {module}; "
        "print((time.process_time() - begin) * 1e3)"
    )
    answer = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, check=True)
    return float(answer.stdout)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(f"Python {platform.python_version()}, {platform.machine()}, {time.strftime('%Y-%m-%d')}")
    print(f"{'':26} {'':4} {'vow':>8} {'asyncio':>8} {'ratio':>6}")
    found = asyncio.run(best(rounds))
    # Alternately, and each with the files in the machine's memory.
    imports = [(importing("vow"), importing("asyncio")) for _ in range(max(rounds // 2, 3))]
    found.append((min(one for one, _ in imports), min(other for _, other in imports)))
    names = [(name, unit) for name, unit, _, _ in ROWS] + [("import", "ms")]
    for (name, unit), (of_vow, of_asyncio) in zip(names, found):
        print(f"{name:26} {unit:4} {of_vow:8.2f} {of_asyncio:8.2f} {of_vow / of_asyncio:6.2f}")


if __name__ == "__main__":
    main()
