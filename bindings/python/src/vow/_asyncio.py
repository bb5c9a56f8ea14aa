"""Vow in asyncio: each running loop gets a loop of the library, watched by its descriptor.

The descriptor is readable exactly while something is to be run, so nothing polls: no thread, no timer
of asyncio. Handlers that are registered on asyncio's thread run there.
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any, AsyncGenerator, Generator, NoReturn, Optional

from . import _core
from ._elsewhere import await_elsewhere
from ._errors import Shutdown, check
from ._executors import Executor
from ._library import LoopRef, Ref, Uncopied
from ._library import Ref, lib

if TYPE_CHECKING:
    from ._promise import Promise

_get_running_loop = asyncio._get_running_loop


class _Shared:
    """The library's loop of one thread, for all asyncio loops that take turns on it."""

    def __init__(self) -> None:
        handle = lib.vow_loop_create()
        if not handle:
            check(-2, "attach: no memory, or no descriptors")
        self.ref: Optional[Ref] = LoopRef(handle)
        self.descriptor = lib.vow_loop_fd(handle)
        self.executor = Executor._borrowed(lib.vow_executor_retain(lib.vow_loop_executor(handle)))
        self.users: weakref.WeakSet[Attachment] = weakref.WeakSet()

    def run(self) -> None:
        ref = self.ref
        if ref is None:
            return
        status = _core.run_loop(ref.handle)
        if status != Shutdown.number:
            check(status, "running the loop")

    def leave(self, user: Attachment) -> None:
        self.users.discard(user)
        if len(self.users) == 0:
            self.ref = None
            if _local.shared is self:
                _local.shared = None


class Attachment(Uncopied):
    """The library's loop inside an asyncio loop. Ends with the asyncio loop, or by `close`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, shared: _Shared) -> None:
        self._shared: Optional[_Shared] = shared
        self._loop = weakref.ref(loop)
        self.executor = shared.executor
        self.waiting: set[_core.Waiter] = set()
        # What the extension has to know, of a loop that it entered last without asking again.
        self.place = self.waiting, self.executor, self.executor._ref.handle, shared.descriptor
        # In an empty context: the current one is of whoever came first, and would be kept.
        contextvars.Context().run(loop.add_reader, shared.descriptor, shared.run)
        shared.users.add(self)
        # asyncio has no hook for its end but this one: it closes the generators it has seen.
        self._end = _until_the_end(self)
        try:
            self._end.__anext__().send(None)
        except StopIteration:
            pass

    @property
    def closed(self) -> bool:
        """Whether it has ended."""
        return self._shared is None

    def close(self) -> None:
        """Ends it: with the last one of a thread, what is queued is rejected with `Shutdown`.

        Who awaits a promise there gets `Shutdown`.
        """
        shared, self._shared = self._shared, None
        if shared is None:
            return
        loop = self._loop()
        if loop is not None and not loop.is_closed():
            loop.remove_reader(shared.descriptor)
        if _local.attachment is self:
            _local.loop = _local.attachment = None
        _core.entered(None)  # which may have been this one, though another was entered since
        if loop is not None:
            _local.attachments.pop(loop, None)
        shared.leave(self)
        for waiter in list(self.waiting):
            waiter.wake()

    def forget(self) -> None:
        """In a forked child: ends without touching what the parent watches with the same descriptors."""
        self._shared = None
        try:  # or asyncio would have the generator closed by a loop that does not run
            self._end.aclose().send(None)
        except StopIteration:
            pass


async def _until_the_end(attachment: Attachment) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        attachment.close()


class _Local(threading.local):
    def __init__(self) -> None:
        self.loop: Any = None
        self.attachment: Any = None
        self.attachments: Any = weakref.WeakKeyDictionary()
        self.shared: Optional[_Shared] = None


_local = _Local()


def attach() -> Attachment:
    """Attaches the running asyncio loop, if it is not: what is awaited there does it by itself."""
    attachment = enter()
    if attachment is None:
        raise RuntimeError("attach: no asyncio loop is running on this thread")
    return attachment


def enter() -> Optional[Attachment]:
    """The attachment of the asyncio loop that runs on this thread; None where none runs."""
    loop = _get_running_loop()
    if loop is None:
        return None
    if _local.loop is not None and _local.loop() is loop:
        return _local.attachment  # type: ignore[no-any-return]
    return _attach(loop)


def _attach(loop: asyncio.AbstractEventLoop) -> Attachment:
    attachments = _local.attachments
    attachment: Optional[Attachment] = attachments.get(loop)
    if attachment is None:
        if _local.shared is None or _local.shared.ref is None:
            _local.shared = _Shared()
        attachment = attachments[loop] = Attachment(loop, _local.shared)
    # Loops that were closed without a word; not before this one is in, which takes their work over.
    for other, attached in list(attachments.items()):
        if other.is_closed():
            attached.close()
    _local.loop = weakref.ref(loop)
    _local.attachment = attachment
    return attachment


def _enter_and_say() -> Optional[_core.Place]:
    """For the extension, which asks again on another thread or in another loop only."""
    attachment = enter()
    place = None if attachment is None else attachment.place
    _core.entered(_get_running_loop(), place)
    return place


_core.hooks(get_running_loop=_get_running_loop, enter=_enter_and_say)


def current_ref() -> Optional[Ref]:
    """The attached loop of this thread, where asyncio is running."""
    attachment = enter()
    if attachment is None or attachment._shared is None:
        return None
    return attachment._shared.ref


def forget_parent() -> None:
    """In a forked child: destroys the copy of the parent's loop of this thread."""
    shared, attachments = _local.shared, list(_local.attachments.values())
    _local.__init__()  # type: ignore[misc]
    _core.entered(None)
    for attachment in attachments:
        attachment.forget()
    if shared is not None:
        shared.ref = None


