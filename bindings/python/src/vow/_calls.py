"""Calls from the library into Python: one fixed callback for each shape.

The frequent ones are in extension/handlers.c, the others here. A callback never raises: what Python raises
becomes an error value. The interpreter's lock is taken by cffi, on any thread. `KeyboardInterrupt` and
`SystemExit` reject as all others do, and on the main thread leave the call of the library as well.
"""

from __future__ import annotations

import contextvars
import sys
import threading
import traceback
from typing import Any, Callable, Optional, Union

from . import _core, _table
from ._errors import Shutdown
from ._gate import callback
from ._library import ffi
from ._values import delivered, from_error, from_value, is_error, plain, to_error

Only = Union[type[BaseException], tuple[type[BaseException], ...], None]


Call = _core.Call


def keep_call(
    function: Optional[Callable[..., Any]],
    other: Optional[Callable[..., Any]] = None,
    only: Only = None,
) -> int:
    """Keeps functions for the library until it destroys the context with this number.

    That is before the promise settles; where the function returned a promise, when that is through.
    """
    return _table.keep(Call(function, other, only))


_refusing: dict[int, str] = {}  # threads on which an executor refuses the work that it was given


def refuse(work: Callable[[], None], why: str) -> None:
    """Does a piece of work without its handler, which is let go of: its promise is rejected."""
    thread = threading.get_ident()
    _refusing[thread] = why
    try:
        work()
    finally:
        _refusing.pop(thread, None)


def _refused() -> Any:
    # The first handler is that of the work; others may follow, inline.
    return to_error(Shutdown(_refusing.pop(threading.get_ident())))


def _refused_plain() -> Optional[_core.Plain]:
    return plain(_refused()) if threading.get_ident() in _refusing else None


def _is_for_the_program(error: BaseException) -> bool:
    """Whether it leaves: `KeyboardInterrupt` and `SystemExit` on the main thread are raised there as well."""
    if not isinstance(error, (KeyboardInterrupt, SystemExit)):
        return False
    if threading.current_thread() is not threading.main_thread():
        return False
    delivered.errors = True
    _core.leave_with(error)
    return True


def _failed(error: BaseException) -> Any:
    # The outermost frame is the callback's own, which no reader of the traceback wants.
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next
    return _error_of(error)


def _error_of(error: BaseException) -> Any:
    _is_for_the_program(error)
    return to_error(error)


# Those of the extension.
on_fulfilled: Any = ffi.cast("vow_handler", _core.on_fulfilled)
on_rejected: Any = ffi.cast("vow_handler", _core.on_rejected)
on_settled: Any = ffi.cast("vow_handler", _core.on_settled)
on_item: Any = ffi.cast("vow_handler", _core.on_item)
on_release: Any = ffi.cast("vow_handler", _core.on_release)


@callback("vow_condition")
def on_condition(value: Any, number: int) -> bool:
    """For questions: `other` of the call. One that raises is reported, and answered with no."""
    call = _table.find(number)
    if call is None:
        return False
    try:
        item = from_error(value) if is_error(value) else from_value(value)
        return bool(call.context.copy().run(call.other, item))
    except BaseException as error:
        report(error, call.other)
        return False
    finally:
        item = None


@callback("vow_notice")
def on_notice(number: int) -> None:
    """For what is told and answers nothing. What it raises is reported."""
    call = _table.find(number)
    if call is None:
        return
    try:
        call.context.run(call.function)
    except BaseException as error:
        report(error, call.function)


@callback("vow_progress_handler")
def on_progress(fraction: float, note: Any, number: int) -> None:
    call = _table.find(number)
    if call is None:
        return
    try:
        text = None if note == ffi.NULL else ffi.string(note).decode("utf-8", "replace")
        call.context.copy().run(call.function, fraction, text)
    except BaseException as error:
        report(error, call.other)


_core.hooks(
    failed_plain=lambda error: plain(_error_of(error)),
    refusing=_refusing,
    refused_plain=_refused_plain,
    copy_context=contextvars.copy_context,
)

# Those of this file; the extension knows of its own.
HANDLERS = {"on_condition", "on_notice", "on_progress"}


def inside_handler() -> bool:
    """Whether this thread is in a handler."""
    return _core.inside() or has_handler(sys._getframe())


def has_handler(frame: Any) -> bool:
    """Whether a stack has a handler of this file in it."""
    while frame is not None:
        code = frame.f_code
        if code.co_name in HANDLERS and code.co_filename == __file__:
            return True
        frame = frame.f_back
    return False


# The type of what `sys.unraisablehook` takes has no name in `sys`.
_Unraisable: Any = next(
    (cls for cls in tuple.__subclasses__() if cls.__name__ == "UnraisableHookArgs"), None
)


def report(error: BaseException, source: Any) -> None:
    """Says an exception that nobody can be given. Raises nothing."""
    if _is_for_the_program(error):
        return
    message = "Exception ignored in a callback of vow"
    try:
        sys.unraisablehook(_Unraisable((type(error), error, error.__traceback__, message, source)))
    except BaseException as problem:
        try:
            sys.stderr.write(f"{message}, and sys.unraisablehook fails:\n")
            traceback.print_exception(type(error), error, error.__traceback__)
            traceback.print_exception(type(problem), problem, problem.__traceback__)
        except Exception:  # no standard error: there is no place left
            pass
