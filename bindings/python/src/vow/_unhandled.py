"""Rejections that nobody looked at: logged, or given to a function of the program."""

from __future__ import annotations

import logging
from typing import Any, Callable, Optional

from . import _calls
from ._errors import Shutdown
from ._gate import callback
from ._library import lib
from ._values import from_error

Hook = Callable[[BaseException], Any]

_logger = logging.getLogger("vow")


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


@callback("vow_unhandled_hook")
def _on_unhandled(value: Any, number: int) -> None:
    try:
        error = from_error(value)
        if not (_State.ending and isinstance(error, (Shutdown, SystemExit))):
            _State.hook(error)
    except BaseException as problem:
        _calls.report(problem, _State.hook)
    finally:
        error = None  # type: ignore[assignment]  # or its traceback would keep this frame


lib.vow_on_unhandled(_on_unhandled, 0)


def tell(error: BaseException) -> None:
    """Says an exception that another one takes the place of, as if nobody had looked at it."""
    try:
        _State.hook(error)
    except BaseException as problem:
        _calls.report(problem, _State.hook)


def on_unhandled(hook: Optional[Hook]) -> None:
    """Has `hook(exception)` called for each rejection that nobody looked at. None: logs again.

    On the thread that dropped the last reference.
    """
    _State.hook = staticmethod(log if hook is None else hook)


def be_quiet_about_the_end() -> None:
    """From now on work that is refused because the program ends is no news."""
    _State.ending = True
