"""Rejections that nobody looked at: logged, or given to a function of the program."""

from __future__ import annotations

import logging
from typing import Any, Callable, Optional

from . import _calls, _core
from ._errors import Shutdown

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


def tell(error: BaseException) -> None:
    """Says an exception that nobody has looked at, or that another one takes the place of."""
    try:
        if not (_State.ending and isinstance(error, (Shutdown, SystemExit))):
            _State.hook(error)
    except BaseException as problem:
        _calls.report(problem, _State.hook)
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


_core.hooks(tell=tell)
