"""A loop of the library in a program without asyncio."""

from __future__ import annotations

import select
import threading
import time

import pytest

import vow


def test_the_descriptor_says_when_there_is_work() -> None:
    with vow.Loop() as loop:
        poll = select.poll()
        poll.register(loop.fileno(), select.POLLIN)
        assert poll.poll(0) == []
        link = vow.resolved(1).then(lambda x: x + 1)
        assert len(poll.poll(60_000)) == 1
        assert loop.run_once(0) == 1
        assert poll.poll(0) == []
        assert link.result() == 2


def test_a_virtual_clock_is_moved_by_hand() -> None:
    with vow.Loop(virtual=True) as loop:
        order: list[int] = []
        for hours in (2, 1, 3):
            vow.delay(3600 * hours, hours).then(order.append)
        loop.advance(3600 * 2.5)
        assert order == [1, 2]
        loop.advance(3600)
        assert order == [1, 2, 3]
        assert vow.delay(1e6, "far").wait() == "far"


def test_a_loop_can_be_woken() -> None:
    with vow.Loop() as loop:
        threading.Timer(0.01, loop.wake).start()
        assert loop.run_once(10) == 0


def test_a_closed_loop_shuts_its_work_down() -> None:
    loop = vow.Loop()
    link = vow.delay(60).then(lambda x: x)
    loop.close()
    loop.wake()
    with pytest.raises(vow.Shutdown):
        link.wait(5)
    with pytest.raises(vow.Shutdown):
        loop.run_once(0)
    with pytest.raises(vow.Shutdown):
        loop.fileno()


def test_what_another_thread_settles_ends_the_wait_of_a_loop() -> None:
    with vow.Loop() as loop:
        for wait in (loop.run_until, vow.Promise.wait):
            end = time.monotonic() + 30
            wait(vow.pool.run(time.sleep, 0.05), 60)
            assert time.monotonic() < end


def test_advance_needs_a_virtual_loop() -> None:
    with vow.Loop() as loop:
        with pytest.raises(vow.Invalid):
            loop.advance(1)


def test_what_a_handler_means_for_the_program_leaves_the_loop() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with vow.Loop() as loop:
        promise = vow.run(stop).catch(lambda error: "seen")
        with pytest.raises(KeyboardInterrupt):
            while True:
                loop.run_once(1)
        assert loop.run_until(promise, 5) == "seen"
