"""Runs the command from the tree, in a directory of its own."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import ROOT

COMMAND = [sys.executable, str(ROOT / "tools" / "vow-trace")]


class CommandTest(unittest.TestCase):
    """`at` is a new directory, in which run_it runs the command."""

    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.at = Path(home.name)

    def run_it(self, *arguments, stdin=None):
        found = subprocess.run(
            [*COMMAND, *map(str, arguments)], capture_output=True, text=True, input=stdin, timeout=120, check=False,
            encoding="utf-8", cwd=self.at,
        )  # fmt: skip
        self.assertNotIn("Traceback", found.stderr)
        return found
