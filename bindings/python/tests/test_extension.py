"""The extension: what its short cuts must not change."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import sys
import threading
import weakref
from types import FrameType
from typing import Any, Callable

import pytest

import vow
from vow import _core

from programs import run


async def reads(promise: vow.Promise[Any]) -> Any:
    return await promise


@pytest.mark.parametrize(
    "value", [None, 1, (), (1, 2), StopIteration(3), KeyError("value"), [1]], ids=repr
)
def test_what_is_settled_is_awaited_without_a_loop(value: Any) -> None:
    coroutine = reads(vow.resolved(value))
    with pytest.raises(StopIteration) as stopped:
        coroutine.send(None)
    assert stopped.value.value is value or stopped.value.value == value
    # The value may be an exception, and the traceback would have this frame.
    del stopped


def test_an_await_method_is_an_iterator_that_ends_once() -> None:
    there = vow.resolved(1).__await__()
    assert iter(there) is there
    with pytest.raises(StopIteration) as stopped:
        next(there)
    assert stopped.value.value == 1
    with pytest.raises(StopIteration) as again:
        next(there)
    assert again.value.value is None


def test_a_handler_has_no_frame_of_the_package_around_it() -> None:
    """So its exception begins with the function itself, on every executor."""
    for executor in (vow.inline, vow.pool):
        error: Any = vow.resolved(0).then(lambda x: 1 // x, executor=executor)
        error = error.catch(lambda e: e).wait()
        assert error.__traceback__ is not None
        assert error.__traceback__.tb_frame.f_code.co_name == "<lambda>"
        assert error.__traceback__.tb_next is None
        error.__traceback__ = None


def test_context_variables_are_those_of_the_registration() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")

    def handler(_: Any) -> str:
        seen = variable.get()
        variable.set("changed")
        return seen

    promise, resolver = vow.pending()
    variable.set("first")
    one = promise.then(handler, executor=vow.inline)
    variable.set("second")
    other = promise.then(handler, executor=vow.pool)
    variable.set("later")
    resolver.resolve()
    assert (one.wait(), other.wait(), variable.get()) == ("first", "second", "later")


def test_data_of_a_thread_outlasts_a_handler_there() -> None:
    """A thread of the library has one state of Python's for as long as it lives."""
    local = threading.local()
    one = vow.serial()

    def count(_: Any) -> tuple[int, int]:
        local.count = getattr(local, "count", 0) + 1
        return threading.get_ident(), local.count

    seen: dict[int, int] = {}
    for _ in range(50):
        thread, number = vow.resolved().then(count, executor=one).wait()
        assert number == seen.get(thread, 0) + 1
        seen[thread] = number


def test_a_reader_counts_until_it_goes() -> None:
    class Reads(_core.Reader):
        pass

    promise, resolver = vow.pending()
    mine, other = Reads(), Reads()
    promise._reader(mine)
    assert not promise._read_by_others(mine)
    promise._reader(other)
    assert promise._read_by_others(mine)
    del other
    assert not promise._read_by_others(mine)
    link = promise.then(lambda x: x)
    assert promise._read_by_others(mine)
    link.cancel()
    assert not promise._read_by_others(mine)
    resolver.resolve()
    assert promise.wait() is None
    assert not promise._read_by_others(mine)


def test_a_reader_may_outlive_what_it_read() -> None:
    class Reads(_core.Reader):
        pass

    promise, resolver = vow.pending()
    mine = Reads()
    promise._reader(mine)
    resolver.resolve()
    del promise
    other = vow.resolved()
    assert not other._read_by_others(mine)


def test_a_promise_that_was_not_made_by_the_package_hurts_nobody() -> None:
    promise: vow.Promise[Any] = vow.Promise.__new__(vow.Promise)
    assert (promise.state, promise.result(), repr(promise)) == (
        "fulfilled",
        None,
        "<vow.Promise fulfilled None>",
    )
    assert promise.then(lambda x: x).wait() is None
    resolver: vow.Resolver[Any] = vow.Resolver.__new__(vow.Resolver)
    assert not resolver.resolve(1)
    with pytest.raises(TypeError):
        vow.Promise()
    with pytest.raises(TypeError):
        vow.Resolver()


