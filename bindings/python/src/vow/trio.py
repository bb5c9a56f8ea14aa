"""Promises in trio: they are awaited as they are, and `attached` has their handlers run there.

A program of anyio that runs on trio is one of trio's; on asyncio nothing of this is needed.
"""

from __future__ import annotations

import contextlib
from typing import Any, AsyncIterator, Callable, Coroutine, Optional

import trio

from . import _core
from ._elsewhere import local
from ._errors import Cancelled
from ._executors import inline
from ._library import PromiseRef
from ._library import lib
from ._loops import Loop
from ._promise import Promise
from ._resolver import Resolver, resolved
from ._calls import tell

__all__ = ["attached"]


class _Waiter(_core.Reader):
    """A task of trio that awaits a promise."""

    __slots__ = ("is_over", "is_waiting", "task", "token")

    def __init__(self) -> None:
        self.task = trio.lowlevel.current_task()
        self.token = trio.lowlevel.current_trio_token()
        self.is_over = False  # woken, or cancelled
        self.is_waiting = False

    def wake(self) -> None:
        if self.is_over:
            return
        try:
            is_here = trio.lowlevel.current_trio_token() is self.token
        except RuntimeError:
            is_here = False
        if is_here:
            self.is_over = True
            if self.is_waiting:
                trio.lowlevel.reschedule(self.task)
            return
        try:
            self.token.run_sync_soon(self.wake)
        except trio.RunFinishedError:
            self.is_over = True

    def abort(self, _raise_cancel: Any) -> trio.lowlevel.Abort:
        self.is_over = True
        return trio.lowlevel.Abort.SUCCEEDED


async def await_promise(promise: Promise[Any]) -> Any:
    """What `await promise` does in trio, while it is pending.

    When the task is cancelled meanwhile, the promise is too, unless something else reads it.
    """
    await trio.lowlevel.checkpoint_if_cancelled()
    waiter = _Waiter()
    promise._reader(waiter)
    reaction = PromiseRef(promise._wake(waiter, inline._ref.handle))
    try:
        if waiter.is_over:
            await trio.lowlevel.cancel_shielded_checkpoint()
        else:
            waiter.is_waiting = True
            await trio.lowlevel.wait_task_rescheduled(waiter.abort)
    except BaseException:
        lib.vow_cancel(reaction.handle)
        if not promise._read_by_others(waiter):
            promise.cancel()
        raise
    try:
        if not promise._settled():
            raise _core.why_not(reaction.handle)
        return promise._read()
    finally:
        del promise, waiter, reaction


class _Following:
    """A coroutine that runs in the nursery, and settles a promise as it ends."""

    def __init__(
        self, resolver: Resolver[Any], late: Optional[Callable[[Any], Any]], shield: bool
    ) -> None:
        self._resolver = resolver
        self._late = late
        self._scope = trio.CancelScope(shield=shield)
        self._token = trio.lowlevel.current_trio_token()

    def cancel(self) -> None:
        try:
            is_here = trio.lowlevel.current_trio_token() is self._token
        except RuntimeError:
            is_here = False
        if is_here:
            self._scope.cancel()
            return
        with contextlib.suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._scope.cancel)

    async def run(self, coroutine: Coroutine[Any, Any, Any], loop: Loop) -> None:
        resolver = self._resolver
        try:
            with self._scope:
                value = await coroutine
                if not resolver.resolve(value) and self._late is not None:
                    late = self._late
                    resolved().then(lambda _: late(value))
                return
            resolver.reject(Cancelled("the coroutine was cancelled"))
        except trio.Cancelled:  # with the nursery, which hears of it
            resolver.reject(Cancelled("the coroutine was cancelled"))
            raise
        except Exception as error:
            if not resolver.reject(error):
                tell(error)  # it was cancelled, and its clean-up failed
        except BaseException as error:
            resolver.reject(error)
            raise
        finally:
            resolver.close()
            loop.run_once(0)  # the nursery is open still for a release that follows from this


async def _run(loop: Loop, scope: trio.CancelScope, nursery: trio.Nursery) -> None:
    raised: Optional[BaseException] = None
    with scope:
        while True:
            await trio.lowlevel.wait_readable(loop.fileno())
            try:
                loop.run_once(0)
            except BaseException as error:  # meant for the program: what ends by it needs the loop
                raised = error
                nursery.cancel_scope.cancel()
    if raised is not None:
        raise raised


@contextlib.asynccontextmanager
async def attached() -> AsyncIterator[trio.Nursery]:
    """Has the library's loop watched by trio: handlers that are registered in the block run on its thread.

    Delays and descriptors are that loop's. Coroutines that handlers return, and those of
    `from_awaitable`, run in the nursery that this gives. At the end of the block they are cancelled, and
    what is queued on the loop is rejected with `Shutdown`. One block on a thread.
    """
    if local.follow is not None:
        raise RuntimeError("attached: this thread has one already")
    # The loop lives, and is run, until who is cancelled has ended: also when the block is.
    with Loop() as loop:
        async with trio.open_nursery() as nursery:

            def follow(
                coroutine: Coroutine[Any, Any, Any],
                late: Optional[Callable[[Any], Any]],
                shield: bool,
            ) -> Promise[Any]:
                promise: Promise[Any]
                promise, resolver = _core.following(True)
                following = _Following(resolver, late, shield)
                resolver.on_cancel(following.cancel)
                nursery.start_soon(following.run, coroutine, loop)
                return promise

            running = trio.CancelScope(shield=True)
            nursery.start_soon(_run, loop, running, nursery)
            local.follow = follow
            try:
                yield nursery
            finally:
                nursery.cancel_scope.cancel()
                with trio.CancelScope(shield=True):
                    while len(nursery.child_tasks) > 1:
                        await trio.lowlevel.checkpoint()
                running.cancel()
                local.follow = None
