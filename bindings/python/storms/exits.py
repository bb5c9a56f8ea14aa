"""Interpreters that end while threads of C settle promises with Python handlers: none may crash.

    python exits.py [EXITS]

Each is a process of its own; by turns one, ten and three hundred threads settle. It needs a C compiler, CC or cc,
for the threads (tests/settling.c), unless VOW_SETTLING names them built. The last line says how many ended
otherwise than with status 0, and the exit status whether any did.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import Optional

# A preamble: `settle(threads, count, pause_ns, register)` has C threads settle promises.
SETTLING = """
    import ctypes, os, sys, vow
    beside = os.path.join(os.path.dirname(vow.__file__), "lib", "libvow.so.0")
    lib = ctypes.CDLL(os.environ.get("VOW_LIBRARY", beside))
    lib.vow_resolver_retain.restype = ctypes.c_void_p
    lib.vow_resolver_retain.argtypes = [ctypes.c_void_p]
    c = ctypes.CDLL(os.environ["VOW_SETTLING"])
    c.settling_begin.argtypes = [
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_long
    ]

    def address(function):
        return ctypes.cast(function, ctypes.c_void_p)

    class Thing:
        pass

    def settle(threads, count, pause_ns, register):
        pairs = [vow.pending() for _ in range(threads * count)]
        links = [register(promise) for promise, _ in pairs]
        owned = [lib.vow_resolver_retain(r._ref.handle) for _, r in pairs]
        array = (ctypes.c_void_p * len(owned))(*owned)
        for _, resolver in pairs:
            resolver.close()  # before: whoever is the last runs the handlers
        functions = address(lib.vow_resolve), address(lib.vow_resolver_release)
        assert c.settling_begin(*functions, array, threads, count, pause_ns) == 0
        return links, [promise for promise, _ in pairs]
"""

# The end takes a moment, in which the threads settle; with a task of asyncio that waits as well.
ENDING = """
    import asyncio, time
    def register(promise):
        thing = Thing()
        link = promise.then(lambda x: thing, executor=vow.inline)
        return link.then(print, lambda e: None, executor=vow.pool).catch(repr).finally_(Thing)
    class Slow:
        def __del__(self, sleep=time.sleep):
            sleep(0.1)
    sys.slow = Slow()
    sys.stdout = open(os.devnull, "w")
    kept = settle({threads}, {count}, {pause}, register)
    async def main():
        async def reads(promise):
            await promise
        tasks = [asyncio.ensure_future(reads(promise)) for promise in kept[1][::7]]
        await asyncio.wait(tasks, timeout=0.01)
    if {threads} < 300:
        asyncio.run(main())
"""

SHAPES = ((1, 150), (10, 40), (300, 10))  # threads, promises of each


def program(threads: int, count: int) -> str:
    ending = ENDING.format(threads=threads, count=count, pause=300_000_000 // count)
    return textwrap.dedent(SETTLING) + textwrap.dedent(ending)


def end(threads: int, count: int) -> Optional[str]:
    """Lets one interpreter end: None, or what was wrong."""
    done = subprocess.run(
        [sys.executable, "-c", program(threads, count)], capture_output=True, text=True, timeout=120
    )
    if done.returncode == 0:
        return None
    return f"{threads} threads: status {done.returncode}: {done.stderr[-2000:]}"


def build_settling(directory: str) -> str:
    """Builds the library of C threads: where it is."""
    built = str(Path(directory) / "settling.so")
    source = Path(__file__).resolve().parent.parent / "tests" / "settling.c"
    compiler = shlex.split(os.environ.get("CC", "cc"))
    include = Path(__file__).resolve().parents[3] / "include"
    flags = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-shared", "-pthread"]
    flags += [f"-I{include}", "-Wl,-z,nodelete"]
    subprocess.run([*compiler, *flags, "-o", built, str(source)], check=True)
    return built


def main() -> int:
    parser = argparse.ArgumentParser(description="Interpreters end while threads of C settle.")
    parser.add_argument("exits", nargs="?", type=int, default=1000)
    exits: int = parser.parse_args().exits
    wrong = 0
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        if "VOW_SETTLING" not in os.environ:
            os.environ["VOW_SETTLING"] = build_settling(directory)
        for number in range(exits):
            said = end(*SHAPES[number % len(SHAPES)])
            if said is not None:
                wrong += 1
                print(said, flush=True)
    print(f"{time.perf_counter() - begin:.0f} s")
    print(f"{wrong} wrong of {exits}")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
