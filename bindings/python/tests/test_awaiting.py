"""What a promise's `__await__` gives: an iterator of C, which does what a generator would."""

from __future__ import annotations

import asyncio
import gc
import itertools
import threading
import weakref
from typing import Any, Callable

import pytest

import vow
from vow import _core

from programs import run


class Thing:
    pass


def in_a_cycle(value: Any) -> Any:
    """An iterator over a promise whose value has it."""
    value.promise = vow.resolved(value)
    assert value.promise.result() is value
    value.iterator = value.promise.__await__()
    return weakref.ref(value)


def test_a_cycle_through_an_iterator_is_found() -> None:
    gone = in_a_cycle(Thing())
    gc.collect()
    assert gone() is None


def test_a_cycle_through_a_waiting_iterator_is_found_when_the_promise_was_read() -> None:
    async def main() -> Any:
        thing: Any = Thing()
        promise, resolver = vow.pending()
        thing.iterator = promise.__await__()
        thing.future = next(thing.iterator)
        thing.future.thing = thing
        thing.promise = promise
        resolver.resolve(thing)
        assert promise.result() is thing
        return weakref.ref(thing)

    gone = asyncio.run(main())
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("end", ["close", "drop", "throw"])
async def test_an_iterator_that_is_left_cancels_for_the_only_reader(end: str) -> None:
    promise, resolver = vow.pending()
    told: list[str] = []
    resolver.on_cancel(lambda: told.append("stop"))
    iterator: Any = promise.__await__()
    assert asyncio.isfuture(next(iterator))
    if end == "close":
        iterator.close()
        iterator.close()
    elif end == "throw":
        with pytest.raises(KeyError, match="thrown"):
            iterator.throw(KeyError("thrown"))
    del iterator
    assert told == ["stop"]
    assert promise.cancelled()


async def test_an_iterator_that_is_left_leaves_a_promise_that_others_read() -> None:
    promise, resolver = vow.pending()
    link = promise.then(lambda x: x + 1)
    iterator: Any = promise.__await__()
    next(iterator)
    del iterator
    resolver.resolve(1)
    assert await link == 2


def test_an_iterator_that_has_not_begun_holds_nothing_up() -> None:
    promise, resolver = vow.pending()
    iterator: Any = promise.__await__()
    with pytest.raises(KeyError):
        iterator.throw(KeyError)
    with pytest.raises(StopIteration):
        next(iterator)
    promise.__await__().close()
    assert resolver.resolve(1)


@pytest.mark.parametrize(
    "arguments, error",
    [
        ((KeyError,), KeyError()),
        ((KeyError, "k"), KeyError("k")),
        ((KeyError("k"),), KeyError("k")),
        ((KeyError, KeyError("k"), None), KeyError("k")),
        ((KeyError, ("a", "b")), KeyError("a", "b")),
        ((3,), TypeError("throw: an exception is needed")),
    ],
    ids=repr,
)
def test_what_is_thrown_is_what_a_generator_takes(
    arguments: tuple[Any, ...], error: Exception
) -> None:
    iterator: Any = vow.resolved().__await__()
    with pytest.raises(type(error)) as raised:
        iterator.throw(*arguments)
    assert raised.value.args == error.args


async def test_a_future_that_is_not_waited_for_is_an_error() -> None:
    promise, _resolver = vow.pending()
    iterator: Any = promise.__await__()
    next(iterator)
    with pytest.raises(RuntimeError, match="not waited for"):
        next(iterator)
    with pytest.raises(StopIteration):
        next(iterator)


async def test_one_iterator_waits_once() -> None:
    promise, resolver = vow.pending()
    iterator: Any = promise.__await__()
    loop = asyncio.get_running_loop()
    create = loop.create_future
    second: list[Any] = []

    def again() -> Any:
        loop.create_future = create  # type: ignore[method-assign]
        second.append(next(iterator))
        return create()

    loop.create_future = again  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="begun twice"):
        next(iterator)
    assert asyncio.isfuture(second.pop())
    assert resolver.resolve(1)


def test_the_classes_of_the_extension_made_by_hand_hurt_nobody() -> None:
    kind = type(vow.resolved().__await__())
    with pytest.raises(StopIteration):
        next(kind())
    _core.Waiter().wake()


def on_a_thread(resolver: vow.Resolver[Any]) -> None:
    thread = threading.Thread(target=resolver.resolve)
    thread.start()
    thread.join()


def in_a_handler(resolver: vow.Resolver[Any]) -> None:
    vow.resolved().then(lambda _: resolver.resolve())


def order_of(readers: str, settle: Callable[[vow.Resolver[Any]], Any]) -> list[str]:
    """In which order (t)asks, (h)andlers and (c)allbacks of one promise go on, each with its number."""

    async def main() -> list[str]:
        order: list[str] = []
        promise, resolver = vow.pending()

        async def reads(name: str) -> None:
            await promise
            order.append(name)

        def appends(name: str) -> Callable[[Any], None]:
            return lambda _: order.append(name)

        left: list[Any] = []
        for number, kind in enumerate(readers):
            name = f"{kind}{number}"
            if kind == "t":
                left.append(asyncio.ensure_future(reads(name)))
                await asyncio.sleep(0)
            elif kind == "h":
                left.append(promise.then(appends(name)))
            else:
                promise.add_done_callback(appends(name))
        settle(resolver)
        await asyncio.gather(*left)
        while len(order) < len(readers):
            await asyncio.sleep(0)
        return order

    return asyncio.run(main())


