"""Promise: reads a result, once it is there, and builds on it."""

from __future__ import annotations

import contextvars
import weakref
from typing import (
    Any,
    Awaitable,
    Callable,
    Generator,
    Generic,
    NoReturn,
    Optional,
    TypeVar,
    Union,
    overload,
)

from . import _asyncio, _calls, _values
from ._cancellation import Token
from ._errors import Cancelled, StillPending, check
from ._executors import Executor
from ._handles import PromiseRef
from ._library import ffi, lib, newer
from ._reactions import FINALLY, link
from ._waiting import block

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
U = TypeVar("U")
V = TypeVar("V")

_AT_ONCE: Any = object()
_STATES = ("pending", "fulfilled", "rejected")


class _Outcome:
    """What a promise settled with, once it was read: the promise is Python's alone then.

    The library's object is let go of, so that a cycle through an outcome (an exception's traceback
    has the frame that has the promise) is one that the garbage collector can see.
    """

    __slots__ = ("error", "listed", "traceback", "value")

    def __init__(self, value: Any, error: Optional[BaseException], listed: bool) -> None:
        self.value = value
        self.error = error
        self.listed = listed
        self.traceback = None if error is None else error.__traceback__

    def owned(self) -> Any:
        if self.error is not None:
            return _values.to_error(self.error)
        return _values.to_list(self.value) if self.listed else _values.to_value(self.value)

    def read(self) -> Any:
        if self.error is not None:
            raise self.error.with_traceback(self.traceback)
        return self.value


class _Callback:
    """A function that is called when a promise is settled, if it is not removed before."""

    __slots__ = ("context", "function", "promise", "reaction")

    reaction: Optional[PromiseRef]

    def __init__(
        self, promise: Promise[Any], fn: Callable[[Any], Any], context: Optional[contextvars.Context]
    ) -> None:
        self.promise: Optional[Promise[Any]] = promise
        self.function = fn
        self.context = context
        self.reaction = None

    def _take(self) -> Optional[Promise[Any]]:
        promise, self.promise = self.promise, None
        if promise is not None and promise._callbacks and self in promise._callbacks:
            promise._callbacks.remove(self)
        return promise

    def remove(self) -> bool:
        is_first = self._take() is not None
        if self.reaction is not None:
            lib.vow_cancel(self.reaction.handle)
        return is_first

    def __call__(self) -> None:
        promise = self._take()
        if promise is None:
            return
        try:
            if self.context is None:
                self.function(promise)
            else:
                self.context.run(self.function, promise)
        except Exception as error:
            _calls.report(error, self.function)


