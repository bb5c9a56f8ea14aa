"""The end of the interpreter, forked children, and what a function means for the whole program."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import textwrap
import threading
import time
from typing import Any, Callable

import pytest
import uvloop

import vow

import exits
from programs import run

both = pytest.mark.parametrize("options", [(), ("-X", "dev")], ids=["plain", "dev"])


@both
def test_pending_promises_do_not_hold_the_end_up(options: tuple[str, ...]) -> None:
    out, error = run(
        """
        import vow
        kept = [vow.pending() for _ in range(100)]
        links = [p.then(print).catch(print).finally_(print) for p, _ in kept]
        far = vow.delay(3600).then(print)
        loop = vow.Loop()
        there = vow.delay(3600).then(print)
        print("end")
        """,
        *options,
    )
    assert (out, error) == ("end\n", "")


@both
def test_work_of_the_pool_is_run_to_its_end(options: tuple[str, ...]) -> None:
    out, error = run(
        """
        import sys, time, vow
        def work(n):
            time.sleep(0.05)
            sys.stdout.write(f"worked {n}" + chr(10))
        kept = [vow.pool.run(work, n) for n in range(6)]
        print("end", flush=True)
        """,
        *options,
    )
    assert sorted(out.split("\n")) == ["", "end", *(f"worked {n}" for n in range(6))]
    assert error == ""


@both
def test_a_handler_that_never_ends_does_not_hold_the_end_up(options: tuple[str, ...]) -> None:
    out, _ = run(
        """
        import threading, time, vow
        vow.exit_timeout = 0.2
        begun = threading.Semaphore(0)
        def for_ever():
            begun.release()
            while True:
                time.sleep(0.001)
        def blocked():
            begun.release()
            promise, resolver = vow.pending()
            promise.wait()
        kept = [vow.pool.run(for_ever), vow.pool.run(blocked)]
        begun.acquire()
        begun.acquire()
        print("end", flush=True)
        """,
        *options,
    )
    assert out == "end\n"


@both
def test_a_pool_that_never_rests_does_not_crash_the_end(options: tuple[str, ...]) -> None:
    out, error = run(
        """
        import vow
        def again(n):
            return vow.pool.run(again, n + 1)
        kept = [vow.pool.run(again, 0) for _ in range(8)]
        print("end", flush=True)
        """,
        *options,
    )
    assert (out, error) == ("end\n", "")


@both
def test_asyncio_ends_with_work_under_way(options: tuple[str, ...]) -> None:
    out, error = run(
        """
        import asyncio, time, vow
        async def main():
            asyncio.get_running_loop().slow_callback_duration = 3600  # a busy machine is no news
            kept.append(vow.delay(3600).then(print))
            kept.append(vow.pool.run(time.sleep, 0.05))
            kept.append(asyncio.ensure_future(reads(vow.pending())))
            await asyncio.sleep(0.01)
        async def reads(pair):
            await pair[0]
        kept = []
        asyncio.run(main())
        print("end")
        """,
        *options,
    )
    assert (out, error) == ("end\n", "")


@both
def test_a_rejection_that_is_still_held_is_told(options: tuple[str, ...]) -> None:
    _, error = run(
        """
        import vow
        held = vow.pool.run(lambda: 1 // 0)
        seen = vow.rejected(KeyError("seen"))
        seen.exception()
        caught = vow.rejected(KeyError("caught"))
        link = caught.catch(lambda e: e, executor=vow.inline)
        cancelled, _ = vow.pending()
        cancelled.cancel()
        while held.state == "pending":
            pass
        """,
        *options,
    )
    assert error.count("nobody looked") == 1
    assert error.rstrip().endswith("ZeroDivisionError: integer division or modulo by zero")


def test_ctrl_c_ends_the_end() -> None:
    program = """
        import time, threading, vow
        vow.exit_timeout = 60
        begun = threading.Event()
        def work():
            begun.set()
            while True:
                time.sleep(0.001)
        kept = vow.pool.run(work)
        begun.wait()
        print("end", flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "end\n"
    time.sleep(0.2)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=50)
    assert "KeyboardInterrupt" in error
    assert time.monotonic() - begun < 40


def test_a_handler_that_is_ended_with_the_interpreter_is_named() -> None:
    _, error = run(
        """
        import time, threading, vow
        vow.exit_timeout = 0.1
        begun = threading.Event()
        def for_ever():
            begun.set()
            while True:
                time.sleep(0.001)
        kept = vow.pool.run(for_ever)
        begun.wait()
        """
    )
    assert "still ran" in error and "for_ever" in error


def test_daemon_threads_may_use_promises_to_the_end() -> None:
    out, error = run(
        """
        import threading, time, vow
        def busy():
            while True:
                promise, resolver = vow.pending()
                link = promise.then(lambda x: x, executor=vow.inline)
                resolver.resolve(1)
        for _ in range(3):
            threading.Thread(target=busy, daemon=True).start()
        time.sleep(0.1)
        print("end")
        """
    )
    assert (out, error) == ("end\n", "")


def test_a_forked_child_is_told_so() -> None:
    out, error = run(
        """
        import multiprocessing, vow
        print(vow.pool.run(lambda: 1).wait(), flush=True)
        def child(answers):
            try:
                vow.pool.run(lambda: 1).wait()
            except vow.Forked as error:
                answers.put("forked")
            answers.put(vow.resolved(1).then(lambda x: x + 1, executor=vow.inline).wait())
        context = multiprocessing.get_context("fork")
        answers = context.SimpleQueue()
        process = context.Process(target=child, args=(answers,))
        process.start()
        process.join(20)
        print(process.exitcode, answers.get(), answers.get())
        print(vow.pool.run(lambda: "parent goes on").wait())
        """
    )
    assert (out, error) == ("1\n0 forked 2\nparent goes on\n", "")


def test_a_forked_child_has_an_asyncio_of_its_own() -> None:
    out, error = run(
        """
        import asyncio, os, sys, vow
        async def main(name):
            print(name, await vow.delay(0.001, "awaited"), flush=True)
            if name == "parent":
                kept.append(vow.delay(3600).then(print))
                pid = os.fork()
                if pid == 0:
                    return "child"
                print("status", os.waitpid(pid, 0)[1], flush=True)
                print(name, await vow.delay(0.001, "again"), flush=True)
        kept = []
        loop = asyncio.new_event_loop()
        if loop.run_until_complete(main("parent")) == "child":
            asyncio._set_running_loop(None)
            asyncio.run(main("child"))
            sys.exit(0)
        loop.close()
        """,
        "-W",
        "ignore:This process:DeprecationWarning",  # 3.12 and later warn of every fork beside threads
    )
    assert out == "parent awaited\nchild awaited\nstatus 0\nparent again\n"
    assert error == ""


ENDS = 3  # storms/exits.py has a thousand


def run_settling(program: str, *options: str) -> tuple[str, str]:
    return run(textwrap.dedent(exits.SETTLING) + textwrap.dedent(program), *options)


@pytest.mark.parametrize("threads, count", exits.SHAPES)
def test_the_end_is_no_crash(threads: int, count: int) -> None:
    """Handlers that come too late are let go of, not run; what they hold too."""
    for _ in range(ENDS):
        assert exits.end(threads, count) is None


def test_an_end_that_crashes_would_be_found(monkeypatch: Any) -> None:
    monkeypatch.setattr(exits, "ENDING", "os.abort()")
    assert "status -6" in (exits.end(1, 1) or "")


def test_a_handler_that_has_begun_is_waited_for() -> None:
    out, error = run_settling(
        """
        import atexit, threading, time
        begun, ending = threading.Event(), threading.Event()
        atexit.register(ending.set)  # before the package's own, which was registered earlier
        def work(x):
            begun.set()
            ending.wait()
            time.sleep(0.1)
            print("done", flush=True)
        kept = settle(1, 1, 1, lambda promise: promise.then(work, work, executor=vow.inline))
        begun.wait()
        print("end", flush=True)
        """,
        "-X",
        "dev",
    )
    assert (out, error) == ("end\ndone\n", "")


def test_a_thread_of_c_that_is_stuck_in_a_handler_does_not_crash_the_end() -> None:
    out, _ = run_settling(
        """
        import ctypes, threading
        vow.exit_timeout = 0.2
        begun = threading.Event()
        sleep = ctypes.CDLL(None).usleep
        def work(x):
            begun.set()
            sleep(1_800_000)
        class Slow:
            def __del__(self):
                sleep(1_000_000)
        kept = settle(1, 1, 1, lambda promise: promise.then(work, work, executor=vow.inline))
        begun.wait()
        sys.slow = Slow()
        print("end", flush=True)
        """
    )
    assert out == "end\n"


def test_a_host_that_goes_on_after_the_interpreter_gets_rejections() -> None:
    """What comes when the gate is closed is answered, so that nobody waits for it."""
    out, _ = run_settling(
        """
        import atexit
        from vow import _core
        def after():
            _core.close()
            promise, resolver = vow.pending()
            link = promise.then(lambda x: x, executor=vow.inline)
            resolver.resolve(1)
            try:
                link.result()
            except vow.Shutdown as error:
                print(error)
        after()
        """
    )
    assert out == "VOW_ESHUTDOWN: the Python interpreter has ended\n"


def test_subinterpreters_are_refused_and_hurt_nobody() -> None:
    out, _ = run_settling(
        """
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        there = interpreters.create()
        try:
            failed = interpreters.run_string(there, "import vow")
        except Exception as error:
            failed = error
        print("subinterpreter" in str(failed))
        interpreters.destroy(there)
        print(vow.pool.run(lambda: 1).wait())
        """
    )
    assert out == "True\n1\n"


def leave(*_: Any) -> None:
    sys.exit(5)


def inline() -> None:
    promise, resolver = vow.pending()
    promise.then(leave, executor=vow.inline)
    resolver.resolve(1)


def nested() -> None:
    """The inner one leaves when the outer handler, which the library has called, has returned."""

    def outer() -> None:
        inline()
        reached.append("the end of the outer one")

    reached: list[str] = []
    try:
        vow.inline.run(outer)
        for _ in range(2):
            pass
    finally:
        assert reached == ["the end of the outer one"]


def on_cancel() -> None:
    promise, resolver = vow.pending()
    resolver.on_cancel(leave)
    promise.cancel()


def token() -> None:
    source = vow.CancelSource()
    source.token.on_cancel(leave)
    source.cancel()


def may_retry() -> None:
    def fails(attempt: int) -> None:
        raise KeyError

    vow.retry(fails, 2, may_retry=leave, executor=vow.inline).catch(str)  # type: ignore[arg-type]


def hook() -> None:
    vow.on_unhandled(leave)
    vow.rejected(KeyError())


def ctrl_c() -> None:
    vow.inline.run(interrupt)


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("way", [inline, nested, on_cancel, token, may_retry, hook, ctrl_c])
def test_it_leaves_the_call_of_the_library(
    way: Callable[[], None], unhandled: list[BaseException]
) -> None:
    with pytest.raises((SystemExit, KeyboardInterrupt)):
        way()
        for _ in range(2):  # the interpreter looks as it goes back in a loop, at the latest
            pass
    unhandled.clear()


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
@pytest.mark.parametrize("way", [inline, on_cancel, token])
def test_it_leaves_the_loop_from_there(
    run: Any, way: Callable[[], None], unhandled: list[BaseException]
) -> None:
    async def main() -> None:
        asyncio.get_running_loop().call_soon(way)
        await asyncio.sleep(60)

    with pytest.raises(SystemExit):
        run(main())
    unhandled.clear()


def test_a_coroutine_whose_promise_nobody_has_goes_on_and_leaves(
    unhandled: list[BaseException],
) -> None:
    async def work() -> None:
        await asyncio.sleep(0)
        leave()

    async def main() -> None:
        vow.from_awaitable(work())
        await asyncio.sleep(3600)

    with pytest.raises(SystemExit):
        asyncio.run(main())
    unhandled.clear()


def test_on_another_thread_it_rejects_alone() -> None:
    def work() -> None:
        promise, resolver = vow.pending()
        link = promise.then(leave, executor=vow.inline)
        resolver.resolve(1)
        seen.append(link.exception())

    seen: list[Any] = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert [type(error) for error in seen] == [SystemExit]
