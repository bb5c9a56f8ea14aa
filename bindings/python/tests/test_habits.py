"""What users of asyncio and concurrent.futures look for first."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import signal
import subprocess
import sys
import textwrap
import threading
import time
from typing import Any

import pytest

import vow


def test_a_done_callback_is_called_with_the_promise() -> None:
    async def main() -> None:
        here = threading.get_ident()
        variable: contextvars.ContextVar[int] = contextvars.ContextVar("variable", default=0)
        context = contextvars.copy_context()
        context.run(variable.set, 7)
        promise, resolver = vow.pending()
        called: list[Any] = []
        promise.add_done_callback(lambda p: called.append((p is promise, p.result())))
        promise.add_done_callback(lambda p: called.append(threading.get_ident() == here))
        promise.add_done_callback(lambda p: called.append(variable.get()), context=context)
        threading.Thread(target=resolver.resolve, args=(1,)).start()
        await promise
        await asyncio.sleep(0.001)
        assert called == [(True, 1), True, 7]
        promise.add_done_callback(lambda p: called.append("at once"))
        while called[-1] != "at once":
            await asyncio.sleep(0.001)

    asyncio.run(main())


def test_a_done_callback_can_be_removed() -> None:
    promise, resolver = vow.pending()
    called: list[Any] = []
    for _ in range(2):
        promise.add_done_callback(called.append)
    assert promise.remove_done_callback(called.append) == 2
    assert promise.remove_done_callback(called.append) == 0
    resolver.resolve(1)
    assert promise.then(lambda x: x).wait() == 1
    assert called == []


def test_asyncio_wait_takes_promises() -> None:
    async def main() -> None:
        slow = vow.delay(3600)
        quick = [vow.delay(0.001, 1), vow.delay(0.002).then(lambda x: 1 // 0)]
        done, pending = await asyncio.wait([*quick, slow], timeout=20, return_when="FIRST_EXCEPTION")  # type: ignore[type-var,call-overload,list-item,unused-ignore]
        assert (len(done), len(pending)) == (2, 1)
        slow.cancel()
        assert slow.cancelled()
        assert not quick[0].cancelled()

    asyncio.run(main())


def test_cancelled_says_so() -> None:
    promise, _resolver = vow.pending()
    assert not promise.cancelled()
    promise.cancel()
    assert promise.cancelled()
    assert not vow.resolved(1).cancelled()
    failed = vow.rejected(KeyError())
    assert not failed.cancelled()


def test_result_waits_for_so_long() -> None:
    promise, resolver = vow.pending()
    with pytest.raises(vow.StillPending):
        promise.result()
    with pytest.raises(TimeoutError):
        promise.result(0.001)
    threading.Timer(0.01, resolver.resolve, ("later",)).start()
    assert promise.result(timeout=20) == "later"
    assert vow.pool.run(lambda: 2).result(None) == 2


def test_as_completed_gives_them_in_the_order_of_their_settling() -> None:
    pairs = [vow.pending() for _ in range(3)]
    promises = [promise for promise, _ in pairs]
    pairs[2][1].resolve(2)

    def rest() -> None:
        pairs[0][1].reject(KeyError(0))
        time.sleep(0.01)
        pairs[1][1].resolve(1)

    threading.Timer(0.01, rest).start()
    seen = list(vow.as_completed(promises, timeout=20))
    assert seen == [promises[2], promises[0], promises[1]]
    assert isinstance(seen[1].exception(), KeyError)
    assert list(vow.as_completed([])) == []
    waiting, resolver = vow.pending()
    with pytest.raises(vow.TimedOut):
        list(vow.as_completed([waiting, vow.resolved()], timeout=0.01))
    resolver.resolve()


def test_as_completed_in_a_coroutine() -> None:
    async def main() -> None:
        promises = [vow.delay(0.02, "b"), vow.delay(0.001, "a"), vow.delay(0.05, "c")]
        order = [promise.result() async for promise in vow.as_completed(promises, timeout=20)]
        assert order == ["a", "b", "c"]
        with pytest.raises(vow.Deadlock):
            list(vow.as_completed([vow.delay(0.001)]))

    asyncio.run(main())


@pytest.mark.parametrize("wrong", [3, concurrent.futures.ThreadPoolExecutor(1), print])
def test_what_is_no_executor_is_a_type_error(wrong: Any) -> None:
    promise = vow.resolved(1)
    for call in (
        lambda: promise.then(print, executor=wrong),
        lambda: promise.catch(print, executor=wrong),
        lambda: promise.finally_(print, executor=wrong),
        lambda: vow.run(print, executor=wrong),
        lambda: vow.map([1], print, executor=wrong),
        lambda: vow.reduce([promise], print, executor=wrong),
        lambda: vow.repeat(1, bool, print, executor=wrong),  # type: ignore[arg-type]
        lambda: vow.retry(print, executor=wrong),
        lambda: vow.set_default(wrong),
    ):
        with pytest.raises(TypeError, match="is no executor"):
            call()


@pytest.mark.parametrize("where", ["exit", "shutdown"])
def test_ctrl_c_ends_the_end(where: str) -> None:
    program = f"""
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
        if {where!r} == "shutdown":
            vow.exit_timeout = 0
            vow.shutdown()
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
    program = """
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
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60
    )
    assert "still ran" in done.stderr and "for_ever" in done.stderr
