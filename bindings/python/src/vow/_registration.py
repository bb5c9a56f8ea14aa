"""Functions that were registered with tokens and resolvers, and can leave."""

from __future__ import annotations

from typing import Any, Callable, Optional

from . import _calls
from ._errors import check
from ._handles import RegistrationRef, Uncopied
from ._library import ffi, has, lib, newer
from ._values import destroy_object


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
        return STAGES[newer("vow_registration_leave")(ref.handle)]

    @property
    def stage(self) -> str:
        """What has become of the function: `"waiting"`, `"running"`, `"has run"` or `"never runs"`."""
        ref = self._ref
        if ref is None:
            return NEVER_RUNS
        return STAGES[newer("vow_registration_stage")(ref.handle)]

    def __enter__(self) -> Registration:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()


def register(what: str, handle: int, fn: Callable[[], Any], function: str) -> Registration:
    """Registers with a `token` or a `resolver`; in vain where the handle is 0."""
    if not handle:
        return Registration._of(0)
    number = _calls.keep_call(fn)
    if not has(f"vow_{what}_register"):
        plain = getattr(lib, f"vow_{what}_on_cancel")
        check(plain(handle, _calls.on_notice, number, destroy_object), function)
        return Registration._of(0)
    registration = ffi.new("handle *")
    status = newer(f"vow_{what}_register")(
        handle, _calls.on_notice, number, destroy_object, registration
    )
    check(status, function)
    return Registration._of(registration[0])