class Promise(Generic[T_co]):
    """A result that is there now, or later, or never: awaited, chained or waited for.

    Made by `pending`, `resolved`, `run` and others, not by calling the class. A promise that is
    chained is not used up: each `then` is one more reader.
    """

    __slots__ = ("__weakref__", "_callbacks", "_outcome", "_readers", "_ref", "_watched")

    _ref: Optional[PromiseRef]
    _callbacks: Optional[list[_Callback]]
    _outcome: Optional[_Outcome]
    _readers: list[weakref.ref[Any]]
    _watched: bool

    def __init__(self) -> None:
        raise TypeError("a Promise is made by vow.pending(), vow.run() and others")

    @classmethod
    def _of(cls, handle: int) -> Promise[Any]:
        self = cls.__new__(cls)
        self._ref = PromiseRef(handle)
        self._callbacks = None
        self._outcome = None
        self._readers = []
        self._watched = False
        return self

    # ------------------------------------------------------------ For the library

    def _hold(self) -> int:
        """One more reference, owned, for a function that consumes it."""
        ref = self._ref
        if ref is not None:
            return int(lib.vow_promise_retain(ref.handle))
        assert self._outcome is not None
        return int(lib.vow_promise_with(self._outcome.owned()))

    def _reader(self, reader: Any) -> None:
        """Counts one more that reads this promise, for as long as it lives."""
        self._watched = True
        if self._ref is not None:
            readers = self._readers
            if len(readers) & (len(readers) - 1) == 0:  # now and then
                self._readers = readers = [other for other in readers if other() is not None]
            readers.append(weakref.ref(reader))

    def _hold_for_good(self) -> int:
        """The same as `_hold`, for a reader whose end is not told."""
        handle = self._hold()
        self._reader(Promise)
        return handle

    def _read_by_others(self, reader: Any) -> bool:
        return any(r() is not None and r() is not reader for r in self._readers)

    def _settled(self) -> Optional[_Outcome]:
        """The outcome if there is one. Reading it makes it Python's own."""
        ref = self._ref
        if ref is None:
            return self._outcome
        out = ffi.new("vow_value *")
        if not lib.vow_promise_peek(ref.handle, out):
            return None
        value = out[0]
        if _values.is_error(value):
            _values.delivered.errors = True
            outcome = _Outcome(None, _values.from_error(value), False)
        else:
            outcome = _Outcome(_values.from_value(value), None, _values.is_list(value))
        self._outcome = outcome
        self._watched = True
        self._ref = None
        self._readers = []
        return outcome

    # ------------------------------------------------------------ Looking

    @property
    def state(self) -> str:
        """`"pending"`, `"fulfilled"` or `"rejected"`."""
        ref = self._ref
        if ref is not None:
            return _STATES[lib.vow_promise_state(ref.handle)]
        assert self._outcome is not None
        return "fulfilled" if self._outcome.error is None else "rejected"

    def done(self) -> bool:
        """Whether it is settled."""
        return self.state != "pending"

    def cancelled(self) -> bool:
        """Whether it was rejected with `Cancelled`."""
        outcome = self._settled()
        return outcome is not None and isinstance(outcome.error, Cancelled)

    def result(self, timeout: Optional[float] = _AT_ONCE) -> T_co:
        """The value; raises what it was rejected with, or `StillPending`.

        With a `timeout` it waits, as `wait` does; None: as long as it takes.
        """
        outcome = self._settled()
        try:
            if outcome is None:
                if timeout is _AT_ONCE:
                    raise StillPending("the promise is pending")
                return self.wait(timeout)
            return outcome.read()  # type: ignore[no-any-return]
        finally:
            # Or the traceback, which has this frame, would keep what has the traceback.
            del self, outcome

    def exception(self) -> Optional[BaseException]:
        """What it was rejected with; None if it was fulfilled. Raises `StillPending`."""
        outcome = self._settled()
        if outcome is None:
            raise StillPending("the promise is pending")
        return outcome.error

    def __repr__(self) -> str:
        outcome = self._outcome
        if outcome is None:
            return f"<vow.Promise {self.state}>"
        if outcome.error is not None:
            return f"<vow.Promise rejected {outcome.error!r}>"
        return f"<vow.Promise fulfilled {outcome.value!r}>"

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
        _callable(fn, "then")
        rejected = ffi.NULL
        if on_rejected is not None:
            _callable(on_rejected, "then")
            rejected = _calls.on_rejected
        call = _calls.Call(fn, on_rejected)
        return self._link(call, _calls.on_fulfilled, rejected, 0, executor, token, label)

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
        _callable(fn, "catch")
        call = _calls.Call(None, fn, only)
        return self._link(call, ffi.NULL, _calls.on_rejected, 0, executor, token, label)

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
        call = _calls.Call(fn)
        handler = _calls.on_settled
        return self._link(call, handler, handler, FINALLY, executor, token, label)

    @overload
    def using(
        self,
        body: Callable[[T_co], Awaitable[U]],
        release: Callable[[T_co], Any],
        *,
        executor: Optional[Executor] = ...,
    ) -> Promise[U]: ...

    @overload
    def using(
        self,
        body: Callable[[T_co], U],
        release: Callable[[T_co], Any],
        *,
        executor: Optional[Executor] = ...,
    ) -> Promise[U]: ...

    def using(
        self,
        body: Callable[[Any], Any],
        release: Callable[[Any], Any],
        *,
        executor: Optional[Executor] = None,
    ) -> Promise[Any]:
        """Runs `body` with the resource that this promise brings, and then, in every case, `release`.

        The outcome is that of `body`, and comes when what `release` returned is through. Cancelling
        stops `body`, or the resource, and never `release`; a resource that comes all the same is
        released. An exception of `release` rejects a success; beside another it is reported.
        """
        from ._using import use

        return use(self, body, release, executor)

    def _link(
        self,
        call: _calls.Call,
        fulfilled: Any,
        rejected: Any,
        flags: int,
        executor: Optional[Executor],
        token: Optional[Token],
        label: Optional[str],
    ) -> Promise[Any]:
        _asyncio.enter()
        self._reader(call)
        return Promise._of(
            link(self._hold(), call, fulfilled, rejected, flags, executor, token, label)
        )

    # ------------------------------------------------------------ Waiting

    def wait(self, timeout: Optional[float] = None) -> T_co:
        """Blocks this thread until the promise is settled, and returns the value or raises.

        At most `timeout` seconds, then raises `TimedOut`; the promise is left as it is. On a thread
        with a `Loop` it runs the loop meanwhile. A wait that could not end raises `Deadlock`. Not
        for coroutines: these await.
        """
        outcome = self._settled()
        try:
            if outcome is None:
                _asyncio.enter()
                block(self, timeout)
                outcome = self._settled()
            assert outcome is not None
            return outcome.read()  # type: ignore[no-any-return]
        finally:
            del self, outcome

    def __await__(self) -> Generator[Any, None, T_co]:
        if self._settled() is None:
            yield from _asyncio.settled(self)
        outcome = self._settled()
        assert outcome is not None
        try:
            return outcome.read()  # type: ignore[no-any-return]
        finally:
            del self, outcome

    def add_done_callback(
        self, fn: Callable[[Promise[Any]], Any], *, context: Optional[contextvars.Context] = None
    ) -> None:
        """Has `fn(promise)` called when it is settled: as a handler, on asyncio's thread or the pool.

        What `fn` raises goes to `sys.unraisablehook`. It does not count as a reader.
        """
        _callable(fn, "add_done_callback")
        _asyncio.enter()
        added = _Callback(self, fn, context)
        self._watched = True
        handler = _calls.on_settled
        added.reaction = PromiseRef(link(self._hold(), _calls.Call(added), handler, handler))
        if self._callbacks is None:
            self._callbacks = []
        self._callbacks.append(added)

    def remove_done_callback(self, fn: Callable[[Promise[Any]], Any]) -> int:
        """Takes all that are equal to `fn` away: how many were to come."""
        removed = [added for added in self._callbacks or [] if added.function == fn]
        return sum(added.remove() for added in removed)

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
        return bool(lib.vow_cancel_with(ref.handle, _values.to_value(reason)))

    def timeout(self, seconds: float, *, prompt: bool = False) -> Promise[T_co]:
        """A promise of the same outcome, or of `TimedOut` after so many seconds; see `vow.timeout`."""
        from ._time import timeout

        return timeout(self, seconds, prompt=prompt)

    # ------------------------------------------------------------ Progress, names

    def on_progress(self, fn: Callable[[float, Optional[str]], Any], interval: float = 0.0) -> None:
        """Has `fn(fraction, note)` called when this promise has come further.

        At most once in `interval` seconds. Raises NotImplementedError with a library that is older.
        """
        from ._progress import on_progress

        on_progress(self, fn, interval)

    def set_progress(self, fraction: float, note: Optional[str] = None) -> None:
        """Says how far the work is, from 0 to 1, and what it is at."""
        from ._progress import set_progress

        set_progress(self, fraction, note)

    def set_label(self, label: str) -> None:
        """Names the promise in traces. Does nothing while tracing is off."""
        function = newer("vow_promise_set_label")
        ref = self._ref
        if ref is not None:
            function(ref.handle, label.encode())

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


def hold_all(promises: Any, where: str) -> list[int]:
    """References to each of some promises, owned, for a function that consumes them."""
    members: list[Promise[Any]] = [to_promise(item, where) for item in promises]
    return [member._hold_for_good() for member in members]


def to_promise(item: Any, where: str) -> Promise[Any]:
    """A promise itself, or the promise of an awaitable."""
    if isinstance(item, Promise):
        return item
    from ._awaitables import from_awaitable

    try:
        return from_awaitable(item)
    except TypeError:
        raise TypeError(f"{where}: {item!r} is neither a promise nor an awaitable") from None


def _no_pickle(self: Promise[Any]) -> NoReturn:
    raise TypeError("a promise belongs to its process: it cannot be pickled")


Promise.__reduce__ = _no_pickle  # type: ignore[method-assign,assignment]

_values.register(Promise, lambda item: lib.vow_from_promise(item._hold()))
