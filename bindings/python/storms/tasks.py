"""Tasks that await, are cancelled and are woken, by everybody at once: each ends, and in the right way.

    python tasks.py [SECONDS] [SEED]

Tasks of several asyncio loops, on a thread each, await promises of each other. Whoever comes settles these:
a task, a handler, a thread, or nobody, as the promise's resolver is dropped. Meanwhile tasks are cancelled, iterators
left, attachments closed, garbage collected. The last line says how many ended wrongly, and the exit status
whether any did.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import queue
import random
import sys
import threading
import time
from typing import Any

import vow

THREADS = 3
ROUND = 40  # promises

settling: queue.SimpleQueue[Any] = queue.SimpleQueue()


def settle_for_ever() -> None:
    """What threads do: settle what they are given, None at the end."""
    while True:
        resolver = settling.get()
        if resolver is None:
            return
        resolver.resolve("value")


class Storm:
    def __init__(self, seed: int, end: float) -> None:
        self.chance = random.Random(seed)
        self.end = end
        self.wrong: list[str] = []
        self.awaits = 0

    def settle(self, resolver: vow.Resolver[Any]) -> None:
        way = self.chance.randrange(5)
        if way == 0:
            resolver.resolve("value")
        elif way == 1:
            settling.put(resolver)
        elif way == 2:
            vow.resolved().then(lambda _: resolver.resolve("value"))
        elif way == 3:
            vow.pool.run(resolver.resolve, "value")
        else:
            resolver.reject(KeyError("value"))

    async def reads(self, promise: vow.Promise[Any]) -> str:
        self.awaits += 1
        try:
            seen = await promise
            if seen != "value":
                self.wrong.append(f"awaited {seen!r}")
            return "value"
        except (KeyError, vow.Broken, vow.Cancelled, vow.Shutdown):
            return "raised"

    async def round(self) -> None:
        chance = self.chance
        pairs = [vow.pending() for _ in range(ROUND)]
        tasks: list[asyncio.Future[str]] = []
        for promise, _ in pairs:
            if chance.random() < 0.3:
                promise.then(len).catch(repr)
            for _ in range(chance.randrange(4)):
                tasks.append(asyncio.ensure_future(self.reads(promise)))
            if chance.random() < 0.1:
                iterator: Any = promise.__await__()
                next(iterator, None)
                del iterator
            if chance.random() < 0.3:
                promise.add_done_callback(lambda p: None)
        if chance.random() < 0.7:
            await asyncio.sleep(0)
        chance.shuffle(pairs)
        cancelled = [task for task in tasks if chance.random() < 0.2]
        while pairs:
            _promise, resolver = pairs.pop()
            if chance.random() < 0.9:
                self.settle(resolver)
            if cancelled and chance.random() < 0.5:
                cancelled.pop().cancel()
            if chance.random() < 0.01:
                vow.attach().close()
            if chance.random() < 0.01:
                gc.collect()
            del _promise, resolver
        done, left = await asyncio.wait(tasks, timeout=60) if tasks else (set(), set())
        if left:
            self.wrong.append(f"{len(left)} tasks were never woken")
        for task in done:
            if not task.cancelled() and task.exception() is not None:
                self.wrong.append(repr(task.exception()))

    def run(self) -> None:
        while time.monotonic() < self.end and not self.wrong:
            rounds = self.chance.randrange(1, 20)
            asyncio.run(self.some(rounds))

    async def some(self, rounds: int) -> None:
        for _ in range(rounds):
            await self.round()


def storm(seconds: float, seed: int) -> tuple[int, list[str]]:
    """How often something was awaited, and what went wrong."""
    end = time.monotonic() + seconds
    storms = [Storm(seed + number, end) for number in range(THREADS)]
    threads = [threading.Thread(target=one.run) for one in storms]
    settlers = [threading.Thread(target=settle_for_ever) for _ in range(2)]
    for thread in threads + settlers:
        thread.start()
    for thread in threads:
        thread.join()
    for _ in settlers:
        settling.put(None)
    for thread in settlers:
        thread.join()
    return sum(one.awaits for one in storms), [said for one in storms for said in one.wrong]


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
    logging.disable(logging.ERROR)  # what nobody looks at is some of it
    awaits, wrong = storm(seconds, seed)
    for said in wrong[:20]:
        print(said)
    print(f"seed {seed}, {awaits} awaits")
    print(f"{len(wrong)} wrong")
    return min(len(wrong), 1)


if __name__ == "__main__":
    sys.exit(main())
