"""The library as C code has it, by ctypes: what C gives to Python, and what it sees of Python's values."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, Iterable

import vow

FILE = os.environ.get("VOW_LIBRARY") or Path(vow.__file__).with_name("lib") / "libvow.so.0"
C: Any = ctypes.CDLL(str(FILE))
ADDRESS, SIZE, CODE = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64


class Value(ctypes.Structure):
    """vow_value."""

    _fields_ = [("kind", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("bits", CODE)]


class Class(ctypes.Structure):
    """vow_class."""

    _fields_ = [("size", SIZE), ("name", ctypes.c_char_p), ("destroy", ADDRESS), ("more", ADDRESS)]


for name, result, parameters in [
    ("vow_string", Value, [ctypes.c_char_p, SIZE]),
    ("vow_list", Value, [ADDRESS, SIZE]),
    ("vow_object", Value, [ADDRESS, ADDRESS]),
    ("vow_error_wrap", Value, [ctypes.c_char_p, CODE, ctypes.c_char_p, Value]),
    ("vow_error_domain", ctypes.c_char_p, [Value]),
    ("vow_error_message", ctypes.c_char_p, [Value]),
    ("vow_error_code", CODE, [Value]),
    ("vow_error_name", ctypes.c_char_p, [CODE]),
    ("vow_promise_with", ADDRESS, [Value]),
    ("vow_promise_peek", ctypes.c_bool, [ADDRESS, ADDRESS]),
    ("vow_promise_release", None, [ADDRESS]),
]:
    getattr(C, name).restype = result
    getattr(C, name).argtypes = parameters


def to_python(value: Value) -> vow.Promise[Any]:
    """A promise of a value of C code."""
    return vow.Promise.from_handle(C.vow_promise_with(value))


def list_of(values: Iterable[Value]) -> Value:
    """A list of C code."""
    items = list(values)
    made: Value = C.vow_list((Value * len(items))(*items), len(items))
    return made


class Seen:
    """The outcome of a promise as C code sees it, for the length of a block."""

    def __init__(self, promise: vow.Promise[Any]) -> None:
        self._handle = promise.to_handle()

    def __enter__(self) -> Value:
        value = Value()
        assert C.vow_promise_peek(self._handle, ctypes.byref(value))
        return value

    def __exit__(self, *_: object) -> None:
        C.vow_promise_release(self._handle)
