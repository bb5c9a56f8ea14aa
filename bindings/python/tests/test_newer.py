"""Progress, traces and the graph."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import vow


def test_progress_is_told() -> None:
    promise, resolver = vow.pending()
    seen: list[tuple[float, Any]] = []
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
        promise.on_progress(lambda fraction, note: seen.append(fraction))
        assert loop.run_until(promise, 10) == [1, 2, 3, 4]
    assert seen == sorted(seen)
    assert all(0 < fraction <= 1 for fraction in seen)


def test_a_trace_is_written(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    with vow.trace(path):
        promise, resolver = vow.pending()
        link = promise.then(lambda x: x, label="second")
        resolver.resolve(1)
        assert link.wait() == 1
    events = json.loads(path.read_text())["traceEvents"]
    assert "second" in {event.get("name") for event in events}
    assert vow.trace(path).stop() == 0


def test_the_live_graph_is_written() -> None:
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