SETTLING: list[Callable[[vow.Resolver[Any]], Any]] = [
    lambda resolver: resolver.resolve(),
    on_a_thread,
    in_a_handler,
]


@pytest.mark.parametrize("settle", SETTLING, ids=["here", "on a thread", "in a handler"])
@pytest.mark.parametrize(
    "readers", ["".join(kinds) for kinds in itertools.product("thc", repeat=4)]
)
def test_tasks_go_on_in_their_order_and_after_what_was_registered_before(
    readers: str, settle: Any
) -> None:
    order = order_of(readers, settle)
    tasks = [name for name in order if name[0] == "t"]
    others = [name for name in order if name[0] != "t"]
    assert tasks == sorted(tasks, key=lambda name: int(name[1:]))
    assert others == sorted(others, key=lambda name: int(name[1:]))
    for task in tasks:
        before = [name for name in others if int(name[1:]) < int(task[1:])]
        assert set(before) <= set(order[: order.index(task)])


def test_what_was_queued_before_runs_before_the_task_of_another_promise() -> None:
    async def main() -> list[str]:
        order: list[str] = []
        one, one_resolver = vow.pending()
        other, other_resolver = vow.pending()

        async def reads() -> None:
            await other
            order.append("task")

        one.then(lambda _: order.append("handler"))
        task = asyncio.ensure_future(reads())
        await asyncio.sleep(0)
        one_resolver.resolve()
        other_resolver.resolve()
        await task
        return order

    assert asyncio.run(main()) == ["handler", "task"]


def test_a_task_is_woken_in_the_turn_in_which_a_future_of_asyncio_would() -> None:
    async def turns(wait: Any, settle: Callable[[], Any]) -> int:
        loop = asyncio.get_running_loop()
        count = 0
        is_over = False

        def turn() -> None:
            nonlocal count
            count += 1
            if not is_over:
                loop.call_soon(turn)

        async def reads() -> int:
            await wait
            return count

        task = asyncio.ensure_future(reads())
        await asyncio.sleep(0)
        settle()
        loop.call_soon(turn)
        seen = await task
        is_over = True
        return seen

    async def main() -> tuple[int, int]:
        vow.attach()
        future = asyncio.get_running_loop().create_future()
        promise, resolver = vow.pending()
        return (
            await turns(future, lambda: future.set_result(None)),
            await turns(promise, resolver.resolve),
        )

    of_asyncio, of_vow = asyncio.run(main())
    assert of_asyncio == of_vow


def test_a_promise_that_is_settled_between_two_runs_of_its_loop_wakes_then() -> None:
    loop = asyncio.new_event_loop()
    promise, resolver = vow.pending()

    async def reads() -> Any:
        return await promise

    async def begin() -> Any:
        task = asyncio.ensure_future(reads())
        await asyncio.sleep(0)
        return task

    async def end(task: Any) -> Any:
        return await task

    task = loop.run_until_complete(begin())
    resolver.resolve("between")
    assert loop.run_until_complete(end(task)) == "between"
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


def test_ctrl_c_in_the_middle_of_a_wake_wakes_all_the_same() -> None:
    out, error = run(
        """
        import asyncio, vow
        class Interrupted(asyncio.Future):
            left = 1
            def set_result(self, value):
                if Interrupted.left:
                    Interrupted.left -= 1
                    raise KeyboardInterrupt
                super().set_result(value)
        async def main():
            loop = asyncio.get_running_loop()
            promise, resolver = vow.pending()
            create, loop.create_future = loop.create_future, lambda: Interrupted(loop=loop)
            iterator = promise.__await__()
            future = next(iterator)
            loop.create_future = create
            try:
                resolver.resolve()
                while True:
                    await asyncio.sleep(0)
            finally:
                print(type(future).__name__, future.done(), flush=True)
        asyncio.run(main())
        """,
        status=-2,
    )
    assert out == "Interrupted True\n"
    assert error.rstrip().endswith("KeyboardInterrupt")
    assert "ignored" not in error


async def attaches() -> None:
    vow.attach()


def test_a_loop_that_is_closed_with_a_task_that_waits_lets_go() -> None:
    promise, resolver = vow.pending()

    async def reads() -> Any:
        return await promise

    async def begin() -> Any:
        task = asyncio.ensure_future(reads())
        await asyncio.sleep(0)
        task._log_destroy_pending = False  # type: ignore[attr-defined]

    loop = asyncio.new_event_loop()
    loop.run_until_complete(begin())
    loop.close()
    resolver.resolve()
    assert promise.result() is None
    # The next loop of the thread takes over what a closed one has left.
    asyncio.run(attaches())
