"""The tables."""

import unittest

import support  # noqa: F401
from support import peer

from runner import table, workloads

TITLES = {"vow": "Vow", "a": "Another"}


def ok(name, median, **more):
    times = {"median": median, "min": median / 2, "max": median * 2}
    return {"workload": "W2", "n": 100, "peer": name, "status": "ok", "ns_per_item": times, **more}


class Numbers(unittest.TestCase):
    def test_digits(self):
        shown = [table.number(value) for value in (0, 0.0123, 1.2345, 99.95, 1234.5, None)]
        self.assertEqual(shown, ["0", "0.01", "1.23", "100", "1,234", ""])


class Lines(unittest.TestCase):
    def test_columns_stand_below_each_other(self):
        rows = [ok("vow", 10, ratio=1, allocations_per_item=1), ok("a", 2000, ratio=200)]
        head, first, second = table.lines_of(rows, TITLES)
        self.assertEqual(head.split()[:5], ["peer", "ns/item", "min–max", "×", "Vow"])
        self.assertEqual(first.split(), ["Vow", "10", "5–20", "1.00", "1"])
        self.assertEqual(first.index("1.00") + 4, second.index("200.00") + 6)

    def test_crash_absence_and_slowness_are_said(self):
        base = {"workload": "W2", "n": 1_000_000, "peer": "a", "failed_at": 100_000}
        rows = [
            {**base, "status": "crash", "reason": "SIGSEGV"},
            {**base, "status": "unsupported", "reason": "no then"},
            {**base, "status": "timeout", "reason": "more than 60 s"},
        ]
        lines = [" ".join(line.split()) for line in table.lines_of(rows, TITLES)[1:]]
        self.assertEqual(
            lines,
            [
                "Another crashes at 100,000 (SIGSEGV)",
                "Another – (no then)",
                "Another too slow at 100,000 (more than 60 s)",
            ],
        )


class Growth(unittest.TestCase):
    def test_a_line_per_peer_and_a_column_per_size(self):
        crash = {"workload": "W2", "n": 1000, "peer": "a", "status": "crash", "failed_at": 204}
        none = {"workload": "W2", "n": 100, "peer": "c", "status": "unsupported"}
        rows = [ok("vow", 10), ok("a", 20), none, {**ok("vow", 11), "n": 1000}, crash]
        lines = [" ".join(line.split()) for line in table.growth_lines(rows, TITLES)]
        self.assertEqual(
            lines, ["peer 100 1,000", "Vow 10 11", "Another 20 crash crashes at about 204"]
        )


class Printing(unittest.TestCase):
    def test_a_table_says_what_it_measures(self):
        lines = []
        (workload,) = workloads.chosen(["W2"])
        table.print_table(workload, 1_000_000, [ok("vow", 10)], TITLES, lines.append)
        self.assertEqual(lines[0], "\nW2  chain of N links, built, run and freed, N = 1,000,000; per link")

    def test_absent_peers_are_named(self):
        lines = []
        gone = peer("folly")
        gone.state, gone.reason = "absent", "no libfolly in pkg-config"
        table.print_absent([peer("vow"), gone], lines.append)
        self.assertEqual(lines, ["\nNot here", "  Folly: absent: no libfolly in pkg-config"])


if __name__ == "__main__":
    unittest.main()
