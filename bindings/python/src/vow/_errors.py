"""The exceptions of the package: one class for each code of the library, `Error` for all."""

from __future__ import annotations

import asyncio
import concurrent.futures
from typing import Any, Optional

from . import _core

DOMAIN = "vow"


class Error(Exception):
    """An error of the library, or of C code that uses it, or one that a program makes itself.

    `domain` names who defines `code`; `payload` is any object, or None. As C code sees an error
    that Python raised, its payload is the Python exception.
    """

    def __init__(
        self, domain: str, code: int, message: str = "", payload: Optional[Any] = None
    ) -> None:
        super().__init__(domain, code, message)
        self.domain = domain
        self.code = code
        self.message = message
        self.payload = payload

    def __str__(self) -> str:
        name = NAMES.get(self.code) if self.domain == DOMAIN else None
        place = name or f"{self.domain} {self.code}"
        return f"{place}: {self.message}" if self.message else place

    def __reduce__(self) -> Any:
        return (make_error, (self.domain, self.code, self.message, self.payload))


class _Named(Error):
    """One that has a code of its own: made with a message alone."""

    number = 0

    def __init__(self, message: str = "", payload: Optional[Any] = None) -> None:
        super().__init__(DOMAIN, self.number, message, payload)


class Invalid(_Named, ValueError):
    """A wrong argument (VOW_EINVAL)."""

    number = _core.EINVAL


class OutOfMemory(_Named, MemoryError):
    """The library got no memory (VOW_ENOMEM)."""

    number = _core.ENOMEM


class Forked(_Named):
    """Needs threads that a forked child has not (VOW_EFORKED)."""

    number = _core.EFORKED


class Broken(_Named):
    """The last resolver was dropped without resolving (VOW_EBROKEN)."""

    number = _core.EBROKEN


class Cycle(_Named):
    """The promise would have to wait for itself (VOW_ECYCLE)."""

    number = _core.ECYCLE


class Cancelled(_Named):
    """The promise was cancelled (VOW_ECANCELLED).

    Not an `asyncio.CancelledError`: that one tells a task that it shall end itself, this one that
    something it waits for will never come.
    """

    number = _core.ECANCELLED


class TimedOut(_Named, TimeoutError):
    """It took too long (VOW_ETIMEDOUT)."""

    number = _core.ETIMEDOUT


class Deadlock(_Named):
    """The wait would block what it waits for (VOW_EDEADLOCK)."""

    number = _core.EDEADLOCK


class Aggregate(_Named):
    """Several failed (VOW_EAGGREGATE); `errors` are their exceptions, in order."""

    number = _core.EAGGREGATE

    @property
    def errors(self) -> list[BaseException]:
        """The exceptions, in the order of the promises."""
        return list(self.payload) if isinstance(self.payload, (list, tuple)) else []


class Shutdown(_Named):
    """What was to run the work is gone (VOW_ESHUTDOWN)."""

    number = _core.ESHUTDOWN


class Reason(_Named):
    """Rejected with a value that is no error (VOW_EREASON); `payload` is the value."""

    number = _core.EREASON


CLASSES: dict[int, type[_Named]] = {cls.number: cls for cls in _Named.__subclasses__()}

for cls in (Error, *CLASSES.values()):
    cls.__module__ = "vow"  # as tracebacks say it

NAMES = {
    number: f"VOW_{name}" for name, number in vars(_core).items() if isinstance(number, int) and name[0] == "E"
}


def make_error(domain: str, code: int, message: str = "", payload: Optional[Any] = None) -> Error:
    """An error of the class that its domain and code have."""
    named = CLASSES.get(code) if domain == DOMAIN else None
    if named is not None:
        return named(message, payload)
    return Error(domain, code, message, payload)


def check(status: int, what: str) -> None:
    """Raises what a negative status of the library says."""
    if status < 0:
        raise make_error(DOMAIN, status, what)


def error_index(error: BaseException) -> int:
    """The place of the member that failed, from 0, in an error of a combined promise; else -1."""
    return int(getattr(error, "_vow_index", -1))


def error_attempts(error: BaseException) -> int:
    """How many attempts `retry` made before it gave up with this error; 0 for other errors."""
    return int(getattr(error, "_vow_attempts", 0))


def _cancelled(error: BaseException) -> Cancelled:
    """What who reads a promise gets of a task or future that was cancelled."""
    cancelled = Cancelled(str(error) or "cancelled")
    cancelled.__cause__ = error
    return cancelled


_core.hooks(
    Error=Error,
    cancellations=(asyncio.CancelledError, concurrent.futures.CancelledError),
    cancelled=_cancelled,
    make_error=make_error,
)
