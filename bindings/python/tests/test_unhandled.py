"""Rejections that nobody looked at."""

from __future__ import annotations

import logging

import pytest

import vow


def test_a_rejection_that_nobody_saw_is_told_once(unhandled: list[BaseException]) -> None:
    error = KeyError("lost")
    promise = vow.rejected(error)
    del promise
    assert unhandled == [error]
    unhandled.clear()


def test_without_a_hook_it_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    vow.on_unhandled(None)
    with caplog.at_level(logging.ERROR, "vow"):
        vow.rejected(KeyError("lost"))
    (record,) = caplog.records
    assert record.name == "vow"
    assert "KeyError('lost')" in record.getMessage()
    assert record.exc_info is not None and record.exc_info[0] is KeyError
    caplog.clear()
