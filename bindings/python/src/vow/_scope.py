"""Scope and using: nothing is left behind."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, Generic, Optional, TypeVar, Union

from . import _asyncio, _core
from ._awaitables import follow, to_promise
from ._calls import tell
from ._elsewhere import kept, through
from ._errors import Cancelled, Shutdown, TimedOut, check
from ._executors import Executor, handle_of
from ._library import Ref, ScopeRef, Uncopied, lib, nanoseconds
from ._promise import Promise, _callable
from ._resolver import Resolver, pending

T = TypeVar("T")


class Scope(Uncopied):
    """Closing it waits for all its members. `with` and `async with` do, and cancel on exceptions."""

    __slots__ = ("_has_deadline", "_ref")

    def __init__(
        self,
        *,
        deadline: Optional[float] = None,
        fail_fast: bool = False,
        grace: Optional[float] = None,
    ) -> None:
        """After `deadline` seconds the members are cancelled, and the end is `TimedOut`.

        With `fail_fast` the first exception of a member that is no cancellation cancels the others.
        Members that have not ended `grace` seconds after they were cancelled are reported as
        unhandled rejections are, and waited for all the same.
        """
        self._has_deadline = deadline is not None
        # No time is not no limit.
        limits = [0 if given is None else max(nanoseconds(given, "Scope"), 1) for given in (deadline, grace)]
        handle = _core.scope(fail_fast, *limits)
        if not handle:
            check(-2, "Scope")
        self._ref: Optional[Ref] = ScopeRef(handle)

    def _open(self) -> Ref:
        if self._ref is None:
            raise Shutdown("the scope is closed")
        return self._ref

    def add(self, promise: Awaitable[T]) -> Promise[T]:
        """Makes a promise a member, and returns it. In a cancelled scope it is cancelled."""
        ref = self._open()
        _asyncio.enter()
        member = to_promise(promise, "Scope.add")
        status = lib.vow_scope_add(ref.handle, member._hold_for_good())
        if status == Cancelled.number:
            member.cancel()
        else:
            check(status, "Scope.add")
        return member

    def cancel(self) -> None:
        """Cancels the members, and those that are added later."""
        lib.vow_scope_cancel(self._open().handle)

    def close(self) -> Promise[None]:
        """Ends the scope: a promise that settles when all members have.

        Rejected with the first exception that is no cancellation.
        """
        ref = self._open()
        self._ref = None
        handle, ref.handle = ref.handle, 0
        return Promise._of(lib.vow_scope_close(handle))

    def __enter__(self) -> Scope:
        return self

    def __exit__(self, kind: Any, error: Optional[BaseException], traceback: Any) -> None:
        end = self._end(error)
        if end is not None:
            end.wait()

    async def __aenter__(self) -> Scope:
        return self

    async def __aexit__(self, kind: Any, error: Optional[BaseException], traceback: Any) -> None:
        end = self._end(error)
        if end is not None:
            await end

    def _end(self, error: Optional[BaseException]) -> Optional[Promise[Any]]:
        if self._ref is None:
            return None
        if error is None:
            return self.close()
        self.cancel()
        # The exception of the block goes on, and what the members made of their end is told; that the
        # time is up as well is nothing that they did.
        has_deadline = self._has_deadline
        return self.close().catch(lambda e: None if has_deadline and isinstance(e, TimedOut) else tell(e))


def use(
    resource: Promise[Any],
    body: Callable[[Any], Any],
    release: Callable[[Any], Any],
    executor: Optional[Executor] = None,
    reader: Any = None,
) -> Promise[Any]:
    """`Promise.using`; the reader is what counts as reading the resource."""
    _callable(body, "using")
    _callable(release, "using")
    where = handle_of(executor)
    _asyncio.enter()
    call = _core.Call(body, kept(release))
    resource._reader(call if reader is None else reader)
    said = (call, where, 0)
    return Promise._of(
        lib.vow_using_with(resource._hold(), _core.on_item, _core.on_release, said)
    )


class Using(_core.Reader, Uncopied, Generic[T]):
    """A resource for the length of a block: what `using` returns. For one `with` or `async with`.

    The library holds the block for a use of the resource, whose end the block's end is.
    """

    __slots__ = ("_end", "_release", "_resource", "_use")

    def __init__(
        self, resource: Union[Promise[T], Awaitable[T]], release: Callable[[T], Any]
    ) -> None:
        _callable(release, "using")
        self._release = release
        self._resource: Promise[T] = follow(resource, kept(release))
        self._end: Optional[Resolver[None]] = None
        self._use: Optional[Promise[None]] = None

    def _begin(self) -> tuple[Promise[None], list[T]]:
        """A promise that the block can begin, and where the resource is then."""
        if self._use is not None:
            raise RuntimeError("using: it is for one block")
        begun, begin = pending()
        ended, self._end = pending()
        place: list[T] = []

        def body(item: T) -> Promise[None]:
            place.append(item)
            begin.resolve()
            return ended

        self._use = use(self._resource, body, self._release, reader=self)
        self._use.catch(begin.reject)
        return begun, place

    def _finish(self, error: Optional[BaseException]) -> Promise[None]:
        assert self._use is not None and self._end is not None
        if error is None:
            self._end.resolve()
        else:
            self._end.reject(error)
        return self._use

    def __enter__(self) -> T:
        begun, place = self._begin()
        try:
            begun.wait()
        except BaseException:
            self._cancel().wait()
            raise
        return place.pop()

    def __exit__(self, kind: Any, error: Optional[BaseException], traceback: Any) -> None:
        end = self._finish(error)
        # The exception of the block goes on; one of release beside it is reported by the library.
        (end if error is None else end.catch(_ignore)).wait()

    async def __aenter__(self) -> T:
        begun, place = self._begin()
        try:
            await begun
        except BaseException:
            await _through(self._cancel())
            raise
        return place.pop()

    async def __aexit__(self, kind: Any, error: Optional[BaseException], traceback: Any) -> None:
        end = self._finish(error)
        await _through(end.catch(_ignore))
        if error is None:
            end.result()

    def _cancel(self) -> Promise[None]:
        """The block will not begin: a promise of the end, which a resource that came all the same has."""
        assert self._use is not None and self._end is not None
        self._use.cancel()
        self._end.resolve()  # where the use has begun, it waits for this
        # Who has the promise in a variable only is no reader.
        if not self._resource._read_by_others(self):
            self._resource.cancel()
        return self._use.catch(_ignore)


def using(resource: Awaitable[T], release: Callable[[T], Any]) -> Using[T]:
    """A resource for the length of a block: `async with vow.using(pool.take(), pool.give_back) as it`.

    `release`, also a coroutine function, is called once and waited for, however the block ends. A
    resource that comes when the task was cancelled already is released too, and the block not run.
    Nothing cancels release: a task that is cancelled meanwhile waits, and is cancelled then.
    """
    return Using(resource, release)


def _ignore(error: BaseException) -> None:
    return None


async def _through(promise: Promise[None]) -> None:
    """Waits until a promise is settled, also when the task is cancelled, which is raised then."""
    if asyncio._get_running_loop() is None:
        return await through(promise)
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    promise.then(lambda _: None if done.done() else done.set_result(None))
    cancelled: Optional[asyncio.CancelledError] = None
    while not done.done():
        try:
            await asyncio.shield(done)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
