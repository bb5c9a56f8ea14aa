"""What type checkers know. mypy --strict reads it, and refuses an `ignore` that nothing needs."""

from __future__ import annotations

import pytest

import vow


async def name_of(number: int, *, upper: bool = False) -> str:
    return f"{number}"


def double(number: int) -> int:
    return 2 * number


def test_values_have_their_types() -> None:
    number: vow.Promise[int] = vow.resolved(1)
    text: vow.Promise[str] = vow.delay(0, "text")
    nothing: vow.Promise[None] = vow.delay(0)
    wrong: vow.Promise[str] = vow.resolved(1)  # type: ignore[arg-type]
    promise, resolver = vow.pending(int)
    resolver.resolve("no number")  # type: ignore[arg-type]
    vow.pending(int)[1].resolve()  # type: ignore[call-arg]
    nobody: vow.Resolver[None] = vow.pending()[1]
    assert nobody.resolve() and vow.pending()[1].resolve()
    read: int = promise.wait()
    assert (number.wait(), text.wait(), nothing.wait(), read) == (1, "text", None, read)
    assert str(read) == "no number"
    assert str(wrong.wait()) == "1"


def test_all_of_a_tuple_has_the_types_of_its_members() -> None:
    number, text = vow.all((vow.resolved(1), vow.resolved("text"))).wait()
    as_int: int = number
    as_str: str = text
    as_wrong: str = number  # type: ignore[assignment]
    assert (as_int, as_str, str(as_wrong)) == (1, "text", "1")
    listed: list[int] = vow.all([vow.resolved(1)]).wait()
    assert listed == [1]


def test_arguments_of_functions_that_are_run_are_checked() -> None:
    doubled: vow.Promise[int] = vow.run(double, 2)
    named = vow.run(name_of, 3, upper="yes")  # type: ignore[arg-type]
    there: vow.Promise[int] = vow.pool.run(double, 2)
    by_name: vow.Promise[int] = vow.pool.run(double, number=4)
    assert (doubled.wait(), there.wait(), by_name.wait()) == (4, 4, 8)
    for promise in (named, vow.pool.run(double, "a", "b")):  # type: ignore[call-overload]
        with pytest.raises((RuntimeError, TypeError)):
            promise.wait()
