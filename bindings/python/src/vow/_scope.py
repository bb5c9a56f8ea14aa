"""Scope: a place for work that must not be left behind."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Awaitable, Optional, TypeVar

from . import _asyncio, _core
from ._errors import Cancelled, Shutdown, TimedOut, check
from ._handles import ScopeRef, Uncopied
from ._library import lib
from ._promise import Promise, to_promise
from ._unhandled import tell
from ._seconds import nanoseconds

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
        self._ref: Optional[ScopeRef] = ScopeRef(handle)

    def _open(self) -> ScopeRef:
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

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        end = self._end(error)
        if end is not None:
            end.wait()

    async def __aenter__(self) -> Scope:
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
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
