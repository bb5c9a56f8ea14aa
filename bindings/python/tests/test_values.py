"""What a promise carries comes back as it was."""

from __future__ import annotations

import enum
import math
import threading
import weakref
from typing import Any

import pytest

import vow
from vow import _values
from vow._library import ffi, lib


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
    value = _values.to_value(item)
    promise = lib.vow_promise_with(value)
    out = ffi.new("vow_value *")
    assert lib.vow_promise_peek(promise, out)
    assert out.kind == kind
    lib.vow_promise_release(promise)


def test_a_list_of_c_code_becomes_a_list() -> None:
    inner = _values.to_list([2, "two"])
    handle = lib.vow_promise_with(lib.vow_list(ffi.new("vow_value[]", [(2, 0, 1), inner]), 2))
    promise = vow.Promise.from_handle(handle)
    assert promise.wait() == [1, [2, "two"]]
    assert promise.then(lambda value: value).wait() == [1, [2, "two"]]


def test_a_list_of_c_code_may_be_nested_very_deep() -> None:
    value = _values.to_list([])
    for _ in range(20_000):
        value = lib.vow_list(ffi.new("vow_value[]", [value]), 1)
    found = vow.Promise.from_handle(lib.vow_promise_with(value)).wait()
    depth = 0
    while found:
        found = found[0]
        depth += 1
    assert depth == 20_000


def test_text_that_is_no_utf8_becomes_bytes() -> None:
    handle = lib.vow_promise_with(lib.vow_string(b"\xff\xfe", 2))
    assert vow.Promise.from_handle(handle).wait() == b"\xff\xfe"


def test_a_plain_pointer_is_a_number_and_goes_back_as_one() -> None:
    pointer = through(vow.Pointer(0xFFFF_0000_0000_1234))
    assert pointer == 0xFFFF_0000_0000_1234
    assert isinstance(pointer, vow.Pointer)


def test_an_object_of_another_class_is_held_and_destroyed_once() -> None:
    destroyed: list[int] = []
    destroy = ffi.callback("vow_notice", destroyed.append)
    name = ffi.new("char[]", b"foreign")
    cls = ffi.new("vow_class *", (ffi.sizeof("vow_class"), name, destroy, ffi.NULL))
    promise = vow.Promise.from_handle(lib.vow_promise_with(lib.vow_object(4711, cls)))
    held = promise.wait()
    assert held.address == 4711
    again = vow.resolved(held).wait()
    assert again.address == 4711
    del promise, held
    assert destroyed == []
    del again
    assert destroyed == [4711]


def test_an_object_is_let_go_of_with_its_promise() -> None:
    thing = Thing()
    gone = weakref.ref(thing)
    promise = vow.resolved(thing).then(lambda value: value, executor=vow.inline)
    del thing
    assert gone() is not None
    del promise
    assert gone() is None


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
