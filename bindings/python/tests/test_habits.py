"""What users of asyncio and concurrent.futures look for first."""

from __future__ import annotations

import asyncio
import builtins
import concurrent.futures
import contextvars
import threading
import time
from typing import Any

import pytest

import vow


async def test_a_done_callback_is_called_with_the_promise() -> None:
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


def test_wait_of_concurrent_futures_takes_futures_of_promises() -> None:
    waiting, resolver = vow.pending()
    failed = vow.pool.run(lambda: 1 // 0).to_future()
    futures = [vow.resolved(1).to_future(), failed, waiting.to_future()]
    done, left = concurrent.futures.wait(futures[:2], timeout=20)
    assert (done, left) == (set(futures[:2]), set())
    assert isinstance(failed.exception(), ZeroDivisionError)
    threading.Timer(0.01, resolver.resolve, (3,)).start()
    seen = [future.result() for future in concurrent.futures.as_completed([futures[0], futures[2]])]
    assert sorted(seen) == [1, 3]


def test_cancelling_goes_from_a_promise_to_its_future_and_back() -> None:
    promise, resolver = vow.pending()
    future = promise.to_future()
    assert future.cancel()
    assert future.cancel()
    assert (promise.cancelled(), future.cancelled()) == (True, True)
    promise, resolver = vow.pending()
    future = promise.to_future()
    promise.cancel()
    assert future.cancelled()
    assert concurrent.futures.wait([future], timeout=20).done == {future}
    promise, resolver = vow.pending()
    future, link = promise.to_future(), promise.then(lambda x: x + 1)
    assert future.cancel()
    assert resolver.resolve(1)
    assert link.wait() == 2


def test_importing_everything_hides_nothing_of_pythons() -> None:
    names: dict[str, Any] = {}
    exec("from vow import *", names)
    assert [name for name in names if hasattr(builtins, name) and not name.startswith("_")] == []
    assert names["race"] is vow.race
    assert vow.all([1 and vow.resolved(1)]).wait() == [1]


def then_of_any(*arguments: Any, **keywords: Any) -> Any:
    then: Any = vow.resolved().then
    return then(*arguments, **keywords)


@pytest.mark.parametrize(
    "wrong, said",
    [
        (lambda: then_of_any(str, token=vow.CancelSource()), "no token: its `token` is one"),
        (lambda: then_of_any(str, token=3), "3 is no token"),
        (lambda: vow.CancelSource(vow.CancelSource()), "no token: its `token` is one"),  # type: ignore[arg-type]
        (lambda: then_of_any(str, label=3), "3 is no label"),
        (lambda: vow.retry(str, attempts="x"), "'x' is no number"),  # type: ignore[call-overload]
        (
            lambda: then_of_any(str, executor=concurrent.futures.ThreadPoolExecutor(1)),
            "vow.from_futures",
        ),
        (lambda: then_of_any(str, executor=vow.Loop(virtual=True)), "its `executor` is one"),
        (lambda: then_of_any(str, executor=vow.resolved()), "is no executor"),
    ],
    ids=range(8),
)
def test_a_wrong_argument_is_a_type_error_that_says_what_is_right(wrong: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        wrong()


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


async def test_as_completed_in_a_coroutine() -> None:
    promises = [vow.delay(0.02, "b"), vow.delay(0.001, "a"), vow.delay(0.05, "c")]
    order = [promise.result() async for promise in vow.as_completed(promises, timeout=20)]
    assert order == ["a", "b", "c"]
    with pytest.raises(vow.Deadlock):
        list(vow.as_completed([vow.delay(0.001)]))


@pytest.mark.parametrize("wrong", [3, concurrent.futures.ThreadPoolExecutor(1), print])
def test_what_is_no_executor_is_a_type_error(wrong: Any) -> None:
    promise = vow.resolved(1)
    for call in (
        lambda: promise.then(print, executor=wrong),
        lambda: promise.catch(print, executor=wrong),
        lambda: promise.finally_(print, executor=wrong),
        lambda: vow.map([1], print, executor=wrong),
        lambda: vow.retry(print, executor=wrong),
    ):
        with pytest.raises(TypeError, match="is no executor"):
            call()
