"""Exceptions as rejections, and errors of C code as exceptions."""

from __future__ import annotations

import asyncio
import copy
import pickle
import sys
import traceback
from typing import Any, Optional

import pytest

import vow
from vow import _errors

from capi import C, Seen, Value, to_python
from programs import run


def of_c(domain: bytes, code: int, message: bytes, payload: Value = Value()) -> vow.Promise[Any]:
    return to_python(C.vow_error_wrap(domain, code, message, payload))


def seen_by_c(error: BaseException) -> tuple[str, int, str]:
    with Seen(vow.rejected(error)) as value:
        return (
            C.vow_error_domain(value).decode(),
            C.vow_error_code(value),
            C.vow_error_message(value).decode(),
        )


def test_the_exception_that_was_raised_is_the_one_that_is_read() -> None:
    error = ZeroDivisionError("by zero")

    def broken(x: int) -> None:
        raise error

    promise = vow.resolved(1).then(broken)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError) as caught:
            promise.wait()
        assert caught.value is error
        names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert names[-1] == "broken"
        assert "on_fulfilled" not in names
    caught.value.__traceback__ = None


def test_the_traceback_does_not_grow_with_every_reader() -> None:
    promise = vow.resolved(1).then(lambda x: 1 // 0)

    def depth() -> int:
        try:
            promise.wait()
        except ZeroDivisionError as error:
            return len(traceback.extract_tb(error.__traceback__))
        return 0

    first = depth()
    assert first > 0
    for _ in range(20):
        depth()
    assert depth() == first


@pytest.mark.parametrize(("code", "cls"), sorted(_errors.CLASSES.items()))
def test_each_code_of_the_library_has_a_class(code: int, cls: type[vow.Error]) -> None:
    with pytest.raises(cls) as caught:
        of_c(b"vow", code, b"said").wait()
    assert (caught.value.domain, caught.value.code, caught.value.message) == ("vow", code, "said")
    name = C.vow_error_name(code).decode()
    assert str(caught.value) == f"{name}: said"


def test_errors_are_also_of_pythons_own_classes() -> None:
    assert issubclass(vow.TimedOut, TimeoutError)
    assert issubclass(vow.Invalid, ValueError)
    assert issubclass(vow.OutOfMemory, MemoryError)
    assert not issubclass(vow.Cancelled, asyncio.CancelledError)


def test_an_error_of_c_code_has_its_parts() -> None:
    with pytest.raises(vow.Error) as caught:
        of_c(b"shop", 17, b"closed", C.vow_string(b"till nine", 9)).wait()
    error = caught.value
    assert (error.domain, error.code, error.message) == ("shop", 17, "closed")
    assert error.payload == "till nine"
    assert str(error) == "shop 17: closed"


def test_an_error_of_python_shows_its_parts_to_c_code() -> None:
    assert seen_by_c(vow.Error("shop", 17, "closed")) == ("shop", 17, "closed")
    assert seen_by_c(vow.TimedOut("late")) == ("vow", -7, "late")
    assert seen_by_c(ValueError("bad")) == ("python", 0, "ValueError: bad")
    assert seen_by_c(asyncio.CancelledError()) == ("vow", -6, "CancelledError")


def test_an_exception_that_cannot_be_printed_still_rejects() -> None:
    class Silent(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    assert seen_by_c(Silent()) == ("python", 0, "Silent")
    with pytest.raises(Silent):
        vow.rejected(Silent()).wait()


@pytest.mark.parametrize(
    "error",
    [vow.Error("shop", 1, "x", 2), vow.TimedOut("late"), vow.Aggregate("all", [KeyError()])],
)
def test_errors_can_be_copied_and_pickled(error: vow.Error) -> None:
    for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(other) is type(error)
        assert (other.domain, other.code, other.message) == (
            error.domain,
            error.code,
            error.message,
        )


def test_a_cancelled_future_of_asyncio_does_not_cancel_who_reads() -> None:
    promise = vow.resolved(1).then(lambda x: (_ for _ in ()).throw(asyncio.CancelledError("no")))
    with pytest.raises(vow.Cancelled) as caught:
        promise.wait()
    assert isinstance(caught.value.__cause__, asyncio.CancelledError)


@pytest.mark.parametrize("cls", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_program_rejects_and_goes_on_on_the_main_thread(
    cls: type[BaseException],
) -> None:
    def stop(x: int) -> None:
        raise cls

    async def main() -> None:
        vow.resolved(1).then(stop).catch(seen.append)
        await asyncio.sleep(10)

    seen: list[BaseException] = []
    with pytest.raises(cls):
        asyncio.run(main())
    assert [type(error) for error in seen] == [cls]


def fails(*_: Any) -> None:
    raise KeyError("in the handler")


async def fails_later(*_: Any) -> None:
    await asyncio.sleep(0)
    try:
        raise ZeroDivisionError
    except ZeroDivisionError:
        fails()


@pytest.mark.parametrize("handler", [fails, fails_later])
@pytest.mark.parametrize(
    "link",
    [
        lambda promise, handler: promise.catch(handler),
        lambda promise, handler: promise.then(print, handler),
        lambda promise, handler: promise.finally_(lambda: handler()),
    ],
)
def test_what_a_handler_of_an_error_raises_has_it_for_context(
    link: Any, handler: Any, unhandled: list[BaseException]
) -> None:
    async def main() -> None:
        with pytest.raises(KeyError) as caught:
            await link(vow.rejected(ValueError("first")), handler)
        chain: list[type[BaseException]] = []
        error: Optional[BaseException] = caught.value
        while error is not None:
            chain.append(type(error))
            error = error.__context__
        inner = [ZeroDivisionError] if handler is fails_later else []
        assert chain == [KeyError, *inner, ValueError]

    asyncio.run(main())
    assert sys.exc_info() == (None, None, None)
    unhandled.clear()  # a failure of `finally_` has told of the first one


def test_a_handler_of_an_error_can_raise_it_again() -> None:
    def again(error: BaseException) -> None:
        raise

    with pytest.raises(ValueError, match="first"):
        vow.rejected(ValueError("first")).catch(again).wait()


@pytest.mark.parametrize("cls", [vow.Error, vow.TimedOut, vow.Aggregate])
def test_a_traceback_says_the_name_that_programs_use(cls: type[BaseException]) -> None:
    error = cls("domain", 1) if cls is vow.Error else cls("why")
    assert traceback.format_exception_only(cls, error)[0].startswith(f"vow.{cls.__name__}: ")
    assert type(pickle.loads(pickle.dumps(error))) is cls


def test_after_an_exception_the_collector_looks_at_promises_alone() -> None:
    program = '''
        import gc, vow
        def walk(*_):
            raise SystemExit("all objects are looked at")
        gc.get_objects = walk
        def cycle():
            promise = vow.rejected(KeyError())
            try:
                promise.wait()
            except KeyError as error:
                kept = promise, error
        cycle()
        gc.collect()
        print(vow.stats().live)
    '''
    assert run(program) == ("0\n", "")
