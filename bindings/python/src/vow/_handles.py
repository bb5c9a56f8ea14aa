"""References to the library's objects, given back when the Python object goes.

A method that calls the library holds the `Ref` for as long, so another thread that drops it
meanwhile frees nothing under it.
"""

from __future__ import annotations

from typing import Callable, NoReturn

from ._library import lib


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
