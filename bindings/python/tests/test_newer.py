"""Progress, traces and the graph: with a library that has them, and a clear error without."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any, Callable

import pytest

import vow


def needs(name: str, use: Callable[[], Any]) -> bool:
    """Whether the library has a function; if not, that its use says so."""
    if vow.has(name):
        return True
    with pytest.raises(NotImplementedError, match=f"has no {name}"):
        use()
    return False


def test_progress_is_told() -> None:
    promise, resolver = vow.pending()
    seen: list[tuple[float, Any]] = []
    if needs("vow_on_progress_with", lambda: promise.on_progress(lambda f, n: None)):
        with vow.Loop() as loop:
            promise.on_progress(lambda fraction, note: seen.append((fraction, note)))
            resolver.set_progress(0.25, "a quarter")
            end = time.monotonic() + 60
            while not seen and time.monotonic() < end:
                loop.run_once(0.1)
            assert seen == [(0.25, "a quarter")]
            resolver.resolve()
            assert promise.wait() is None
    resolver.resolve()


def test_a_map_tells_its_share_by_itself() -> None:
    seen: list[float] = []
    with vow.Loop() as loop:
        promise = vow.map([1, 2, 3, 4], lambda n: vow.delay(0.005 * n, n), concurrency=2)
        if needs("vow_on_progress_with", lambda: promise.on_progress(print)):
            promise.on_progress(lambda fraction, note: seen.append(fraction))
        assert loop.run_until(promise, 10) == [1, 2, 3, 4]
    assert seen == sorted(seen)
    assert all(0 < fraction <= 1 for fraction in seen)
    assert bool(seen) == vow.has("vow_on_progress_with")


def test_setting_progress_of_what_is_over_does_nothing() -> None:
    promise, resolver = vow.pending()
    if needs("vow_promise_set_progress", lambda: promise.set_progress(0.5)):
        resolver.resolve(1)
        promise.set_progress(0.5, "late")
        resolver.set_progress(0.5)
    resolver.resolve(1)
    assert promise.wait() == 1


def test_a_trace_is_written(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    if needs("vow_trace_start", lambda: vow.trace(path)):
        with vow.trace(path):
            promise, resolver = vow.pending()
            link = promise.then(lambda x: x, label="second")
            resolver.resolve(1)
            assert link.wait() == 1
        events = json.loads(path.read_text())["traceEvents"]
        assert "second" in {event.get("name") for event in events}
        assert vow.trace(path).stop() == 0


def test_the_end_of_a_trace_says_how_many_events_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if needs("vow_trace_start", lambda: vow.trace(path)):
        trace = vow.trace(path)
        os.close(reader)
        reader = -1
        vow.resolved(1)
        assert trace.stop() > 0
    if reader >= 0:
        os.close(reader)


def test_the_live_graph_is_written() -> None:
    if needs("vow_graph_write", vow.graph):
        with vow.trace():
            promise, resolver = vow.pending()
            link = promise.then(lambda x: x)
            nodes = json.loads(vow.graph("json"))["nodes"]
            assert len(nodes) >= 2
            assert vow.graph("dot").startswith("digraph")
            resolver.resolve()
            assert link.wait() is None
        with pytest.raises(ValueError, match="svg"):
            vow.graph("svg")


def test_a_label_is_set() -> None:
    promise, resolver = vow.pending()
    if needs("vow_promise_set_label", lambda: promise.set_label("name")):
        promise.set_label("name")
    resolver.resolve()
    assert promise.wait() is None