def test_arguments_that_are_wrong_leave_nothing_behind() -> None:
    promise, resolver = vow.pending()
    for arguments in [(), (1,), (1, 2, 3, "x", 0, 0, 0)]:
        with pytest.raises(TypeError):
            promise._link(*arguments)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _core.combine("x", [], "all")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        vow.all([promise, 1])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _core.hooks(unknown=1)
    resolver.resolve()


def test_a_handle_is_let_go_of_with_an_exception_on_its_way() -> None:
    """Whose end runs Python code: it must not meet the exception."""
    seen: list[str] = []

    def fails() -> None:
        promise, resolver = vow.pending()
        link = promise.catch(lambda e: seen.append(type(e).__name__), executor=vow.inline)
        kept.append(link)
        del promise
        raise KeyError("on its way")

    kept: list[Any] = []
    with pytest.raises(KeyError, match="on its way") as caught:
        fails()
    caught.value.__traceback__ = None
    del caught
    gc.collect()
    assert seen == ["Broken"]


def test_a_loop_at_the_place_of_one_that_is_gone_is_entered_anew() -> None:
    async def main() -> int:
        return await vow.resolved(1).then(lambda x: x + 1)

    for _ in range(20):
        loop = asyncio.new_event_loop()
        gone = weakref.ref(loop)
        assert loop.run_until_complete(main()) == 2
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
        del loop
        gc.collect()
        assert gone() is None


def test_loops_on_two_threads_are_entered_in_turn() -> None:
    meet = threading.Barrier(2, timeout=60)
    seen: list[tuple[int, int]] = []

    async def main() -> None:
        for number in range(50):
            meet.wait()
            here = await vow.resolved(number).then(lambda x: threading.get_ident())
            seen.append((here, threading.get_ident()))

    def work() -> None:
        asyncio.run(main())

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 100
    assert all(handler == awaited for handler, awaited in seen)


def test_a_child_forked_in_a_handler_knows_of_no_handlers_but_its_own() -> None:
    out, _ = run(
        """
        import os, threading, vow
        from vow import _core
        begun, end = threading.Event(), threading.Event()
        def stays():
            begun.set()
            end.wait()
        def forks():
            pid = os.fork()
            if pid == 0:
                own = {thread for thread, _ in _core.running()} == {threading.get_ident()}
                os._exit(0 if own and _core.inside() else 1)
            return os.waitpid(pid, 0)[1]
        other = vow.pool.run(stays)
        begun.wait()
        print(vow.resolved().then(lambda _: forks(), executor=vow.inline).wait())
        end.set()
        other.wait()
        """
    )
    assert out == "0\n"


PACKAGE = str(vow.__path__[0])


def frames(work: Callable[[], Any]) -> int:
    """How many functions of the package, in Python, a piece of work enters on this thread."""
    count = 0

    def look(frame: FrameType, event: str, _: Any) -> None:
        nonlocal count
        count += event == "call" and frame.f_code.co_filename.startswith(PACKAGE)

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_making_and_settling_enter_no_function_of_the_package() -> None:
    async def main() -> None:
        promise, resolver = vow.pending()
        resolver.resolve(await vow.resolved(1))
        assert await promise == 1

    def work() -> None:
        with pytest.raises(StopIteration):
            main().send(None)

    assert frames(work) == 1  # vow.resolved


def test_many_as_one_enter_no_more_functions_than_two() -> None:
    promises = [vow.resolved(number) for number in range(1000)]
    together: list[vow.Promise[list[int]]] = []
    assert frames(lambda: together.append(vow.all(promises))) == 2
    assert together[0].wait() == list(range(1000))
