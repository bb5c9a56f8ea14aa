"""The order of the runs, and what is not run."""

import unittest

from support import peer, took

from runner import rounds
from runner.process import Answer


class Machine:
    """Answers as it was told, and notes what was asked."""

    def __init__(self, answers=None):
        self.answers = answers or {}
        self.timed, self.counted = [], []

    def time(self, one, workload, size):
        self.timed.append(one.name)
        return self.answers.get(one.name, took(float(len(self.timed))))

    def count(self, one, workload, size):
        self.counted.append(one.name)
        return Answer("ok", {"ns_per_item": 99.0, "allocations_per_item": 1.0})

    def run(self, peers, count=2, size=100, cells=()):
        return rounds.alternate(peers, "W2", size, count, cells, self.time, self.count)


class Alternation(unittest.TestCase):
    def test_each_round_asks_every_peer_once(self):
        machine = Machine()
        machine.run([peer("a"), peer("b")], count=3)
        self.assertEqual(machine.timed, ["a", "b"] * 3)

    def test_times_are_kept_in_order(self):
        first, second = Machine().run([peer("a"), peer("b")])
        self.assertEqual((first.times, second.times), ([1.0, 3.0], [2.0, 4.0]))

    def test_counting_is_a_run_of_its_own_whose_time_is_dropped(self):
        (cell,) = Machine().run([peer("a")], count=1)
        self.assertEqual(cell.times, [1.0])
        self.assertEqual(cell.values["allocations_per_item"], 1.0)

    def test_who_counts_itself_is_not_counted(self):
        machine = Machine()
        machine.run([peer("a", counts="self"), peer("b", counts="none")])
        self.assertEqual(machine.counted, [])


class Failures(unittest.TestCase):
    def test_after_a_crash_a_peer_is_not_asked_again(self):
        machine = Machine({"a": Answer("crash", reason="SIGSEGV")})
        cells = machine.run([peer("a"), peer("b")])
        self.assertEqual(machine.timed, ["a", "b", "b"])
        self.assertEqual([cell.status for cell in cells], ["crash", "ok"])
        self.assertEqual(machine.counted, ["b"])

    def test_nor_at_a_larger_size(self):
        machine = Machine()
        before = rounds.Cell("a", "W2", 100, "crash", "SIGSEGV", 100)
        (cell,) = machine.run([peer("a")], size=1000, cells=[before])
        self.assertEqual((cell.status, cell.failed_at, machine.timed), ("crash", 100, []))

    def test_but_for_another_workload_it_is(self):
        before = rounds.Cell("a", "W7", 100, "crash", "SIGSEGV")
        (cell,) = Machine().run([peer("a")], size=1000, cells=[before])
        self.assertEqual(cell.status, "ok")

    def test_what_a_peer_is_without_is_never_run(self):
        machine = Machine()
        (cell,) = machine.run([peer("a", without={"W2": "no then"})])
        self.assertEqual((cell.status, cell.reason, machine.timed), ("unsupported", "no then", []))


if __name__ == "__main__":
    unittest.main()
