"""Values of the library and Python objects, made from each other.

None, and exact bool, int (of 64 bits), float and str become the library's own kinds, so that C code
can read them. All else, lists included, stays the same Python object, held by the library.
"""

from __future__ import annotations

import struct
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Iterable, Optional

import asyncio
import concurrent.futures

from . import _core, _table
from ._above import above
from ._errors import DOMAIN, Cancelled, Error, make_error
from ._gate import immortal
from ._handles import Uncopied
from ._library import ffi, lib

if TYPE_CHECKING:
    from ._promise import Promise

Value = Any  # (kind, reserved, bits), or cffi's struct of the same

NONE: Value = (0, 0, 0)
_BOOL, _INT, _DOUBLE, _POINTER, _STRING, _OBJECT, _LIST, _ERROR, _PROMISE = range(1, 10)
_TRUE, _FALSE = (_BOOL, 0, 1), (_BOOL, 0, 0)
_TOO_LONG = 1 << 63

PYTHON = "python"  # the domain of errors that are Python exceptions


class Pointer(int):
    """An address that C code gave as a value (VOW_POINTER); nobody owns it."""


class ForeignObject(Uncopied):
    """An object of C code (VOW_OBJECT), held."""

    __slots__ = ("_value",)

    def __init__(self, value: Value) -> None:
        self._value = lib.vow_value_retain(value)

    @property
    def address(self) -> int:
        """Where the object is, for code that knows its class."""
        return int(lib.vow_object_pointer(self._value, ffi.NULL))

    def __del__(self) -> None:
        _release_value(self._value)


_release_value: Callable[[Value], None] = lib.vow_value_release


def stop_releasing() -> None:
    """From now on foreign objects are left to the end of the process."""
    global _release_value
    _release_value = lambda value: None  # noqa: E731


class _Delivered:
    """Whether an exception was read since the last full collection; see _lifetime.py."""

    errors = False


delivered = _Delivered()


class _Failure:
    """A Python exception on its way through the library, with the traceback that it had."""

    __slots__ = ("error", "traceback")

    def __init__(self, error: BaseException, traceback: Optional[TracebackType]) -> None:
        self.error = error
        self.traceback = traceback


destroy_object: Any = ffi.cast("vow_notice", _core.destroy_object)

_object_class: Any = ffi.cast("vow_class *", _core.object_class)
_failure_class: Any = immortal(
    "vow_class *",
    (
        ffi.sizeof("vow_class"),
        immortal("char[]", b"Python exception"),
        destroy_object,
        ffi.NULL,
    ),
)


# ---------------------------------------------------------------- From Python


def _from_int(number: int) -> Value:
    if -_TOO_LONG <= number < _TOO_LONG:
        return (_INT, 0, number)
    return object_value(number)


def _from_float(number: float) -> Value:
    return (_DOUBLE, 0, struct.unpack("q", struct.pack("d", number))[0])


def _from_str(text: str) -> Value:
    try:
        utf8 = text.encode()
    except UnicodeEncodeError:  # lone surrogates
        return object_value(text)
    return lib.vow_string(utf8, len(utf8))


def object_value(item: Any) -> Value:
    """An owned value that holds a Python object."""
    return lib.vow_object(_table.keep(item), _object_class)


_by_type: dict[type, Callable[[Any], Value]] = {
    type(None): lambda item: NONE,
    bool: lambda item: _TRUE if item else _FALSE,
    int: _from_int,
    float: _from_float,
    str: _from_str,
    Pointer: lambda item: (_POINTER, 0, item if item < _TOO_LONG else item - (1 << 64)),
    ForeignObject: lambda item: lib.vow_value_retain(item._value),
}


def to_value(item: Any) -> Value:
    """An owned value of a Python object."""
    make = _by_type.get(type(item))
    return object_value(item) if make is None else make(item)


def to_list(items: Iterable[Any]) -> Value:
    """An owned list value (VOW_LIST) of Python objects."""
    values = [to_value(item) for item in items]
    array = ffi.new("vow_value[]", values)
    return lib.vow_list(array, len(values))


def register(cls: type, make: Callable[[Any], Value]) -> None:
    """Says how objects of one class become owned values."""
    _by_type[cls] = make


def _message(error: BaseException) -> bytes:
    try:
        text = str(error)
    except Exception:  # a broken __str__ must not hide the error itself
        text = ""
    name = type(error).__name__
    return (f"{name}: {text}" if text else name).encode("utf-8", "replace").replace(b"\0", b"?")


def to_error(error: BaseException) -> Value:
    """An owned error value that carries a Python exception."""
    failure = _Failure(error, error.__traceback__)
    payload = lib.vow_object(_table.keep(failure), _failure_class)
    if isinstance(error, Error):
        domain = error.domain.encode("utf-8", "replace")
        message = error.message.encode("utf-8", "replace")
        return lib.vow_error_wrap(domain, error.code, message, payload)
    if isinstance(error, (asyncio.CancelledError, concurrent.futures.CancelledError)):
        return lib.vow_error_wrap(b"vow", Cancelled.number, _message(error), payload)
    return lib.vow_error_wrap(PYTHON.encode(), 0, _message(error), payload)


