"""What nobody can be given: exceptions in callbacks, and rejections that nobody looked at."""

from __future__ import annotations

import contextvars
import logging
import sys
import threading
import traceback
from typing import Any, Callable, Optional, Union

from . import _core
from ._errors import Shutdown

Only = Union[type[BaseException], tuple[type[BaseException], ...], None]
Hook = Callable[[BaseException], Any]
report = _core.report

_logger = logging.getLogger("vow")
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


def log(error: BaseException) -> None:
    """What is done without a hook: an error of the logger "vow", with the traceback."""
    _logger.error(
        "a promise was rejected, and nobody looked: %r",
        error,
        exc_info=(type(error), error, error.__traceback__),
    )


class _State:
    hook: Hook = staticmethod(log)
    ending = False


def tell(error: BaseException) -> None:
    """Says an exception that nobody has looked at, or that another one takes the place of."""
    try:
        if not (_State.ending and isinstance(error, (Shutdown, SystemExit))):
            _State.hook(error)
    except BaseException as problem:
        report(problem, _State.hook)
    finally:
        del error  # or its traceback would keep this frame


def on_unhandled(hook: Optional[Hook]) -> None:
    """Has `hook(exception)` called for each rejection that nobody looked at. None: logs again.

    On the thread that dropped the last reference.
    """
    _State.hook = staticmethod(log if hook is None else hook)


def be_quiet_about_the_end() -> None:
    """From now on work that is refused because the program ends is no news."""
    _State.ending = True


_core.hooks(
    is_main=lambda: threading.current_thread() is threading.main_thread(),
    report=_say,
    tell=tell,
    refusing=_refusing,
    refused=_refused,
    copy_context=contextvars.copy_context,
)