def _thrown(
    promise: Promise[Any], waiter: _core.Waiter, error: BaseException
) -> Generator[Any, None, NoReturn]:
    """Ends the wait of the only reader of a promise, into which an exception was thrown.

    When its task is cancelled, the promise is too; then the coroutines that this ends are waited for,
    as asyncio does with what a task awaits.
    """
    try:
        if isinstance(error, asyncio.CancelledError):
            yield from _cancelled(promise)
        else:
            promise.cancel()
        raise error
    finally:
        del promise, waiter, error


class _Cancelling(threading.local):
    """The futures that are asked to end, on this thread, by who then waits for them."""

    asked: Optional[list[asyncio.Future[Any]]] = None


cancelling = _Cancelling()


def _cancel_and_collect(promise: Promise[Any]) -> list[asyncio.Future[Any]]:
    """Cancels a promise: the futures of asyncio that were asked to end by that."""
    outer, cancelling.asked = cancelling.asked, []
    try:
        promise.cancel()
        return cancelling.asked
    finally:
        cancelling.asked = outer


def _cancelled(promise: Promise[Any]) -> Generator[Any, None, None]:
    ended = _cancel_and_collect(promise)
    if ended:
        # Another cancellation ends this at once.
        yield from asyncio.gather(*map(_ignored, ended)).__await__()


async def _ignored(future: asyncio.Future[Any]) -> None:
    await asyncio.wait([future])


# What `asyncio.ensure_future` has run by the task that it makes of a promise, for `shield` and others.
_wrapper = getattr(getattr(asyncio.tasks, "_wrap_awaitable", None), "__code__", None)
_ears: set[weakref.ref[Any]] = set()


def _begun() -> None:
    """Looks at the task that begins to await a promise which others hold as well.

    One that asyncio has made for somebody ends when he has taken his callback back. Nothing tells of
    that but the end of the callback itself.
    """
    task: Any = asyncio.current_task()
    coroutine = task.get_coro()
    if _wrapper is None or _wrapper is not getattr(
        coroutine, "cr_code", getattr(coroutine, "gi_code", None)
    ):
        return
    loop, ref = task.get_loop(), weakref.ref(task)

    def gone(ear: Any) -> None:
        _ears.discard(ear)
        ended = ref()
        if ended is not None and not ended.done() and not loop.is_closed():
            loop.call_soon_threadsafe(_leave, ref)

    for callback, _ in (task._callbacks or ())[:1]:
        _ears.add(weakref.ref(callback, gone))


def _leave(ref: weakref.ref[Any]) -> None:
    task = ref()
    # References: the variable, the argument of getrefcount, and what wakes the task.
    if task is None or task.done() or task._callbacks or sys.getrefcount(task) > 3:
        return
    coroutine = task.get_coro()
    awaiting = getattr(coroutine, "cr_await", getattr(coroutine, "gi_yieldfrom", None))
    if type(awaiting) is _core.Awaiting and awaiting.leave():
        task._fut_waiter.cancel()


_core.hooks(
    begun=_begun,
    await_elsewhere=await_elsewhere,
    await_thrown=_thrown,
)
