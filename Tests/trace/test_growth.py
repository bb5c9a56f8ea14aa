"""However deep, long or wide a trace is: no recursion, and work that grows as the trace does."""

import io
import json
import unittest

from shapes import SHAPES, jobs, nested, waiting
from steps import lines
from support import trace_of

from vow_trace import cli
from vow_trace.analysis import Analysis
from vow_trace.causes import critical_path


def forms(trace):
    """Everything that the command can make of a trace."""
    made = cli.TraceForms(Analysis(trace, "trace.json"))
    return made.page(), made.svg(), made.summary(), json.dump(made.json(), io.StringIO())


class Growth(unittest.TestCase):
    def test_nested_handlers_and_jobs_that_start_the_next_have_a_page(self):
        for shape in (nested, waiting, jobs):
            for count in (330, 1_000, 5_000):
                with self.subTest(shape=shape.__name__, count=count):
                    forms(shape(count).trace())

    def test_twice_the_trace_is_twice_the_work(self):
        for shape in SHAPES:
            texts = [shape(count).text() for count in (150, 300, 600)]
            one, two, four = (lines(lambda text=text: forms(trace_of(text))) for text in texts)
            with self.subTest(shape=shape.__name__):
                # What is linear doubles; what is quadratic is four times as much.
                self.assertLess((four - two) / (two - one), 2.8, (one, two, four))

    def test_the_path_through_jobs_goes_back_to_the_first(self):
        trace = jobs(3_000).trace()
        _, path = critical_path(trace)
        self.assertEqual((path[0].begin, path[-1].end), (0, 29_998))
        self.assertEqual(sum(each.category == "running" for each in path), 5_999 - 2_999)

    def test_the_path_through_waits_goes_back_to_the_first(self):
        trace = waiting(3_000).trace()
        _, path = critical_path(trace)
        self.assertEqual(path[-1].end, 30_000)
        for before, after in zip(path, path[1:]):
            self.assertEqual(before.end, after.begin)

    def test_what_led_to_each_promise_is_shared_where_paths_meet(self):
        from vow_trace.encoding import encode

        data = encode(Analysis(jobs(2_000).trace(), "x"))
        self.assertLess(sum(len(each[1]) for each in data["links"] if each), 4 * 2_000)


if __name__ == "__main__":
    unittest.main()
