"""The end of the interpreter while threads of C settle promises that have handlers here."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import Any

import pytest

import exits

ENDS = 3  # storms/exits.py has a thousand


def run(program: str, *options: str, limit: float = 60) -> tuple[str, str]:
    done = subprocess.run(
        [
            sys.executable,
            *options,
            "-c",
            textwrap.dedent(exits.SETTLING) + textwrap.dedent(program),
        ],
        capture_output=True,
        text=True,
        timeout=limit,
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout, done.stderr


@pytest.mark.parametrize("threads, count", exits.SHAPES)
def test_the_end_is_no_crash(threads: int, count: int) -> None:
    """Handlers that come too late are let go of, not run; what they hold too."""
    for _ in range(ENDS):
        assert exits.end(threads, count) is None


def test_an_end_that_crashes_would_be_found(monkeypatch: Any) -> None:
    monkeypatch.setattr(exits, "ENDING", "os.abort()")
    assert "status -6" in (exits.end(1, 1) or "")


def test_a_handler_that_has_begun_is_waited_for() -> None:
    out, error = run(
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
    out, _ = run(
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
    out, _ = run(
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
    out, _ = run(
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
