"""Promise: reads a result, once it is there, and builds on it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
from typing import (
    TYPE_CHECKING,
    Any,
    Awaitable,
    Callable,
    Generator,
    Generic,
    Optional,
    TypeVar,
    Union,
    overload,
)

from . import _asyncio, _calls, _cancellation, _core, _futures
from ._cancellation import Registration, Token, switch_of
from ._errors import Cancelled, check
from ._executors import Executor
from ._library import PromiseRef, Uncopied
from ._library import lib
from ._executors import CATCH, FINALLY, THEN, handle_of, label_of
from ._loops import block

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
U = TypeVar("U")
V = TypeVar("V")

_STATES = ("pending", "fulfilled", "rejected")


class Promise(_core.Promise, Uncopied, Generic[T_co]):
    """A result that is there now, or later, or never: awaited, chained or waited for.

    Made by `pending`, `resolved`, `run` and others, not by calling the class. A promise that is
    chained is not used up: each `then` is one more reader.
    """

    __slots__ = ("__weakref__",)
    _instead = "and send its value to the other process"

    if TYPE_CHECKING:

        @classmethod
        def _of(cls, handle: int, /) -> Promise[Any]: ...

        # What is settled is awaited without the loop.
        def __await__(self) -> Generator[Any, None, T_co]: ...

    def __init__(self) -> None:
        raise TypeError("a Promise is made by vow.pending(), vow.run() and others")

    # ------------------------------------------------------------ Looking

    @property
    def state(self) -> str:
        """`"pending"`, `"fulfilled"` or `"rejected"`."""
        return _STATES[self._state()]

    def done(self) -> bool:
        """Whether it is settled."""
        return self._state() != 0

    def cancelled(self) -> bool:
        """Whether it was rejected with `Cancelled`."""
        return self._settled() and isinstance(self._error, Cancelled)

    def result(self) -> T_co:
        """The value; raises what it was rejected with, or `asyncio.InvalidStateError`: it is pending."""
        try:
            if not self._settled():
                raise asyncio.InvalidStateError("the promise is pending")
            return self._read()  # type: ignore[no-any-return]
        finally:
            # Or the traceback, which has this frame, would keep what has the traceback.
            del self

    def exception(self) -> Optional[BaseException]:
        """What it was rejected with; None if it was fulfilled. While it is pending, as `result`."""
        if not self._settled():
            raise asyncio.InvalidStateError("the promise is pending")
        return self._error

    def __repr__(self) -> str:
        if self._ref is not None:
            return f"<vow.Promise {self.state}>"
        if self._error is not None:
            return f"<vow.Promise rejected {self._error!r}>"
        return f"<vow.Promise fulfilled {self._value!r}>"

    # ------------------------------------------------------------ Chaining

    @overload
    def then(
        self,
        fn: Callable[[T_co], Awaitable[U]],
        on_rejected: None = ...,
        *,
        executor: Optional[Executor] = ...,
        token: Optional[Token] = ...,
        label: Optional[str] = ...,
    ) -> Promise[U]: ...

    @overload
    def then(
        self,
        fn: Callable[[T_co], U],
        on_rejected: None = ...,
        *,
        executor: Optional[Executor] = ...,
        token: Optional[Token] = ...,
        label: Optional[str] = ...,
    ) -> Promise[U]: ...

    @overload
    def then(
        self,
        fn: Callable[[T_co], U],
        on_rejected: Callable[[BaseException], V],
        *,
        executor: Optional[Executor] = ...,
        token: Optional[Token] = ...,
        label: Optional[str] = ...,
    ) -> Promise[Union[U, V]]: ...

    def then(
        self,
        fn: Callable[[Any], Any],
        on_rejected: Optional[Callable[[BaseException], Any]] = None,
        *,
        executor: Optional[Executor] = None,
        token: Optional[Token] = None,
        label: Optional[str] = None,
    ) -> Promise[Any]:
        """Runs `fn` with the value; an exception passes through, or goes to `on_rejected`.

        What the handler returns, or raises, settles the promise that this returns. A promise,
        coroutine or future that it returns is waited for.
        """
        if not callable(fn):  # looked at here, as every call in a link is dear
            _callable(fn, "then")
        if on_rejected is not None:
            _callable(on_rejected, "then")
        if executor is None and token is None and label is None:
            return self._link(fn, on_rejected, None, THEN, 0, 0, 0)  # type: ignore[no-any-return]
        return self._special(fn, on_rejected, None, THEN, executor, token, label)

    def catch(
        self,
        fn: Callable[[Any], U],
        only: _calls.Only = None,
        *,
        executor: Optional[Executor] = None,
        token: Optional[Token] = None,
        label: Optional[str] = None,
    ) -> Promise[Union[T_co, U]]:
        """Runs `fn` with the exception, if it is of the class (or classes) `only`.

        What `fn` returns is the value then; values and other exceptions pass through.
        """
        if not callable(fn):
            _callable(fn, "catch")
        if executor is None and token is None and label is None:
            return self._link(None, fn, only, CATCH, 0, 0, 0)  # type: ignore[no-any-return]
        return self._special(None, fn, only, CATCH, executor, token, label)

    def finally_(
        self,
        fn: Callable[[], Any],
        *,
        executor: Optional[Executor] = None,
        token: Optional[Token] = None,
        label: Optional[str] = None,
    ) -> Promise[T_co]:
        """Runs `fn`, without arguments, in every case, cancelled too, and passes the outcome on.

        What `fn` raises takes its place; a promise that it returns is waited for.
        """
        _callable(fn, "finally_")
        return self._special(fn, None, None, FINALLY, executor, token, label)

    def _special(
        self,
        fn: Optional[Callable[..., Any]],
        other: Optional[Callable[..., Any]],
        only: _calls.Only,
        how: int,
        executor: Optional[Executor],
        token: Optional[Token],
        label: Optional[str],
    ) -> Promise[Any]:
        where = handle_of(executor)
        switch = 0 if token is None else switch_of(token)
        name = 0 if label is None else label_of(label)
        return self._link(fn, other, only, how, where, switch, name)  # type: ignore[no-any-return]

    # ------------------------------------------------------------ Waiting

    def wait(self, timeout: Optional[float] = None) -> T_co:
        """Blocks this thread until the promise is settled, and returns the value or raises.

        At most `timeout` seconds, then raises `TimedOut`; the promise is left as it is. On a thread
        with a `Loop` it runs the loop meanwhile. A wait that could not end raises `Deadlock`. Not
        for coroutines: these await.
        """
        try:
            if not self._settled():
                self._block(timeout)
            return self._read()  # type: ignore[no-any-return]
        finally:
            del self

    def _block(self, timeout: Optional[float]) -> None:
        _asyncio.enter()
        block(self, timeout)
        is_settled = self._settled()
        assert is_settled

    def add_done_callback(
        self, fn: Callable[[Promise[Any]], Any], *, context: Optional[contextvars.Context] = None
    ) -> None:
        """Has `fn(promise)` called when it is settled: as a handler, on asyncio's thread or the pool.

        What `fn` raises goes to `sys.unraisablehook`. It does not count as a reader.
        """
        _callable(fn, "add_done_callback")
        _futures.add(self, fn, context)

    def remove_done_callback(self, fn: Callable[[Promise[Any]], Any]) -> int:
        """Takes all that are equal to `fn` away: how many were to come."""
        return _futures.remove(self, fn)

    def to_future(self) -> concurrent.futures.Future[T_co]:
        """A future of concurrent.futures with the same outcome, for `wait`, `as_completed` and their like.

        Its callbacks run on the thread that settles. A promise that was cancelled cancels it; cancelling
        it cancels the promise, unless something else reads that.
        """
        return _futures.to_future(self)

    # ------------------------------------------------------------ Stopping

    def cancel(self, reason: Optional[Any] = None) -> bool:
        """Asks what it waits for to stop, where nobody else reads, and rejects it with `Cancelled`.

        That comes at once, unless a function of it runs or is to run, for errors or in `finally_`.
        Whether this call did it: False if it was settled, or cancelled before. `reason` is the
        error's payload.
        """
        ref = self._ref
        if ref is None:
            return False
        if reason is None:
            return bool(lib.vow_cancel(ref.handle))
        return bool(lib.vow_cancel_with(ref.handle, reason))

    def on_progress(
        self, fn: Callable[[float, Optional[str]], Any], interval: float = 0.0
    ) -> Registration:
        """Has `fn(fraction, note)` called when this promise has come further.

        At most once in `interval` seconds, and no more when it is settled, but that all is done: a
        fraction of 1 is always told. The returned registration leaves.
        """
        return _cancellation.on_progress(self, fn, interval)

    # ------------------------------------------------------------ C code

    def to_handle(self) -> int:
        """One owned reference, as the address of a vow_promise, for C code to consume."""
        return self._hold()

    @staticmethod
    def from_handle(handle: int) -> Promise[Any]:
        """The promise of a vow_promise's address; consumes one reference."""
        if not handle:
            check(-1, "Promise.from_handle: handle is NULL")
        return Promise._of(handle)


def _callable(fn: Any, where: str) -> None:
    if not callable(fn):
        raise TypeError(f"{where}: {fn!r} cannot be called")


_core.hooks(Promise=Promise, PromiseRef=PromiseRef)
