"""What extension/handlers.c calls beside the functions of the program."""

from __future__ import annotations

import contextvars
import sys
import threading
import traceback
from typing import Any, Callable, Optional, Union

from . import _core
from ._errors import Shutdown

Only = Union[type[BaseException], tuple[type[BaseException], ...], None]

Call = _core.Call
report = _core.report

_refusing: dict[int, str] = {}  # threads on which an executor refuses the work that it was given


def refuse(work: Callable[[], None], why: str) -> None:
    """Does a piece of work without its handler, which is let go of: its promise is rejected."""
    thread = threading.get_ident()
    _refusing[thread] = why
    try:
        work()
    finally:
        _refusing.pop(thread, None)


def _refused() -> Optional[Shutdown]:
    # The first handler is that of the work; others may follow, inline.
    why = _refusing.pop(threading.get_ident(), None)
    return None if why is None else Shutdown(why)


# The type of what `sys.unraisablehook` takes has no name in `sys`.
_Unraisable: Any = next(
    (cls for cls in tuple.__subclasses__() if cls.__name__ == "UnraisableHookArgs"), None
)


def _say(error: BaseException, source: Any) -> None:
    """Says an exception that nobody can be given. Raises nothing."""
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


_core.hooks(
    is_main=lambda: threading.current_thread() is threading.main_thread(),
    report=_say,
    refusing=_refusing,
    refused=_refused,
    copy_context=contextvars.copy_context,
)
