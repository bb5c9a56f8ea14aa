"""What a peer's process says, and how it ended."""

import tempfile
import unittest
from pathlib import Path

from support import peer

from runner import process


class Parsing(unittest.TestCase):
    def test_the_last_line_of_json_counts(self):
        output = 'warming up\n{"n": 1}\n{"n": 2, "ns_per_item": 3.5}\nbye\n'
        self.assertEqual(process.parse(output), {"n": 2, "ns_per_item": 3.5})

    def test_half_a_line_is_not_json(self):
        self.assertEqual(process.parse('{"n": 1}\n{"n": 2, "ns_'), {"n": 1})

    def test_nothing_is_nothing(self):
        self.assertIsNone(process.parse("usage\n"))


class Ends(unittest.TestCase):
    def test_a_signal_is_a_crash_by_name(self):
        answer = process.judge(-11, "", "")
        self.assertEqual((answer.status, answer.reason), ("crash", "SIGSEGV"))

    def test_a_shell_that_reports_a_signal(self):
        self.assertEqual(process.died(139), "SIGSEGV")

    def test_an_abort_says_why(self):
        answer = process.judge(-6, "", "noise\nbenchmark: W2\n")
        self.assertEqual(answer.reason, "SIGABRT: benchmark: W2")

    def test_a_result_does_not_excuse_a_crash(self):
        self.assertEqual(process.judge(1, '{"ns_per_item": 1}', "").status, "crash")

    def test_silence_is_no_result(self):
        self.assertEqual(process.judge(0, "", "").reason, "printed no result")

    def test_what_is_not_offered_says_so(self):
        answer = process.judge(0, '{"unsupported": "no handlers"}', "")
        self.assertEqual((answer.status, answer.reason), ("unsupported", "no handlers"))


class Running(unittest.TestCase):
    """Real processes, shell scripts, whose time is not looked at."""

    def program(self, text):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        path = Path(directory.name) / "peer"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        one = peer("one")
        one.program = path
        return one

    def test_workload_and_size_are_arguments(self):
        one = self.program('echo "{\\"workload\\":\\"$1\\",\\"n\\":$2,\\"ns_per_item\\":1}"')
        answer = process.run(one, "W2", 100, 0.1, 60)
        self.assertEqual(answer.values, {"workload": "W2", "n": 100, "ns_per_item": 1})

    def test_a_run_that_counts_is_told_so(self):
        one = self.program('echo "{\\"count\\":$BENCH_COUNT}"')
        self.assertEqual(process.run(one, "W2", 1, 0.1, 60).values, {"count": 0})
        self.assertEqual(process.run(one, "W2", 1, 0.1, 60, "").values, {"count": 1})

    def test_a_crash_is_seen(self):
        self.assertEqual(process.run(self.program("kill -SEGV $$"), "W2", 1, 0.1, 60).status, "crash")

    def test_a_hang_is_ended(self):
        self.assertEqual(process.run(self.program("sleep 60"), "W2", 1, 0.1, 0.2).status, "timeout")


if __name__ == "__main__":
    unittest.main()
