"""Functions that leave tokens and resolvers."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import vow


def test_what_has_left_is_not_called_and_is_let_go_of() -> None:
    class Held:
        pass

    source = vow.CancelSource()
    told: list[str] = []
    held = Held()
    ref = weakref.ref(held)

    def leaves(held: Any = held) -> None:
        told.append("leaves")

    registration = source.token.on_cancel(leaves)
    stays = source.token.on_cancel(lambda: told.append("stays"))
    del held, leaves
    assert registration.stage is vow.Stage.WAITING
    assert registration.leave() is vow.Stage.NEVER_RUNS
    gc.collect()
    assert ref() is None
    source.cancel()
    assert told == ["stays"]
    assert stays.leave() is vow.Stage.HAS_RUN


def test_a_producers_function_leaves() -> None:
    promise, resolver = vow.pending()
    told: list[str] = []
    with resolver.on_cancel(lambda: told.append("leaves")):
        pass
    stays = resolver.on_cancel(lambda: told.append("stays"))
    promise.cancel()
    assert told == ["stays"]
    assert stays.stage is vow.Stage.HAS_RUN


def test_of_a_resolver_that_has_resolved_it_never_runs() -> None:
    promise, resolver = vow.pending()
    resolver.resolve(1)
    assert resolver.on_cancel(lambda: None).leave() is vow.Stage.NEVER_RUNS
    assert promise.wait() == 1


def test_inside_the_function_it_is_running() -> None:
    source = vow.CancelSource()
    stages: list[vow.Stage] = []
    registration = source.token.on_cancel(lambda: stages.append(registration.leave()))
    source.cancel()
    assert stages == [vow.Stage.RUNNING]


def test_a_registration_is_made_by_on_cancel() -> None:
    with pytest.raises(TypeError):
        vow.Registration()


def test_a_linked_source_lives_by_its_token() -> None:
    parent = vow.CancelSource()
    token = vow.CancelSource(parent.token).token
    told: list[str] = []
    token.on_cancel(lambda: told.append("cancelled"))
    gc.collect()
    assert told == []
    parent.cancel()
    assert told == ["cancelled"]
    assert token.cancelled


def test_progress_of_the_running_function_is_its_promises() -> None:
    promise, resolver = vow.pending()
    end, ends = vow.pending()
    heard: list[tuple[float, Any]] = []

    def work(_: Any) -> Any:
        vow.set_current_progress(0.5, "half")
        return end

    derived = promise.then(work, executor=vow.inline)
    derived.on_progress(lambda fraction, note: heard.append((fraction, note)))
    resolver.resolve(1)
    for _ in range(1000):
        if heard:
            break
        vow.delay(0.01).wait()
    ends.resolve(2)
    assert derived.wait() == 2
    assert heard == [(0.5, "half")]
    vow.set_current_progress(0.5)
