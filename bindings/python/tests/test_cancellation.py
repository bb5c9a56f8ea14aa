"""Cancelling promises, sources and tokens."""

from __future__ import annotations

from typing import Any

import pytest

import vow


def test_cancelling_goes_upstream() -> None:
    promise, resolver = vow.pending()
    told: list[str] = []
    resolver.on_cancel(lambda: told.append("stop"))
    last = promise.then(lambda x: x).then(lambda x: x)
    del promise
    assert last.cancel()
    assert told == ["stop"]
    assert isinstance(last.exception(), vow.Cancelled)


def test_cancelling_a_settled_promise_does_nothing() -> None:
    promise = vow.resolved(1)
    assert not promise.cancel()
    assert promise.wait() == 1
    assert not promise.cancel()


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


def test_a_handler_with_a_cancelled_token_never_runs() -> None:
    source = vow.CancelSource()
    source.cancel()
    ran: list[int] = []
    with pytest.raises(vow.Cancelled):
        vow.resolved(1).then(ran.append, token=source.token).wait()
    assert ran == []


def test_a_cancellation_is_nothing_to_report(unhandled: list[BaseException]) -> None:
    promise, _resolver = vow.pending()
    promise.then(lambda x: x).cancel()
    promise.cancel()
    del promise
    assert unhandled == []
