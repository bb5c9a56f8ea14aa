"""What bench/deps asks for: on a machine that has nothing, and on one that has all. Nothing is installed here."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import BENCH


class Asking(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.commands = Path(directory.name)
        for name in ("bash", "env"):
            (self.commands / name).symlink_to(f"/usr/bin/{name}")
        self.command("id", "echo 1000")
        self.command("sudo", "exit 1")
        self.command("apt-get", 'echo "$0 $*" >>"$0.called"')
        self.command("apt-cache", "exit 100")
        self.command("python3", "exit 1")

    def command(self, name, text):
        (self.commands / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.commands / name).chmod(0o755)

    def ask(self):
        environment = {**os.environ, "PATH": str(self.commands)}
        environment.pop("CXX", None)
        return subprocess.run(
            [str(BENCH / "deps")], env=environment, capture_output=True, text=True, check=False
        )

    def called(self):
        path = self.commands / "apt-get.called"
        return path.read_text().splitlines() if path.exists() else []

    def test_who_is_not_root_gets_one_line_to_paste(self):
        answer = self.ask()
        self.assertEqual((answer.returncode, answer.stdout, self.called()), (1, "", []))
        line = answer.stderr.splitlines()[-1]
        self.assertTrue(line.startswith("sudo apt-get update && sudo apt-get install -y gcc g++ "))
        self.assertIn(" libbenchmark-dev ", line)

    def test_a_package_that_the_system_has_not_is_named_and_not_asked_for(self):
        said = self.ask().stderr.splitlines()
        self.assertEqual(
            said[0], "bench/deps: no package here: libdex-dev libfolly-dev; the peer will be absent"
        )
        self.assertNotIn("libdex-dev", said[-1])

    def test_a_package_that_the_system_has_is_asked_for(self):
        self.command("apt-cache", "exit 0")
        self.assertIn(" libdex-dev libfolly-dev ", self.ask().stderr.splitlines()[-1])

    def test_root_installs(self):
        self.command("id", "echo 0")
        self.assertEqual(self.ask().returncode, 0)
        update, install = self.called()
        self.assertTrue(update.endswith(" update"))
        self.assertIn(" libbenchmark-dev ", install)
        self.assertIn(" libboost-chrono-dev ", install)

    def test_where_all_is_there_nothing_is_said_or_done(self):
        self.command("id", "echo 0")
        for name in ("gcc", "g++", "pkg-config", "python3"):
            self.command(name, "exit 0")
        answer = self.ask()
        self.assertEqual((answer.returncode, answer.stdout, answer.stderr), (0, "", ""))
        self.assertEqual(self.called(), [])

    def test_without_apt_what_is_missing_is_named(self):
        (self.commands / "apt-get").unlink()
        answer = self.ask()
        self.assertEqual(answer.returncode, 1)
        self.assertIn("please install what has these: gcc g++ pkg-config", answer.stderr)


if __name__ == "__main__":
    unittest.main()
