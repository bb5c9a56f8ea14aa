"""Event loops that are not asyncio's, as far as the package has to know of them: that of `vow.trio`."""

from __future__ import annotations

import inspect
import sys
import threading
from typing import TYPE_CHECKING, Any, Callable, Coroutine, Generator, Optional

if TYPE_CHECKING:
    from ._promise import Promise

    # Runs a coroutine: its promise. What comes too late is for the second function; the third says
    # whether nothing but the promise cancels it.
    Follow = Callable[[Coroutine[Any, Any, Any], Optional[Callable[[Any], Any]], bool], Promise[Any]]


class _Local(threading.local):
    follow: Optional[Follow] = None


local = _Local()


def in_trio() -> bool:
    """Whether a task of trio runs here."""
    trio = sys.modules.get("trio")
    if trio is None:
        return False
    try:
        trio.lowlevel.current_task()
    except (AttributeError, RuntimeError):
        return False
    return True


def kept(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function whose coroutine the cancellation of trio's nursery does not end."""
    if local.follow is None:
        return function

    def call(item: Any) -> Any:
        result = function(item)
        if inspect.iscoroutine(result) and local.follow is not None:
            return local.follow(result, None, True)
        return result

    return call


async def through(promise: Promise[Any]) -> None:
    """Waits until a promise is settled, also when the task of trio is cancelled, which is raised then."""
    import trio

    with trio.CancelScope(shield=True):
        await promise
    await trio.lowlevel.checkpoint_if_cancelled()


def await_elsewhere(promise: Promise[Any]) -> Generator[Any, Any, Any]:
    """Awaits a promise where no asyncio loop runs."""
    if not in_trio():
        raise RuntimeError("a promise is awaited outside of asyncio and trio: use wait()")
    from .trio import await_promise

    return await_promise(promise).__await__()
