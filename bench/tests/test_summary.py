"""Medians, spreads, ratios."""

import unittest

import support  # noqa: F401

from runner import summary
from runner.rounds import Cell


def cell(name, *times, size=100, **more):
    return Cell(name, "W2", size, times=list(times), **more)


class Spread(unittest.TestCase):
    def test_median_of_odd_and_even(self):
        self.assertEqual(summary.spread([9, 1, 5]), {"median": 5, "min": 1, "max": 9})
        self.assertEqual(summary.spread([1, 2, 4, 9])["median"], 3)

    def test_no_times(self):
        self.assertIsNone(summary.spread([]))


class Ratios(unittest.TestCase):
    def test_to_vow_at_the_same_size(self):
        cells = [cell("vow", 10, 20, 30), cell("vow", 40, size=1000), cell("a", 60), cell("a", 60, size=1000)]
        ratios = [row["ratio"] for row in summary.summarise(cells)]
        self.assertEqual(ratios, [1, 1, 3, 1.5])

    def test_without_vow_there_are_none(self):
        (row,) = summary.summarise([cell("a", 60)])
        self.assertNotIn("ratio", row)

    def test_every_run_is_kept(self):
        (row,) = summary.summarise([cell("a", 3, 1)])
        self.assertEqual(row["runs"], [3, 1])


class Others(unittest.TestCase):
    def test_a_crash_says_where_and_has_no_time(self):
        (row,) = summary.summarise([cell("a", 5, status="crash", reason="SIGSEGV", failed_at=100)])
        self.assertEqual((row["failed_at"], row["reason"]), (100, "SIGSEGV"))
        self.assertNotIn("ns_per_item", row)

    def test_unknown_keys_of_a_peer_go_along(self):
        (row,) = summary.summarise([cell("a", 5, values={"gc": 2, "compiler": "x"})])
        self.assertEqual(row["gc"], 2)
        self.assertNotIn("compiler", row)


if __name__ == "__main__":
    unittest.main()
