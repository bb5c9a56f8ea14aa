"""What has something of the library's has no copies: each would give the same back once more."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import pickle
from typing import Any, Callable

import pytest

import vow
from vow import _core

MAKERS: dict[str, Callable[[], Any]] = {
    "Promise": lambda: vow.resolved(1),
    "Resolver": lambda: vow.pending()[1],
    "Executor": vow.serial,
    "CancelSource": vow.CancelSource,
    "Token": lambda: vow.CancelSource().token,
    "Registration": lambda: vow.CancelSource().token.on_cancel(lambda: None),
    "Scope": vow.Scope,
    "Loop": vow.Loop,
    "Using": lambda: vow.using(vow.resolved(1), lambda item: None),
    "as_completed": lambda: vow.as_completed([vow.resolved(1)]),
}
WAYS: list[Callable[[Any], Any]] = [
    copy.copy,
    copy.deepcopy,
    lambda item: copy.deepcopy({"in": [item]}),
    *(lambda item, way=way: pickle.dumps(item, way) for way in range(pickle.HIGHEST_PROTOCOL + 1)),
]


@pytest.mark.parametrize("name", MAKERS)
def test_a_copy_is_refused_with_what_to_do_instead(name: str) -> None:
    item = MAKERS[name]()
    for way in WAYS:
        with pytest.raises(TypeError, match=f"{name}: it cannot be copied .* as it is, .* process"):
            way(item)


def test_a_field_of_a_dataclass_that_is_an_executor_is_refused() -> None:
    @dataclasses.dataclass
    class Settings:
        where: vow.Executor

    with pytest.raises(TypeError, match="Executor: it cannot be copied"):
        dataclasses.asdict(Settings(vow.serial()))


def test_an_attachment_has_no_copies() -> None:
    async def main() -> None:
        for way in WAYS:
            with pytest.raises(TypeError, match="Attachment: it cannot be copied"):
                way(vow.attach())

    asyncio.run(main())


def test_no_class_of_the_package_is_forgotten() -> None:
    free = (BaseException, int)  # have nothing of the library's
    classes = [item for item in map(vow.__dict__.get, vow.__all__) if isinstance(item, type)]
    assert {cls.__name__ for cls in classes if not issubclass(cls, free)} == {*MAKERS} - {"Using"}


@pytest.mark.parametrize("part", [_core.Reader, lambda: _core.Call(print)])
def test_nor_do_the_parts_inside(part: Callable[[], Any]) -> None:
    with pytest.raises(TypeError):
        copy.copy(part())


def test_a_class_of_a_program_can_say_how_it_is_made_again() -> None:
    class Named(vow.Executor):
        def __reduce__(self) -> Any:
            return vow.serial, ()

    assert isinstance(copy.copy(Named(lambda work: work())), vow.Executor)
