"""Finds libvow and has the extension load it; references to its objects, its values, its seconds."""

from __future__ import annotations

import math
import os
from typing import Any, Callable, NoReturn, Optional

from . import _core

_MAJOR = 0
_SONAME = f"libvow.so.{_MAJOR}"


def _candidate() -> str:
    chosen = os.environ.get("VOW_LIBRARY")
    if chosen:
        return chosen
    bundled = os.path.join(os.path.dirname(__file__), "lib", _SONAME)
    return bundled if os.path.exists(bundled) else _SONAME


def _load() -> str:
    path = _candidate()
    try:
        number = _core.load(path)
    except ImportError as reason:
        raise ImportError(
            f"vow: cannot load {path}: {reason}; install the wheel, which has the library inside, "
            "or name the library in VOW_LIBRARY"
        ) from None
    version = f"{number >> 16}.{number >> 8 & 255}.{number & 255}"
    if number >> 16 != _MAJOR:
        raise ImportError(f"vow: {path} is version {version}; this package is for version {_MAJOR}")
    return version


version = _load()

lib: Any = _core
"""The functions of the header that this package calls, as extension/generate makes them."""


def _nothing(handle: int) -> None:
    pass


class Uncopied:
    """What has something of the library's: a copy would give the same back once more."""

    __slots__ = ()
    _instead = "and make another in the other process"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__}: it cannot be copied or pickled; give it on as it is, for all "
            f"threads, {self._instead}"
        )


class _Ref(Uncopied):
    __slots__ = ("handle",)
    release: Callable[[int], None]

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __del__(self) -> None:
        type(self).release(self.handle)


class PromiseRef(_Ref):
    """One reference to a vow_promise."""

    __slots__ = ()
    release = lib.vow_promise_release


class ResolverRef(_Ref):
    """One reference to a vow_resolver."""

    __slots__ = ()
    release = lib.vow_resolver_release


class ExecutorRef(_Ref):
    """One reference to a vow_executor."""

    __slots__ = ()
    release = lib.vow_executor_release


class ImmortalRef(ExecutorRef):
    """One of the library's own executors, which need not be given back."""

    __slots__ = ()
    release = staticmethod(_nothing)


class SourceRef(_Ref):
    """One reference to a vow_cancel_source."""

    __slots__ = ()
    release = lib.vow_cancel_source_release


class TokenRef(_Ref):
    """One reference to a vow_token."""

    __slots__ = ()
    release = lib.vow_token_release


class RegistrationRef(_Ref):
    """One reference to a vow_registration."""

    __slots__ = ()
    release = lib.vow_registration_release


class ScopeRef(_Ref):
    """A vow_scope."""

    __slots__ = ()
    release = lib.vow_scope_release


class LoopRef(_Ref):
    """A vow_loop."""

    __slots__ = ()
    release = lib.vow_loop_destroy


def stop_releasing() -> None:
    """From now on references are left to the end of the process: the interpreter is dying."""
    for cls in _Ref.__subclasses__():
        cls.release = staticmethod(_nothing)


FOREVER = -1
_LONGEST = (1 << 63) - 1


def nanoseconds(seconds: Optional[float], what: str) -> int:
    """Seconds as the library counts; None: for ever."""
    if seconds is None:
        return FOREVER
    if not isinstance(seconds, (int, float)) or math.isnan(seconds):
        raise TypeError(f"{what}: {seconds!r} is no number of seconds")
    if seconds < 0:
        raise ValueError(f"{what}: {seconds!r} seconds is negative")
    return int(min(seconds * 1e9, _LONGEST))


class Pointer(int):
    """An address that C code gave as a value (VOW_POINTER); nobody owns it."""


class ForeignObject(Uncopied):
    """An object of C code (VOW_OBJECT), held."""

    __slots__ = ("_bits",)

    def __init__(self, bits: int) -> None:
        self._bits = bits

    @property
    def address(self) -> int:
        """Where the object is, for code that knows its class."""
        return _core.object_address(self._bits)

    def __del__(self) -> None:
        _core.release_object(self._bits)


_core.hooks(Pointer=Pointer, ForeignObject=ForeignObject)
