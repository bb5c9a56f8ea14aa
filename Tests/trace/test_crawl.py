"""A crawl of 1,000 pages, 16 at once, with retries and time-outs: what is found in it."""

import unittest

from crawl import Crawl
from support import trace_of

from vow_trace import ranking
from vow_trace.analysis import Analysis
from vow_trace.causes import critical_path


class Crawling(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.crawl = Crawl(pages=1000, at_once=16)
        cls.text = cls.crawl.run().text()
        cls.trace = trace_of(cls.text)
        cls.analysis = Analysis(cls.trace, "crawl.json")
        cls.groups = {each.name: each for each in cls.analysis.groups}

    def test_all_lines_are_read(self):
        self.assertEqual((self.trace.skipped, self.trace.complete), (0, True))
        self.assertEqual(len(self.trace.promises), self.crawl.writer.last)

    def test_sixteen_at_once_are_sixteen_lanes(self):
        self.assertEqual(self.groups["page"].lanes, 16)
        self.assertEqual(len(self.groups["page"].promises), 1000)

    def test_retries_and_time_outs_are_counted(self):
        self.assertGreater(self.crawl.retries, 50)
        self.assertGreater(self.crawl.time_outs, 20)
        self.assertEqual(self.analysis.retried, self.crawl.retries)
        self.assertEqual(len(self.analysis.time_outs), self.crawl.time_outs)
        self.assertEqual({each.kind for each in self.analysis.time_outs}, {"timeout"})

    def test_what_never_settled_is_listed(self):
        self.assertEqual([each.label for each in self.analysis.never], ["news 0", "news 1"])
        self.assertEqual(self.analysis.never[0].site, "crawl+0x4100 (subscribe+0x10)")

    def test_each_promise_is_in_one_lane_and_lanes_do_not_overlap(self):
        seen = set()
        for group in self.analysis.groups:
            ends = [0] * group.lanes
            for promise in sorted(group.promises, key=lambda each: each.made):
                self.assertNotIn(promise.id, seen)
                seen.add(promise.id)
                self.assertGreaterEqual(promise.made, ends[promise.lane])
                ends[promise.lane] = self.trace.last if promise.settled is None else promise.settled
            self.assertNotIn(0, ends, "no lane is empty")
        self.assertEqual(seen, set(self.trace.promises))

    def test_a_group_has_no_more_lanes_than_overlap(self):
        for group in self.analysis.groups:
            steps = []
            for each in group.promises:
                end = self.trace.last + 1 if each.settled is None else max(each.settled, each.made + 1)
                steps += [(each.made, 1), (end, -1)]
            most = here = 0
            for _, change in sorted(steps):
                here += change
                most = max(most, here)
            self.assertEqual(group.lanes, most, group.name)

    def test_the_critical_path_reaches_from_the_beginning_to_the_last_settling(self):
        path = self.analysis.path
        self.assertEqual(self.analysis.end_of_path.label, "crawl")
        self.assertEqual(path[0].begin, self.analysis.end_of_path.made)
        self.assertEqual(path[-1].end, self.analysis.end_of_path.settled)

    def test_every_path_is_contiguous_and_adds_up(self):
        for promise in list(self.trace.promises.values())[::7]:
            if promise.settled is None:
                continue
            _, path = critical_path(self.trace, promise)
            for before, after in zip(path, path[1:]):
                self.assertEqual(before.end, after.begin)
            for each in path:
                self.assertLess(each.begin, each.end)
            if path:
                self.assertEqual(path[-1].end, promise.settled)
                whole = path[-1].end - path[0].begin
                self.assertEqual(sum(each.end - each.begin for each in path), whole)

    def test_sums_by_category_are_the_whole(self):
        path = self.analysis.path
        self.assertEqual(sum(self.analysis.path_sums.values()), path[-1].end - path[0].begin)

    def test_the_longest_are_sorted(self):
        pending = [ranking.pending_time(self.trace, each) for each in self.analysis.pending]
        self.assertEqual(pending, sorted(pending, reverse=True))
        runs = [each.end - each.begin for each in self.analysis.runs]
        self.assertEqual(runs, sorted(runs, reverse=True))
        self.assertEqual(runs[0], max(each.end - each.begin for each in self.trace.handlers()))
        delays = [delay for delay, _ in self.analysis.queued]
        self.assertEqual(delays, sorted(delays, reverse=True))
        self.assertTrue(all(delay >= 0 for delay in delays))

    def test_the_order_of_the_lines_does_not_matter(self):
        lines = self.text.splitlines()
        head, body, end = lines[0], lines[1:-1], lines[-1]
        body[-1] += ","
        body = body[::-1]
        body[-1] = body[-1].rstrip(",")
        turned = Analysis(trace_of("\n".join([head, *body, end])), "crawl.json")
        self.assertEqual(turned.outcomes, self.analysis.outcomes)
        self.assertEqual(turned.path_sums, self.analysis.path_sums)
        self.assertEqual(turned.retried, self.analysis.retried)


if __name__ == "__main__":
    unittest.main()
