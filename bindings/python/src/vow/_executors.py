"""Executors: where handlers run, and `run`, which runs a function there."""

from __future__ import annotations

import concurrent.futures
import functools
import threading
from typing import TYPE_CHECKING, Any, Awaitable, Callable, NoReturn, Optional, TypeVar, overload

from . import _calls, _core
from ._errors import check
from ._library import ExecutorRef, ImmortalRef, Ref, Uncopied, lib

if TYPE_CHECKING:
    from typing_extensions import ParamSpec
    from ._promise import Promise

    P = ParamSpec("P")

T = TypeVar("T")

THEN, CATCH, FINALLY, CALLBACK, RUN = range(5)  # as extension/promise.c has them

Submit = Callable[[Any], Any]  # of work, which is called without arguments


class Executor(Uncopied):
    """Where handlers run: `pool`, `inline`, `serial()`, a loop's, or your own.

    `Executor(submit)` hands each piece of work to `submit(work)`, which has to see to it that
    `work()` is called, once, soon, on any thread. With `serial=True` it promises one at a time.
    """

    __slots__ = ("_ref", "_name")

    _ref: Ref

    def __init__(self, submit: Submit, serial: bool = False) -> None:
        if not callable(submit):
            raise TypeError(f"Executor: {submit!r} cannot be called")
        handle = _core.executor_of(submit, serial)
        if not handle:
            check(-2, "Executor")
        self._ref = ExecutorRef(handle)
        self._name = "custom"

    @classmethod
    def _borrowed(cls, handle: int, immortal: bool = False, name: str = "loop") -> Executor:
        self = cls.__new__(cls)
        self._ref = ImmortalRef(handle) if immortal else ExecutorRef(handle)
        self._name = name
        return self

    @overload
    def run(
        self, fn: Callable[P, Awaitable[T]], /, *args: P.args, **keywords: P.kwargs
    ) -> Promise[T]: ...

    @overload
    def run(self, fn: Callable[P, T], /, *args: P.args, **keywords: P.kwargs) -> Promise[T]: ...

    def run(self, fn: Callable[..., Any], /, *args: Any, **keywords: Any) -> Promise[Any]:
        """Runs `fn` there; the promise of what it returns."""
        return _run(self, fn, args, keywords)

    def __repr__(self) -> str:
        return f"<vow.Executor {self._name}>"


class _Work:
    """One piece of work: to be called once."""

    __slots__ = ("_left", "_run", "_submitting")

    def __init__(self, run: int, work: int) -> None:
        self._run = run
        self._left = [work]
        self._submitting: Optional[int] = threading.get_ident()

    def __call__(self) -> None:
        try:
            work = self._left.pop()  # one step: only one caller gets it
        except IndexError:
            return
        _core.run_work(self._run, work)

    def ended(self, future: concurrent.futures.Future[Any]) -> None:
        """Refuses the work if its future has ended without doing it."""
        if not self._left:
            return
        why = "the executor did not run the work that it was given"
        if future.cancelled():
            why = "the executor cancelled the work that it was given"
        elif future.exception() is not None:
            why += f": {future.exception()!r}"
        if self._submitting == threading.get_ident():
            # In a submit the library runs nothing: it would do so later, with the handler.
            threading.Thread(target=_calls.refuse, args=(self, why), daemon=True).start()
        else:
            _calls.refuse(self, why)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a handler cannot be sent to another process or interpreter")


def _submit(submit: Submit, run: int, work: int) -> None:
    piece = _Work(run, work)
    try:
        submit(piece)
    except BaseException as error:
        # Lost work would leave its promise pending for ever: it runs here instead.
        if not isinstance(error, RuntimeError):
            _calls.report(error, submit)
        piece()
    finally:
        piece._submitting = None


_core.hooks(submit=_submit)

pool = Executor._borrowed(lib.vow_executor_pool(), True, "pool")
"""Threads of the library, about one for each core."""

inline = Executor._borrowed(lib.vow_executor_inline(), True, "inline")
"""At once, on the thread that settles."""


def serial(label: Optional[str] = None) -> Executor:
    """A new executor that runs one handler at a time, in order, on a thread of the pool."""
    handle = lib.vow_executor_serial(label)
    if not handle:
        check(-2, "serial")
    return Executor._borrowed(handle, name="serial")


def from_futures(executor: concurrent.futures.Executor) -> Executor:
    """An executor on one of `concurrent.futures` that has threads.

    Work that it cancels is not run: its promise is rejected with `Shutdown`.
    """
    # By name, as importing it takes what other programs do without.
    for cls in type(executor).__mro__:
        if cls.__name__ in ("ProcessPoolExecutor", "InterpreterPoolExecutor"):
            raise TypeError(f"from_futures: {executor!r} runs its work in another process")

    def submit(work: _Work) -> None:
        executor.submit(work).add_done_callback(work.ended)

    return Executor(submit)


_labels: dict[str, int] = {}


def handle_of(executor: Optional[Executor]) -> int:
    """The library's executor; 0: the one of a reaction made here."""
    if executor is None:
        return 0
    if isinstance(executor, Executor):
        return executor._ref.handle
    hint = ""
    if hasattr(executor, "submit"):
        hint = ": vow.from_futures makes one of it"
    elif hasattr(executor, "executor"):
        hint = ": its `executor` is one"
    raise TypeError(f"{executor!r} is no executor{hint}")


def label_of(label: str) -> int:
    """Where the text of a label is, for ever; the same for the same text."""
    if not isinstance(label, str):
        raise TypeError(f"{label!r} is no label: a label is a str")
    return _labels.get(label) or _labels.setdefault(label, _core.label(label))


@overload
def run(fn: Callable[P, Awaitable[T]], /, *args: P.args, **keywords: P.kwargs) -> Promise[T]: ...


@overload
def run(fn: Callable[P, T], /, *args: P.args, **keywords: P.kwargs) -> Promise[T]: ...


def run(fn: Callable[..., Any], /, *args: Any, **keywords: Any) -> Promise[Any]:
    """Runs `fn(*args)` later; the promise of what it returns.

    On asyncio's thread where asyncio is running, in a handler on that handler's executor, elsewhere
    on the pool; `executor.run` says where.
    """
    return _run(None, fn, args, keywords)


def _run(
    executor: Optional[Executor], fn: Callable[..., Any], args: Any, keywords: Any
) -> Promise[Any]:
    if not callable(fn):
        raise TypeError(f"run: {fn!r} cannot be called")
    if args or keywords:
        fn = functools.partial(fn, *args, **keywords)
    where = handle_of(executor)
    return _core.resolved(None)._link(fn, None, None, RUN, where, 0, 0)  # type: ignore[no-any-return]

