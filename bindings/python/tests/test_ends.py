"""The end of the interpreter, and forked children: in processes of their own."""

from __future__ import annotations

import pytest

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


def test_an_exception_ends_the_program_as_ever() -> None:
    out, error = run(
        """
        import vow
        promise = vow.pool.run(lambda: 1 // 0)
        promise.wait()
        """,
        status=1,
    )
    assert error.rstrip().endswith("ZeroDivisionError: integer division or modulo by zero")
    assert "vow/_calls.py" not in error


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
