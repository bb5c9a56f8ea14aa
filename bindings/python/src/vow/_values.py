"""Values that C code gave, and that Python has no class for. All others extension/values.c makes."""

from __future__ import annotations

from . import _core
from ._handles import Uncopied


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
