"""What a promise carries comes back as it was."""

from __future__ import annotations

import ctypes
import enum
import math
import threading
from typing import Any

import pytest

import vow

from capi import C, Class, Seen, Value, list_of, to_python


class Thing:
    pass


def through(item: Any) -> Any:
    promise = vow.resolved(item)
    return promise.then(lambda value: value, executor=vow.inline).result()


class Colour(enum.IntEnum):
    RED = 1


PLAIN = [
    None,
    True,
    False,
    0,
    -1,
    2**63 - 1,
    -(2**63),
    2**63,
    -(2**200),
    0.0,
    -1.5,
    math.inf,
    "",
    "snow \N{SNOWMAN} \0 end",
    "\ud800 lone",
    b"bytes",
    (1, "a"),
    [1, [2]],
    {"a": 1},
    Colour.RED,
]


@pytest.mark.parametrize("item", PLAIN, ids=repr)
def test_a_value_keeps_its_type_and_content(item: Any) -> None:
    result = through(item)
    assert result == item
    assert type(result) is type(item)


def test_not_a_number_and_minus_zero_stay_what_they_are() -> None:
    assert math.isnan(through(math.nan))
    assert math.copysign(1, through(-0.0)) == -1


@pytest.mark.parametrize("item", [[1], (1,), {}, Thing(), b"b", ValueError("x")], ids=repr)
def test_an_object_stays_the_same_object(item: Any) -> None:
    assert through(item) is item


@pytest.mark.parametrize(
    ("item", "kind"), [(None, 0), (True, 1), (3, 2), (2.5, 3), ("s", 5), ([], 6), (2**70, 6)]
)
def test_c_code_sees_the_kind(item: Any, kind: int) -> None:
    with Seen(vow.resolved(item)) as value:
        assert value.kind == kind


def test_a_list_of_c_code_becomes_a_list() -> None:
    inner = list_of([Value(2, 0, 2), C.vow_string(b"two", 3)])
    promise = to_python(list_of([Value(2, 0, 1), inner]))
    assert promise.wait() == [1, [2, "two"]]
    assert promise.then(lambda value: value).wait() == [1, [2, "two"]]


def test_a_list_of_c_code_may_be_nested_very_deep() -> None:
    value = list_of([])
    for _ in range(20_000):
        value = list_of([value])
    found = to_python(value).wait()
    depth = 0
    while found:
        found = found[0]
        depth += 1
    assert depth == 20_000


def test_text_that_is_no_utf8_becomes_bytes() -> None:
    assert to_python(C.vow_string(b"\xff\xfe", 2)).wait() == b"\xff\xfe"


def test_a_plain_pointer_is_a_number_and_goes_back_as_one() -> None:
    pointer = through(vow.Pointer(0xFFFF_0000_0000_1234))
    assert pointer == 0xFFFF_0000_0000_1234
    assert isinstance(pointer, vow.Pointer)


def test_an_object_of_another_class_is_held_and_destroyed_once() -> None:
    destroyed: list[int] = []
    destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(destroyed.append)
    cls = Class(ctypes.sizeof(Class), b"foreign", ctypes.cast(destroy, ctypes.c_void_p), None)
    promise = to_python(C.vow_object(4711, ctypes.byref(cls)))
    held = promise.wait()
    assert held.address == 4711
    again = vow.resolved(held).wait()
    assert again.address == 4711
    del promise, held
    assert destroyed == []
    del again
    assert destroyed == [4711]


def test_an_object_may_be_let_go_of_on_a_foreign_thread() -> None:
    ended: list[str] = []

    class Told:
        def __del__(self) -> None:
            ended.append(threading.current_thread().name)

    promise = vow.resolved(Told())
    holder = [promise]
    del promise
    thread = threading.Thread(target=holder.clear, name="foreign")
    thread.start()
    thread.join()
    assert ended == ["foreign"]


def test_a_promise_as_a_value_is_followed() -> None:
    promise, resolver = vow.pending()
    other, settle = vow.pending()
    assert resolver.resolve(other)
    assert promise.state == "pending"
    settle.resolve("late")
    assert promise.wait() == "late"


def test_a_handle_goes_to_c_code_and_comes_back() -> None:
    promise = vow.resolved("there")
    assert vow.Promise.from_handle(promise.to_handle()).wait() == "there"
    with pytest.raises(vow.Invalid, match="NULL"):
        vow.Promise.from_handle(0)
