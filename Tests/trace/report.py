"""Runs one kind of test, test_*.py, page_*.py, real_*.py or large_*.py, and prints `ok` and `not ok` lines."""

import sys
import unittest
from pathlib import Path

PATTERNS = {"unit": "test_*.py", "browser": "page_*.py", "real": "real_*.py", "large": "large_*.py"}


class Lines(unittest.TestResult):
    """A test's name is its sentence."""

    def sentence(self, test):
        words = test.id().rsplit(".", 1)[-1].replace("_", " ")
        return f"{type(test).__name__}: {words[5:] if words.startswith('test ') else words}"

    def addSuccess(self, test):
        print(f"ok {self.sentence(test)}", flush=True)

    def bad(self, test, error):
        print(f"not ok {self.sentence(test)}", flush=True)
        print(self._exc_info_to_string(error, test) if error else "", flush=True)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.bad(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self.bad(test, error)

    def addSkip(self, test, reason):
        print(f"skip {self.sentence(test)}: {reason}", flush=True)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error:
            self.bad(test, error)


def main(kind):
    here = Path(__file__).resolve().parent
    sys.path.insert(0, str(here))
    suite = unittest.defaultTestLoader.discover(str(here), PATTERNS[kind], str(here))
    result = suite.run(Lines())
    return 0 if result.wasSuccessful() and result.testsRun else 1


sys.exit(main(sys.argv[1]))
