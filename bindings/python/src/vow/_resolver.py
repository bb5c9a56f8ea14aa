"""Resolver: settles a promise, once."""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Any,
    Awaitable,
    Callable,
    Generic,
    Optional,
    TypeVar,
    Union,
    overload,
)

from . import _cancellation, _core
from ._library import ResolverRef, Uncopied
from ._promise import Promise
from ._cancellation import Registration, register

T = TypeVar("T")


class Resolver(_core.Resolver, Uncopied, Generic[T]):
    """Settles the promise it was made with. Any thread may, the first one wins.

    When the last reference is dropped without a result, the promise is rejected with `Broken`. As a
    context manager it is the producer's block: what the block raises rejects the promise, and
    the end of the block is the end of the resolver.
    """

    __slots__ = ("__weakref__",)
    _instead = "and resolve it with what the other process sends"

    def __init__(self) -> None:
        raise TypeError("a Resolver is made by vow.pending()")

    if TYPE_CHECKING:

        @overload
        def resolve(self: Resolver[None]) -> bool: ...

        @overload
        def resolve(self, value: Union[T, Awaitable[T]]) -> bool: ...

        def resolve(self, value: Any = None) -> bool: ...

        def reject(self, error: BaseException) -> bool: ...

    def on_cancel(self, fn: Callable[[], Any]) -> Registration:
        """Has `fn` called, once, if nobody wants the result any more before it is there.

        On the thread that cancels, or drops the last reader; at once if it is too late already.
        Unless it has left before, which the returned registration does.
        """
        ref = self._ref
        return register(0, ref.handle if ref else 0, fn, "Resolver.on_cancel")

    def set_progress(self, fraction: float, note: Optional[str] = None) -> None:
        """Says how far the work is, from 0 to 1, and what it is at."""
        _cancellation.set_progress(self, fraction, note)

    def close(self) -> None:
        """Gives the resolver back: if nobody else has it, and it has not resolved, `Broken`."""
        self._drop()

    def __enter__(self) -> Resolver[T]:
        return self

    def __exit__(self, kind: Any, error: Optional[BaseException], traceback: Any) -> bool:
        if error is not None:
            self.reject(error)
        self.close()
        # The promise has the exception now; what is meant for the whole program goes on as well.
        return isinstance(error, Exception)


if TYPE_CHECKING:

    @overload
    def pending() -> tuple[Promise[Any], Resolver[Any]]: ...

    @overload
    def pending(kind: type[T]) -> tuple[Promise[T], Resolver[T]]: ...

    def pending(kind: Optional[type[Any]] = None) -> tuple[Promise[Any], Resolver[Any]]: ...

else:
    pending = _core.pending


@overload
def resolved(value: Awaitable[T]) -> Promise[T]: ...


@overload
def resolved(value: T) -> Promise[T]: ...


@overload
def resolved() -> Promise[None]: ...


def resolved(value: Any = None) -> Promise[Any]:
    """A promise that is fulfilled with a value, or follows an awaitable."""
    return _core.resolved(value)  # type: ignore[no-any-return]


def rejected(error: BaseException) -> Promise[Any]:
    """A promise that is rejected with an exception."""
    return _core.rejected(error)  # type: ignore[no-any-return]


_core.hooks(Resolver=Resolver, ResolverRef=ResolverRef)
