"""Functions that were registered with tokens and resolvers, and can leave."""

from __future__ import annotations

from typing import Any, Callable, Optional

from . import _core
from ._errors import check
from ._handles import RegistrationRef, Uncopied
from ._library import lib


WAITING, RUNNING, HAS_RUN, NEVER_RUNS = "waiting", "running", "has run", "never runs"
STAGES = (WAITING, RUNNING, HAS_RUN, NEVER_RUNS)


class Registration(Uncopied):
    """A function that `on_cancel` was given: it can leave.

    Dropping this changes nothing: the function stays registered. As a context manager it leaves
    at the end of the block.
    """

    __slots__ = ("_ref",)

    _ref: Optional[RegistrationRef]

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
