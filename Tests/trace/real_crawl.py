"""The trace of the real crawl: 1,000 pages, 16 at a time, 100 of which have to be tried again."""

import os
import unittest

import support  # noqa: F401

from vow_trace import ranking
from vow_trace.analysis import Analysis
from vow_trace.building import build
from vow_trace.reading import document_of


class RealCrawl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        kind, lines = document_of(os.environ["CRAWL"])
        cls.trace = build(lines)
        cls.analysis = Analysis(cls.trace, "crawl.json")
        cls.groups = {each.name: each for each in cls.analysis.groups}

    def test_every_line_is_read(self):
        self.assertEqual((self.trace.skipped, self.trace.complete), (0, True))

    def test_sixteen_pages_at_once_are_sixteen_lanes(self):
        self.assertEqual((len(self.groups["page"].promises), self.groups["page"].lanes), (1000, 16))

    def test_a_hundred_pages_are_tried_again_and_33_time_out(self):
        self.assertEqual((self.analysis.retried, len(self.analysis.retries)), (100, 100))
        self.assertEqual(len(self.analysis.time_outs), 33)
        self.assertTrue(all(each.kind == "timeout" for each in self.analysis.time_outs))

    def test_nothing_is_left_pending(self):
        self.assertEqual([each.name for each in ranking.never_settled(self.trace)], [])

    def test_the_critical_path_leads_from_the_beginning_to_the_end(self):
        path = self.analysis.path
        for before, after in zip(path, path[1:]):
            self.assertEqual(before.end, after.begin)
        self.assertGreater(path[-1].end - path[0].begin, 0.95 * self.trace.duration)
        self.assertGreater(self.analysis.path_sums["waiting"], self.analysis.path_sums["running"])


if __name__ == "__main__":
    unittest.main()
