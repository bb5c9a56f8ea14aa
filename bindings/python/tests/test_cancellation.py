"""Cancelling: tokens, registrations, and that what is cancelled has settled when functions and coroutines have ended."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from typing import Any, Optional

import pytest

import vow


def test_a_reason_is_the_payload() -> None:
    promise, _resolver = vow.pending()
    reason = object()
    promise.cancel(reason)
    with pytest.raises(vow.Cancelled) as caught:
        promise.wait()
    assert caught.value.payload is reason


def test_a_source_cancels_all_that_has_its_token() -> None:
    source = vow.CancelSource()
    promise, resolver = vow.pending()
    links = [promise.then(lambda x: x, token=source.token) for _ in range(3)]
    other = promise.then(lambda x: x)
    assert not source.token.cancelled
    assert source.cancel("enough")
    assert not source.cancel()
    for link in links:
        with pytest.raises(vow.Cancelled):
            link.wait()
    resolver.resolve(1)
    assert other.wait() == 1


def test_a_token_says_that_it_is_cancelled() -> None:
    source = vow.CancelSource()
    told: list[Any] = []
    source.token.raise_if_cancelled()
    source.token.on_cancel(lambda: told.append(source.token.reason))
    source.cancel({"why": "test"})
    assert told == [{"why": "test"}]
    assert source.token.cancelled
    with pytest.raises(vow.Cancelled) as caught:
        source.token.raise_if_cancelled()
    assert caught.value.payload == {"why": "test"}
    source.token.on_cancel(lambda: told.append("at once"))
    assert told[-1] == "at once"


def test_a_linked_source_is_cancelled_with_its_parents() -> None:
    parent, other = vow.CancelSource(), vow.CancelSource()
    child = vow.CancelSource(parent.token, other.token)
    other.cancel("parent")
    assert child.token.cancelled
    assert child.token.reason == "parent"
    assert not parent.token.cancelled
    with pytest.raises(TypeError, match="CancelSource"):
        vow.Token()


def test_what_has_left_is_not_called_and_is_let_go_of() -> None:
    class Held:
        pass

    source = vow.CancelSource()
    told: list[str] = []
    held = Held()
    ref = weakref.ref(held)

    def leaves(held: Any = held) -> None:
        told.append("leaves")

    registration = source.token.on_cancel(leaves)
    stays = source.token.on_cancel(lambda: told.append("stays"))
    del held, leaves
    assert registration.stage == "waiting"
    assert registration.leave() == "never runs"
    gc.collect()
    assert ref() is None
    source.cancel()
    assert told == ["stays"]
    assert stays.leave() == "has run"


def test_a_linked_source_lives_by_its_token() -> None:
    parent = vow.CancelSource()
    token = vow.CancelSource(parent.token).token
    told: list[str] = []
    token.on_cancel(lambda: told.append("cancelled"))
    gc.collect()
    assert told == []
    parent.cancel()
    assert told == ["cancelled"]
    assert token.cancelled


def test_a_promise_that_is_cancelled_has_let_go_of_its_functions_when_it_settles() -> None:
    class Function:
        def __call__(self, *inputs: Any) -> None:
            called.append([type(one) for one in inputs])

    called: list[Any] = []
    functions = [Function() for _ in range(3)]
    refs = [weakref.ref(function) for function in functions]
    promise, _resolver = vow.pending()
    last = promise.catch(functions[0], executor=vow.inline)
    last = last.then(lambda _: 1 // 0).finally_(functions[1], executor=vow.inline)
    last = last.then(functions[2], executor=vow.inline)
    functions.clear()
    left = last.catch(lambda _: [ref() for ref in refs], executor=vow.inline)
    del promise
    assert last.cancel()
    assert left.wait() == [None] * 3
    assert called == [[vow.Cancelled], []]


class Jobs:
    """Coroutines that take their time to clean up, and how many of them live at once."""

    def __init__(self) -> None:
        self.begun = self.live = self.most = self.ended = 0

    async def job(self, *_arguments: Any, error: Optional[BaseException] = None) -> str:
        self.begun += 1
        self.live += 1
        self.most = max(self.most, self.live)
        try:
            await asyncio.sleep(3600)
            return "never"
        finally:
            for _ in range(3):
                await asyncio.sleep(0.001)
            self.live -= 1
            self.ended += 1
            if error is not None:
                raise error


@pytest.mark.parametrize("is_closing", [False, True])
async def test_a_scope_in_a_cancelled_task_is_left_when_its_members_have_ended(is_closing: bool) -> None:
    jobs = Jobs()

    async def scoped() -> None:
        async with vow.Scope() as scope:
            scope.add(jobs.job())
            await asyncio.sleep(0 if is_closing else 3600)

    task = asyncio.ensure_future(scoped())
    await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (jobs.live, jobs.ended) == (0, 1)


async def test_an_exception_of_the_clean_up_is_told(unhandled: list[BaseException]) -> None:
    jobs = Jobs()
    error = ValueError("in the clean-up")

    def told() -> bool:
        seen = unhandled == [error]
        unhandled.clear()
        return seen

    promise = vow.from_awaitable(jobs.job(error=error))
    await asyncio.sleep(0)
    promise.cancel()
    with pytest.raises(vow.Cancelled):
        await promise
    assert told()
    with pytest.raises(KeyError):
        async with vow.Scope() as scope:
            scope.add(jobs.job(error=error))
            await asyncio.sleep(0)
            raise KeyError
    assert told()
    with pytest.raises(vow.TimedOut):
        await vow.timeout(jobs.job(error=error), 0.001)
    assert told()


async def test_a_cancelled_task_does_not_wait_for_a_thread() -> None:
    opened = threading.Event()
    promise = vow.pool.run(opened.wait, 60)
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(promise, 0.01)
    assert not opened.is_set()
    opened.set()
    with pytest.raises(vow.Cancelled):
        await promise


@pytest.mark.parametrize("way", ["direct", "run", "coroutine"])
async def test_map_keeps_its_bound_with_time_outs(way: str) -> None:
    jobs = Jobs()

    async def item(number: int) -> Any:
        return await vow.timeout(jobs.job(), 0.002)

    def call(number: int) -> Any:
        if way == "direct":
            return vow.timeout(jobs.job(), 0.002).catch(repr)
        if way == "run":
            return vow.timeout(vow.run(jobs.job), 0.002).catch(repr)
        return vow.from_awaitable(item(number)).catch(repr)

    assert len(await vow.map(range(12), call, concurrency=2)) == 12
    # On a busy machine a time-out may be over before its job has begun.
    assert jobs.most <= 2 and (jobs.live, jobs.ended) == (0, jobs.begun)


async def test_a_time_out_waits_for_clean_up_and_can_be_prompt() -> None:
    jobs = Jobs()
    with pytest.raises(vow.TimedOut):
        await vow.timeout(vow.run(jobs.job), 0.01)
    assert (jobs.live, jobs.ended) == (0, jobs.begun)
    jobs = Jobs()
    with pytest.raises(vow.TimedOut):
        await vow.timeout(vow.run(jobs.job), 0.01, prompt=True)
    assert jobs.live == jobs.begun
    held, resolver = vow.pending()
    with pytest.raises(vow.TimedOut):
        await vow.timeout(held, 0.001)  # not cancelled: others hold it
    resolver.resolve()
    while jobs.live:
        await asyncio.sleep(0.001)


def test_a_coroutine_whose_loop_is_closed_is_not_waited_for() -> None:
    loop = asyncio.new_event_loop()

    async def later() -> vow.Promise[Any]:
        return vow.from_awaitable(asyncio.sleep(3600))

    promise = loop.run_until_complete(later())
    for task in asyncio.all_tasks(loop):
        task._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
    assert promise.cancel()
    with pytest.raises(vow.Cancelled):
        promise.wait(20)
