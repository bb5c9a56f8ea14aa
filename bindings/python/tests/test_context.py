"""The context that travels along."""

from __future__ import annotations

import vow


def test_the_context_goes_with_the_handlers() -> None:
    request = {"id": 7}
    vow.set_context(request)
    try:
        promise = vow.run(lambda: vow.get_context(), executor=vow.pool)
    finally:
        vow.set_context(None)
    assert promise.wait() is request
    assert vow.get_context() is None


def test_a_handler_sets_it_for_what_it_makes() -> None:
    def handler() -> object:
        vow.set_context("inner")
        return vow.run(vow.get_context)

    assert vow.run(handler).wait() == "inner"
    assert vow.get_context() is None
