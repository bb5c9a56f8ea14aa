"""Finds libvow and has the extension load it; references to its objects, its values, its seconds."""

from __future__ import annotations

import functools
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


class Uncopied:
    """What has something of the library's: a copy would give the same back once more."""

    __slots__ = ()
    _instead = "and make another in the other process"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__}: it cannot be copied or pickled; give it on as it is, for all "
            f"threads, {self._instead}"
        )


class Ref(Uncopied):
    """One reference to an object of the library's, given back when the Python object goes.

    A method that calls the library holds the `Ref` for as long, so another thread that drops it
    meanwhile frees nothing under it.
    """

    __slots__ = ("_release", "handle")

    def __init__(self, release: Callable[[int], Any], handle: int) -> None:
        self._release = release
        self.handle = handle

    def __del__(self) -> None:
        self._release(self.handle)


PromiseRef = functools.partial(Ref, lib.vow_promise_release)
ResolverRef = functools.partial(Ref, lib.vow_resolver_release)
ExecutorRef = functools.partial(Ref, lib.vow_executor_release)
ImmortalRef = functools.partial(Ref, int)  # one of the library's own, which need not be given back
SourceRef = functools.partial(Ref, lib.vow_cancel_source_release)
TokenRef = functools.partial(Ref, lib.vow_token_release)
RegistrationRef = functools.partial(Ref, lib.vow_registration_release)
ScopeRef = functools.partial(Ref, lib.vow_scope_release)
LoopRef = functools.partial(Ref, lib.vow_loop_destroy)


def stop_releasing() -> None:
    """From now on references are left to the end of the process: the interpreter is dying."""
    Ref.__del__ = lambda ref: None  # type: ignore[method-assign]


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
