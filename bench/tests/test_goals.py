"""The goals, judged on numbers made by hand."""

import unittest

import support  # noqa: F401

from runner import goals


def row(workload, size, peer, median, **more):
    times = {"median": median}
    return {"workload": workload, "n": size, "peer": peer, "status": "ok", "ns_per_item": times, **more}


def judged(rows, text):
    return {each["goal"]: each for each in goals.judge(rows, ["W2"])}[text]


class Judging(unittest.TestCase):
    def test_at_most(self):
        rows = [row("W1", 1000, "vow", 20), row("R1", 1000, "raw", 5)]
        self.assertTrue(judged(rows, "W1 to malloc and free")["met"])
        rows[0]["ns_per_item"]["median"] = 21
        self.assertFalse(judged(rows, "W1 to malloc and free")["met"])

    def test_at_least_on_another_key(self):
        size = 1_000_000
        rows = [
            row("W9", size, "vow", 1, resident_per_item=128),
            row("W9", size, "literal", 1, resident_per_item=512),
        ]
        found = judged(rows, "queue per promise to Vow, W9 resident")
        self.assertEqual((found["ratio"], found["met"]), (4, True))

    def test_what_is_missing_is_not_judged(self):
        found = judged([row("W2", 100, "vow", 20)], "W2 to folly")
        self.assertEqual((found["ratio"], found["met"]), (None, None))

    def test_growth_begins_at_a_thousand(self):
        rows = [row("W2", 100, "vow", 99), row("W2", 1000, "vow", 10), row("W2", 10_000, "vow", 12)]
        self.assertEqual(judged(rows, "W2 growth, most to least")["ratio"], 1.2)


class Printing(unittest.TestCase):
    def test_only_what_was_measured(self):
        lines = []
        rows = [row("W1", 1000, "vow", 15), row("R1", 1000, "raw", 5)]
        goals.print_goals(goals.judge(rows, []), lines.append)
        shown = [" ".join(line.split()) for line in lines[1:]]
        self.assertEqual(shown, ["W1 to malloc and free 3.00 ≤ 4.00 met"])

    def test_nothing_measured_nothing_printed(self):
        lines = []
        goals.print_goals(goals.judge([], []), lines.append)
        self.assertEqual(lines, [])


if __name__ == "__main__":
    unittest.main()
