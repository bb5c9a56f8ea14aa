"""Cancelling promises, sources and tokens."""

from __future__ import annotations

from typing import Any

import pytest

import vow


def test_a_reason_is_the_payload() -> None:
    promise, _resolver = vow.pending()
    reason = object()
    promise.cancel(reason)
    with pytest.raises(vow.Cancelled) as caught:
        promise.wait()
    assert caught.value.payload is reason


def test_a_source_cancels_all_that_has_its_token() -> None:
    source = vow.CancelSource()
    promise, resolver = vow.pending()
    links = [promise.then(lambda x: x, token=source.token) for _ in range(3)]
    other = promise.then(lambda x: x)
    assert not source.token.cancelled
    assert source.cancel("enough")
    assert not source.cancel()
    for link in links:
        with pytest.raises(vow.Cancelled):
            link.wait()
    resolver.resolve(1)
    assert other.wait() == 1


def test_a_token_says_that_it_is_cancelled() -> None:
    source = vow.CancelSource()
    told: list[Any] = []
    source.token.raise_if_cancelled()
    source.token.on_cancel(lambda: told.append(source.token.reason))
    source.cancel({"why": "test"})
    assert told == [{"why": "test"}]
    assert source.token.cancelled
    with pytest.raises(vow.Cancelled) as caught:
        source.token.raise_if_cancelled()
    assert caught.value.payload == {"why": "test"}
    source.token.on_cancel(lambda: told.append("at once"))
    assert told[-1] == "at once"


def test_a_linked_source_is_cancelled_with_its_parents() -> None:
    parent, other = vow.CancelSource(), vow.CancelSource()
    child = vow.CancelSource(parent.token, other.token)
    other.cancel("parent")
    assert child.token.cancelled
    assert child.token.reason == "parent"
    assert not parent.token.cancelled
    with pytest.raises(TypeError, match="CancelSource"):
        vow.Token()
