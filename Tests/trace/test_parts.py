"""Names, durations and ticks."""

import unittest

import support  # noqa: F401

from vow_trace import times
from vow_trace.lanes import group_name
from vow_trace.model import Promise
from vow_trace.text import clean


def named(label, kind="then"):
    promise = Promise("0x1")
    promise.label, promise.kind = label, kind
    return group_name(promise)


class Parts(unittest.TestCase):
    def test_a_group_is_the_label_up_to_its_space_or_number(self):
        wanted = {
            "page 17": "page", "GET /index": "GET", "page/17": "page", "a/b/3": "a/b", "job#9": "job", "row-12": "row",
            "1" * 300_000 + "x": "1" * 300_000 + "x", "plain": "plain", "17": "17", "/17": "/17", " ": " ", None: "then",
        }  # fmt: skip
        for label, name in wanted.items():
            self.assertEqual(named(label), name)

    def test_durations_have_three_digits(self):
        wanted = {0: "0 ns", 999: "999 ns", 1_000: "1.00 µs", 12_345: "12.3 µs", 999_400: "999 µs", 65_100_000_000: "65.1 s"}
        for value, text in wanted.items():
            self.assertEqual(times.text(value), text)

    def test_an_axis_has_round_marks(self):
        self.assertEqual(times.step(789_000_000, 9), 100_000_000)
        self.assertEqual([times.tick(each, 500) for each in (0, 500, 1_500)], ["0 ns", "500 ns", "1.5 µs"])
        self.assertEqual(times.tick(250_000_000, 50_000_000), "250 ms")
        self.assertEqual(times.tick(1_200_000_000, 200_000_000), "1.2 s")

    def test_texts_for_a_terminal_have_escapes_for_control_characters(self):
        self.assertEqual(clean("a\x1b[31m\nb\u202e"), "a\\x1b[31m\\x0ab\\u202e")
        self.assertEqual(len(clean("x" * 1000)), 60)


if __name__ == "__main__":
    unittest.main()
