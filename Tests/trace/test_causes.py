"""The critical path of small programs, segment by segment."""

import unittest

from support import Writer

from vow_trace import ranking
from vow_trace.causes import critical_path, timed_out_here


def path_of(trace, identity):
    """[(category, begin, end)] as offsets from the path's promise."""
    _, segments = critical_path(trace, trace.promises[identity])
    return [(each.category, each.begin, each.end) for each in segments]


class Causes(unittest.TestCase):
    def test_a_handler_runs_after_it_was_queued_after_what_it_reads(self):
        writer = Writer()
        source = writer.promise("promise", 0, 100)
        then = writer.promise("then", 0, 180, reads=source, settled_tid=2)
        writer.handler(then, 130, 175, tid=2, reads=source)
        trace = writer.trace()
        self.assertEqual(path_of(trace, then), [("waiting", 0, 100), ("queued", 100, 130), ("running", 130, 180)])

    def test_a_reader_made_late_is_queued_since_its_making(self):
        writer = Writer()
        source = writer.promise("promise", 0, 100)
        then = writer.promise("then", 500, 600, reads=source)
        writer.handler(then, 520, 600, reads=source)
        self.assertEqual(path_of(writer.trace(), then), [("queued", 500, 520), ("running", 520, 600)])

    def test_an_adopted_promise_is_the_cause(self):
        writer = Writer()
        source = writer.promise("promise", 0, 100)
        then = writer.promise("then", 0, 400, reads=source)
        writer.handler(then, 110, 150, tid=2, reads=source)
        inner = writer.promise("promise", 120, 390, tid=2)
        writer.on(then, inner, 151, tid=2, how="follows")
        expected = [
            ("waiting", 0, 100), ("queued", 100, 110), ("running", 110, 120), ("waiting", 120, 390), ("queued", 390, 400),
        ]  # fmt: skip
        self.assertEqual(path_of(writer.trace(), then), expected)

    def test_all_waits_for_its_last_member(self):
        writer = Writer()
        members = [writer.promise("promise", 0, end) for end in (50, 90, 70)]
        whole = writer.promise("all", 20, 95)
        for each in members:
            writer.on(whole, each, 20)
        self.assertEqual(path_of(writer.trace(), whole)[-2:], [("waiting", 0, 90), ("queued", 90, 95)])

    def test_what_a_handler_settles_has_that_handler_as_its_cause(self):
        writer = Writer()
        source = writer.promise("promise", 0, 100)
        then = writer.promise("then", 0, 300, reads=source, settled_tid=2)
        writer.handler(then, 120, 295, tid=2, reads=source)
        other = writer.promise("promise", 5, 200, settled_tid=2)
        self.assertEqual(path_of(writer.trace(), other), [("waiting", 0, 100), ("queued", 100, 120), ("running", 120, 200)])

    def test_a_time_out_waits_for_its_time(self):
        writer = Writer()
        request = writer.promise("promise", 0, 1_010, error="VOW_ECANCELLED")
        limit = writer.promise("timeout", 10, 1_000, reads=request, error="VOW_ETIMEDOUT")
        then = writer.promise("then", 10, 1_005, reads=limit, error="VOW_ETIMEDOUT")
        writer.cancel(request, 1_002)
        trace = writer.trace()
        self.assertEqual(path_of(trace, limit), [("waiting", 10, 1_000)])
        self.assertTrue(timed_out_here(trace, trace.promises[limit]))
        self.assertFalse(timed_out_here(trace, trace.promises[then]))
        self.assertEqual([each.id for each in ranking.time_outs(trace)], [limit])
        self.assertEqual(trace.promises[request].outcome, "cancelled")

    def test_a_programs_own_waits_are_links_of_the_chain(self):
        writer = Writer()
        first = writer.promise("promise", 0, 100, settled_tid=2)
        writer.blocked(first, 10, 120)
        second = writer.promise("promise", 150, 400, settled_tid=2)
        writer.blocked(second, 160, 410)
        expected = [("waiting", 0, 100), ("queued", 100, 120), ("running", 120, 150), ("waiting", 150, 400)]
        self.assertEqual(path_of(writer.trace(), second), expected)

    def test_a_retry_goes_back_over_its_delays(self):
        writer = Writer()
        retry = writer.promise("retry", 0, 900, label="fetch")
        writer.handler(retry, 10, 20, tid=2)
        first = writer.promise("promise", 15, 100, tid=2, settled_tid=3, error="http 500")
        writer.on(retry, first, 20, tid=2)
        delay = writer.promise("delay", 110, 500, tid=3, settled_tid=3)
        writer.on(retry, delay, 110, tid=3)
        writer.handler(retry, 505, 520, tid=2, reads=delay)
        second = writer.promise("promise", 510, 880, tid=2, settled_tid=3)
        writer.on(retry, second, 520, tid=2)
        trace = writer.trace()
        expected = [
            ("queued", 0, 10), ("running", 10, 15), ("waiting", 15, 100), ("queued", 100, 110), ("waiting", 110, 500),
            ("queued", 500, 505), ("running", 505, 510), ("waiting", 510, 880), ("queued", 880, 900),
        ]  # fmt: skip
        self.assertEqual(path_of(trace, retry), expected)
        self.assertEqual([(each.id, moments) for each, moments in ranking.retries(trace)], [(retry, [520])])

    def test_a_using_goes_back_over_its_release_and_its_use(self):
        writer = Writer()
        resource = writer.promise("delay", 0, 100)
        using = writer.promise("using", 0, 350)
        writer.on(using, resource, 0)
        before = 110
        for kind, end in (("in-use", 300), ("releasing", 350)):
            part = writer.promise(kind, before, end)
            writer.on(using, part, before)
            writer.handler(part, before + 5, before + 10)
            delay = writer.promise("delay", before + 8, end)
            writer.on(part, delay, before + 10, how="follows")
            before = end
        expected = [("waiting", 0, 100), ("queued", 100, 110), ("queued", 110, 115), ("running", 115, 118)]
        expected += [("waiting", 118, 300), ("queued", 300, 305), ("running", 305, 308), ("waiting", 308, 350)]
        self.assertEqual(path_of(writer.trace(), using), expected)

    def test_pauses_and_the_deadline_of_a_retry_are_no_attempts(self):
        for ending in ("fulfilled", "rejected", "pending"):
            writer = Writer()
            how = {"error": "http 500"} if ending == "rejected" else {}
            retry = writer.promise("retry", 0, None if ending == "pending" else 900, label="fetch", **how)
            steps = [("async", 10, 100, True), ("async", 110, 300, False), ("async", 310, 400, True), ("async", 410, 600, False)]
            if ending == "fulfilled":
                steps.append(("async", 610, 890, False))
            if ending == "pending":
                steps.append(("async", 610, None, False))
            writer.on(retry, writer.promise("delay", 1, None), 1)
            for kind, made, settled, bad in steps:
                each = writer.promise(kind, made, settled, **({"error": "http 500"} if bad else {}))
                writer.on(retry, each, made)
                if not bad and made < 600:
                    writer.on(each, writer.promise("delay", made + 5, settled - 5), made + 6, how="follows")
            trace = writer.trace()
            expected = [310] if ending == "rejected" else [310, 610]
            self.assertEqual([moments for _, moments in ranking.retries(trace)], [expected], ending)

    def test_a_retry_without_pauses_counts_each_attempt(self):
        writer = Writer()
        retry = writer.promise("retry", 0, 900)
        for made, more in ((10, {"error": "a 1"}), (200, {"error": "a 1"}), (400, {})):
            writer.on(retry, writer.promise("async", made, made + 100, **more), made)
        self.assertEqual([moments for _, moments in ranking.retries(writer.trace())], [[200, 400]])

    def test_a_handler_that_returned_a_promise_waits_for_both(self):
        writer = Writer()
        first = writer.promise("promise", 0, 100)
        inner = writer.promise("promise", 120, 300)
        then = writer.promise("then", 0, 310, reads=inner)
        writer.handler(then, 110, 130, tid=2, reads=first)
        writer.on(then, inner, 131, tid=2, how="follows")
        trace = writer.trace()
        self.assertEqual(trace.waited_for(trace.promises[then]), {first: "reads", inner: "follows"})
        self.assertIn(then, trace.promises[first].readers)

    def test_a_ring_of_waits_ends(self):
        writer = Writer()
        one = writer.promise("then", 0, 100, reads="0x2", error="VOW_ECYCLE")
        writer.promise("then", 0, 100, reads=one, error="VOW_ECYCLE")
        pending = writer.promise("then", 5, None, reads="0x4")
        writer.promise("then", 5, None, reads=pending)
        trace = writer.trace()
        for each in trace.promises.values():
            ranking.Ends(trace).of(each)
            if each.settled is not None:
                critical_path(trace, each)

    def test_what_a_pending_one_hangs_on_is_the_end_of_its_chain(self):
        writer = Writer()
        source = writer.promise("promise", 0, None, label="answer")
        then = writer.promise("then", 1, None, reads=source)
        last = writer.promise("all", 2, None)
        writer.on(last, then, 2)
        trace = writer.trace()
        self.assertEqual(ranking.Ends(trace).of(trace.promises[last]).label, "answer")

    def test_queueing_counts_from_the_later_of_settling_and_making(self):
        writer = Writer()
        source = writer.promise("promise", 0, 100)
        late = writer.promise("then", 400, 600, reads=source)
        writer.handler(late, 450, 600, reads=source)
        trace = writer.trace()
        self.assertEqual([delay for delay, _ in ranking.longest_queued(trace, 5)], [50])


if __name__ == "__main__":
    unittest.main()
