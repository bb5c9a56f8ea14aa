"""Cancel sources, tokens, progress, and the registrations of functions with these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional

from . import _asyncio, _core
from ._errors import Cancelled, check
from ._library import Ref, RegistrationRef, SourceRef, TokenRef, Uncopied, lib, nanoseconds

if TYPE_CHECKING:
    from ._promise import Promise
    from ._resolver import Resolver

WAITING, RUNNING, HAS_RUN, NEVER_RUNS = "waiting", "running", "has run", "never runs"
STAGES = (WAITING, RUNNING, HAS_RUN, NEVER_RUNS)


class Registration(Uncopied):
    """A function that `on_cancel` was given: it can leave.

    Dropping this changes nothing: the function stays registered. As a context manager it leaves
    at the end of the block.
    """

    __slots__ = ("_ref",)

    _ref: Optional[Ref]

    def __init__(self) -> None:
        raise TypeError("a Registration is made by on_cancel")

    @classmethod
    def _of(cls, handle: int) -> Registration:
        self = cls.__new__(cls)
        self._ref = RegistrationRef(handle) if handle else None
        return self

    def leave(self) -> str:
        """Has the function not called any more. Gives its `stage`.

        From anywhere, also inside the function, and more than once; it waits for nothing.
        """
        ref = self._ref
        if ref is None:
            return NEVER_RUNS
        return STAGES[lib.vow_registration_leave(ref.handle)]

    @property
    def stage(self) -> str:
        """What has become of the function: `"waiting"`, `"running"`, `"has run"` or `"never runs"`."""
        ref = self._ref
        if ref is None:
            return NEVER_RUNS
        return STAGES[lib.vow_registration_stage(ref.handle)]

    def __enter__(self) -> Registration:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()


def register(token: int, resolver: int, fn: Callable[[], Any], function: str) -> Registration:
    """Registers with a token or a resolver; in vain where both are 0."""
    if not token and not resolver:
        return Registration._of(0)
    status, registration = _core.watch(token, resolver, _core.Call(fn))
    check(status, function)
    return Registration._of(registration)


class Token(Uncopied):
    """Tells that work is no longer wanted. Made by a `CancelSource`."""

    __slots__ = ("_ref",)

    _ref: Ref

    def __init__(self) -> None:
        raise TypeError("a Token is CancelSource().token")

    @classmethod
    def _of(cls, handle: int) -> Token:
        self = cls.__new__(cls)
        self._ref = TokenRef(handle)
        return self

    @property
    def cancelled(self) -> bool:
        """Whether its source was cancelled."""
        return bool(lib.vow_token_is_cancelled(self._ref.handle))

    @property
    def reason(self) -> Any:
        """What it was cancelled with, or None."""
        return lib.vow_token_reason(self._ref.handle)

    def raise_if_cancelled(self) -> None:
        """Raises `Cancelled` if its source was cancelled: for long work to ask now and then."""
        if self.cancelled:
            raise Cancelled("cancelled by a token", self.reason)

    def on_cancel(self, fn: Callable[[], Any]) -> Registration:
        """Has `fn` called, once, when the source is cancelled: on that thread, or at once.

        Unless it has left before, which the returned registration does.
        """
        return register(self._ref.handle, 0, fn, "Token.on_cancel")


def switch_of(token: Token) -> int:
    """The library's token."""
    if isinstance(token, Token):
        return token._ref.handle
    hint = ": its `token` is one" if hasattr(token, "token") else ""
    raise TypeError(f"{token!r} is no token{hint}")


class CancelSource(Uncopied):
    """Cancels all that was given its token, also when one of the `parents` is cancelled.

    By its parents it is cancelled for as long as anybody has it or its token.

    Handlers that have not begun never will: `catch` handlers get `Cancelled`.
    """

    __slots__ = ("_ref", "token")

    def __init__(self, *parents: Token) -> None:
        if parents:
            handle = _core.source(tuple(switch_of(parent) for parent in parents))
        else:
            handle = lib.vow_cancel_source_create()
        if not handle:
            check(-2, "CancelSource")
        self._ref = SourceRef(handle)
        self.token = Token._of(lib.vow_token_retain(lib.vow_cancel_source_token(handle)))

    def cancel(self, reason: Optional[Any] = None) -> bool:
        """Cancels, with a reason as the errors' payload. True the first time."""
        return bool(lib.vow_cancel_source_cancel_with(self._ref.handle, reason))


class _Listener:
    """What the library calls as a promise comes further, and lets go of."""

    def __init__(
        self, fn: Callable[[float, Optional[str]], Any], registration: _Listening
    ) -> None:
        self.fn = fn
        self.registration = registration

    def __call__(self, fraction: float, note: Optional[str]) -> None:
        registration = self.registration
        registration._is_running = registration._has_run = True
        try:
            self.fn(fraction, note)
        finally:
            registration._is_running = False

    def __del__(self) -> None:
        self.registration._is_over = True


class _Listening(Registration):
    """The function leaves by a cancel source of its own."""

    __slots__ = ("_has_run", "_is_over", "_is_running", "_source")

    def __init__(self) -> None:
        self._is_running = self._has_run = self._is_over = False
        self._source = SourceRef(lib.vow_cancel_source_create())

    def leave(self) -> str:
        lib.vow_cancel_source_cancel_with(self._source.handle, None)
        self._is_over = True
        return self.stage

    @property
    def stage(self) -> str:
        if self._is_running:
            return RUNNING
        if not self._is_over:
            return WAITING
        return HAS_RUN if self._has_run else NEVER_RUNS


def on_progress(
    promise: Promise[Any], fn: Callable[[float, Optional[str]], Any], interval: float
) -> Registration:
    """Has a function called as a promise comes further."""
    if not callable(fn):
        raise TypeError(f"on_progress: {fn!r} cannot be called")
    limit = nanoseconds(interval, "on_progress")
    ref = promise._ref
    if ref is None:
        return Registration._of(0)
    _asyncio.enter()
    registration = _Listening()
    listener = _Listener(fn, registration)
    token = lib.vow_cancel_source_token(registration._source.handle)
    call = (_core.Call(listener, fn), 0, token)
    status = lib.vow_on_progress_with(ref.handle, limit, _core.on_progress, call)
    check(status, "on_progress")
    return registration


def set_progress(resolver: Resolver[Any], fraction: float, note: Optional[str]) -> None:
    """Says how far the promise of a resolver is."""
    ref = resolver._ref
    if ref is not None:
        check(lib.vow_resolver_set_progress(ref.handle, fraction, note), "set_progress")
