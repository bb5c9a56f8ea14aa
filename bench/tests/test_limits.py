"""Where a crash begins."""

import unittest

import support  # noqa: F401

from runner import limits
from runner.rounds import Cell


class Search(unittest.TestCase):
    def test_small_sizes_exactly(self):
        self.assertEqual(limits.search(10, 40, lambda size: size < 23), (22, 23))

    def test_large_ones_within_the_precision(self):
        good, bad = limits.search(10_000, 100_000, lambda size: size < 20_358)
        self.assertTrue(good < 20_358 <= bad)
        self.assertLess((bad - good) / bad, 0.02)


class Refine(unittest.TestCase):
    def test_all_cells_of_the_curve_learn_of_it(self):
        cells = [
            Cell("a", "W2", 100),
            Cell("a", "W2", 1000, "crash", "SIGSEGV", 1000),
            Cell("a", "W2", 10_000, "crash", "SIGSEGV", 1000),
            Cell("a", "W7", 1000, "crash", "SIGSEGV", 1000),
        ]
        limits.refine(cells, lambda peer, workload, size: size < 150)
        self.assertEqual([cell.failed_at for cell in cells], [0, 152, 152, 1000])  # within 2 %

    def test_nothing_is_tried_where_nothing_crashed(self):
        limits.refine([Cell("a", "W2", 100)], lambda *_: self.fail("tried"))


if __name__ == "__main__":
    unittest.main()