# ---------------------------------------------------------------- To Python


def _text(value: Value) -> Any:
    length = ffi.new("size_t *")
    start = lib.vow_string_bytes(value, length)
    content: bytes = ffi.buffer(start, length[0])[:]
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content


def _object(value: Value) -> Any:
    number = lib.vow_object_pointer(value, _object_class)
    if number:
        return _table.find(number)
    number = lib.vow_object_pointer(value, _failure_class)
    if number:
        return _table.find(number).error
    return ForeignObject(value)


def _items(value: Value) -> list[Any]:
    """The items of a list, with no recursion however deep lists are nested."""
    result: list[Any] = []
    work = [(value, result)]
    while work:
        source, target = work.pop()
        for index in range(lib.vow_list_count(source)):
            item = lib.vow_list_at(source, index)
            if item.kind == _LIST:
                inner: list[Any] = []
                target.append(inner)
                work.append((item, inner))
            else:
                target.append(from_value(item))
    return result


def _promise(value: Value) -> Promise[Any]:
    promise: Promise[Any] = above.promise_of(lib.vow_promise_with(lib.vow_value_retain(value)))
    return promise


def _mark(error: BaseException, value: Value) -> None:
    index, attempts = lib.vow_error_index(value), lib.vow_error_attempts(value)
    try:
        if index >= 0:
            error._vow_index = index  # type: ignore[attr-defined]
        if attempts > 0:
            error._vow_attempts = attempts  # type: ignore[attr-defined]
    except AttributeError:  # a class without room for it
        pass


def _new_error(value: Value) -> BaseException:
    domain = ffi.string(lib.vow_error_domain(value)).decode("utf-8", "replace")
    message = ffi.string(lib.vow_error_message(value)).decode("utf-8", "replace")
    payload = from_value(lib.vow_error_payload(value))
    return make_error(domain, lib.vow_error_code(value), message, payload)


def _thrown(failure: _Failure) -> BaseException:
    error = failure.error
    if isinstance(error, (asyncio.CancelledError, concurrent.futures.CancelledError)):
        # To raise that one would tell the task that reads the promise to end itself.
        cancelled = Cancelled(str(error) or "cancelled")
        cancelled.__cause__ = error
        return cancelled
    # A class may have a method of that name, which returns anything.
    return BaseException.with_traceback(error, failure.traceback)


def from_error(value: Value) -> BaseException:
    """The exception of an error value: the very one that was raised, if it came from Python."""
    payload = lib.vow_error_payload(value)
    number = lib.vow_object_pointer(payload, _failure_class) if payload.kind == _OBJECT else 0
    error = _thrown(_table.find(number)) if number else _new_error(value)
    _mark(error, value)
    return error


def from_value(value: Value) -> Any:
    """The Python object of a borrowed value."""
    kind = value.kind
    if kind == _INT:
        return value.bits
    if kind == 0:
        return None
    if kind == _OBJECT:
        return _object(value)
    if kind == _STRING:
        return _text(value)
    if kind == _BOOL:
        return bool(value.bits & 255)
    if kind == _DOUBLE:
        return struct.unpack("d", struct.pack("q", value.bits))[0]
    if kind == _LIST:
        return _items(value)
    if kind == _ERROR:
        return from_error(value)
    if kind == _PROMISE:
        return _promise(value)
    if kind == _POINTER:
        return Pointer(value.bits & ((1 << 64) - 1))
    raise Error(DOMAIN, 0, f"a value of unknown kind {kind}")


def is_error(value: Value) -> bool:
    """Whether a value is an error."""
    return bool(value.kind == _ERROR)


def is_list(value: Value) -> bool:
    """Whether a value is a list of the library."""
    return bool(value.kind == _LIST)


def take(value: Value) -> Any:
    """The Python object of an owned value, which is released."""
    try:
        return from_value(value)
    finally:
        lib.vow_value_release(value)


# ---------------------------------------------------------------- For the extension


def plain(value: Value) -> _core.Plain:
    """The same value as three numbers."""
    return value if type(value) is tuple else (value.kind, 0, value.bits)


def struct_of(kind: int, bits: int) -> Value:
    """The same value as cffi's struct."""
    return ffi.new("vow_value *", (kind, 0, bits))[0]


def _read_error(bits: int) -> BaseException:
    delivered.errors = True
    return from_error(struct_of(_ERROR, bits))


def _owned(value: Any, error: Optional[BaseException]) -> _core.Plain:
    """What a promise was settled with that is Python's own now: an exception or a list of C code."""
    return plain(to_list(value) if error is None else to_error(error))


_core.hooks(
    Pointer=Pointer,
    ForeignObject=ForeignObject,
    to_plain=lambda item: plain(to_value(item)),
    from_plain=lambda kind, bits: from_value(struct_of(kind, bits)),
    error_from_plain=lambda kind, bits: from_error(struct_of(kind, bits)),
    read_error=_read_error,
    owned_plain=_owned,
)
