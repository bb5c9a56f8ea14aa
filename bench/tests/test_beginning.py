"""Whether a run begins at all: not without Vow."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from support import describe

from runner import main


class Beginning(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        self.out = self.root / "out"

    def run_with(self, build, *arguments):
        """Exit code and what was said of a run whose tree has Vow, built so, and one peer that answers."""
        tree = self.root / "tree"
        describe(tree, "vow", build)
        describe(tree, "zeta", f'touch "{self.root}/zeta-was-built"; echo none; exit 3')
        said = io.StringIO()
        with mock.patch.object(main, "BENCH", tree), contextlib.redirect_stderr(said):
            with contextlib.redirect_stdout(io.StringIO()):
                code = main.main([f"--out={self.out}", "--quick", "--only=R1", *arguments])
        return code, said.getvalue().splitlines()

    def zeta_was_built(self):
        return (self.root / "zeta-was-built").exists()

    def test_without_vow_nothing_is_built_or_measured_and_the_cure_is_named(self):
        code, said = self.run_with("echo no benchmark in pkg-config; exit 3")
        self.assertEqual(code, 2)
        self.assertEqual(
            said,
            [
                "bench: building vow",
                "bench: vow absent: no benchmark in pkg-config",
                "bench: nothing is measured without Vow; bench/deps installs what is missing",
            ],
        )
        self.assertFalse(self.zeta_was_built())
        self.assertFalse((self.out / "results.json").exists())

    def test_where_vow_does_not_build_its_log_is_named(self):
        code, said = self.run_with("echo vow.c:1: error: no; exit 1")
        self.assertEqual(code, 2)
        self.assertEqual(
            said[-1], f"bench: nothing is measured without Vow; see {self.out}/peers/vow/build.log"
        )
        self.assertFalse(self.zeta_was_built())

    def test_with_vow_a_peer_that_is_absent_stops_nothing(self):
        code, said = self.run_with('touch "$1/vow"')
        self.assertEqual(code, 0)
        self.assertIn("bench: zeta absent: none", said)
        self.assertTrue((self.out / "results.json").exists())

    def test_who_asks_for_other_peers_alone_gets_them(self):
        code, _ = self.run_with("exit 3", "--peers=zeta")
        self.assertEqual(code, 0)
        self.assertTrue(self.zeta_was_built())


if __name__ == "__main__":
    unittest.main()
