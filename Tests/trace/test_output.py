"""What is written: whole files or none, over nothing, and lines that no terminal takes for a command."""

import json
import os
import pty
import re
import signal
import stat
import subprocess
import time
import unittest
import xml.dom.minidom

from commands import COMMAND, CommandTest
from crawl import Crawl
from shapes import consecutive, nested
from support import Writer

EVERY = [chr(each) for each in (*range(0x20), 0x22, 0x26, 0x3C, *range(0x7F, 0xA0), 0xD800, 0xFDD0, 0xFEFF, 0xFFFE, 0xFFFF, 0x1FFFE)]
COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def labelled(label):
    """A trace in which everything has this name."""
    writer = Writer()
    first = writer.promise("promise", 0, 1000, label=label, site=label, executor=label, value=label)
    then = writer.promise(label, 0, 2000, reads=first, error=label, label=label)
    writer.promise("promise", 0, None, label=label, site=label)
    writer.handler(then, 1100, 1900, tid=label, reads=first, name=label, executor=label)
    writer.thread(label, label)
    writer.event("M", "process_name", 0, None, args={"name": label})
    writer.event("M", "vow_module", 0, None, args={"name": label, "path": label})
    return writer.text()


class Writing(CommandTest):
    def setUp(self):
        super().setUp()
        (self.at / "crawl.json").write_text(Crawl(pages=20).run().text())

    def test_what_stands_there_is_overwritten_only_if_asked(self):
        for option, name in (("-o", "x.html"), ("--svg", "x.svg")):
            (self.at / name).write_text("mine")
            found = self.run_it("crawl.json", option, name)
            self.assertEqual((found.returncode, found.stdout), (1, ""))
            self.assertEqual(found.stderr, f"vow-trace: {name}: it is there already; --force overwrites it\n")
            self.assertEqual((self.at / name).read_text(), "mine")
            self.assertEqual(self.run_it("crawl.json", option, name, "-f").returncode, 0)
            self.assertNotEqual((self.at / name).read_text(), "mine")
        self.assertEqual(self.run_it("crawl.json").returncode, 0)
        self.assertEqual(self.run_it("crawl.json").returncode, 1)
        self.assertEqual(self.run_it("crawl.json", "--force").returncode, 0)

    def test_a_graph_for_graphviz_is_not_overwritten_either(self):
        (self.at / "graph.json").write_text('{"nodes": [{"id": "0x1"}]}')
        self.assertEqual(self.run_it("graph.json", "--dot", "x.dot", "--summary").returncode, 0)
        self.assertEqual(self.run_it("graph.json", "--dot", "x.dot", "--summary").returncode, 1)

    def test_nothing_is_written_when_one_of_several_is_there(self):
        (self.at / "x.svg").write_text("mine")
        self.assertEqual(self.run_it("crawl.json", "-o", "x.html", "--svg", "x.svg").returncode, 1)
        self.assertFalse((self.at / "x.html").exists())

    def test_the_trace_itself_and_one_file_twice_are_refused(self):
        before = (self.at / "crawl.json").read_bytes()
        os.symlink("crawl.json", self.at / "other.json")
        for arguments in (["-o", "crawl.json"], ["-o", "./crawl.json"], ["-o", "other.json"], ["-o", "x", "--svg", "x"]):
            self.assertEqual(self.run_it("crawl.json", "-f", *arguments).returncode, 1, arguments)
        self.assertEqual((self.at / "crawl.json").read_bytes(), before)

    def test_a_page_may_be_read_by_whoever_may_read_the_trace(self):
        os.chmod(self.at / "crawl.json", 0o600)
        self.run_it("crawl.json", "--svg", "x.svg", "-o", "x.html")
        for name in ("x.svg", "x.html"):
            self.assertEqual(stat.S_IMODE((self.at / name).stat().st_mode), 0o600)

    def test_a_link_and_a_device_are_written_through(self):
        os.symlink("real.html", self.at / "link.html")
        self.assertEqual(self.run_it("crawl.json", "-o", "link.html").returncode, 0)
        self.assertTrue((self.at / "real.html").is_file() and (self.at / "link.html").is_symlink())
        self.assertEqual(self.run_it("crawl.json", "-o", "/dev/null").returncode, 0)

    def test_a_full_disk_is_said_and_leaves_nothing(self):
        found = self.run_it("crawl.json", "-o", "/dev/full")
        self.assertEqual((found.returncode, found.stderr), (1, "vow-trace: /dev/full: No space left on device\n"))
        limited = ["bash", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$@"', "-", *COMMAND, "crawl.json"]
        found = subprocess.run(limited, cwd=self.at, capture_output=True, text=True, check=False)
        self.assertEqual((found.returncode, found.stderr), (1, "vow-trace: crawl.html: File too large\n"))
        with open("/dev/full", "w") as full:
            found = subprocess.run([*COMMAND, "crawl.json", "--summary"], cwd=self.at, stdout=full, stderr=-1, text=True, check=False)
        self.assertEqual((found.returncode, found.stderr), (1, "vow-trace: standard output: No space left on device\n"))
        self.assertEqual(os.listdir(self.at), ["crawl.json"])

    def test_a_run_that_is_interrupted_leaves_nothing(self):
        (self.at / "long.json").write_text(consecutive(60_000).text())
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            run = subprocess.Popen([*COMMAND, "long.json"], cwd=self.at, stderr=-1, text=True)
            # Once its options are read, signals are heard; then it works for longer than this test looks.
            while not caught(run.pid, signal.SIGHUP):
                time.sleep(0.005)
            run.send_signal(number)
            self.assertEqual((run.communicate()[1], run.returncode), ("", 128 + number))
            self.assertEqual(sorted(os.listdir(self.at)), ["crawl.json", "long.json"])

    def test_what_is_missing_is_said_beside_the_page_and_on_it(self):
        text = (self.at / "crawl.json").read_text()
        (self.at / "cut.json").write_text(text[: len(text) // 2])
        found = self.run_it("cut.json")
        self.assertEqual((found.returncode, found.stdout), (0, "cut.html\n"))
        sentence = re.search(r"vow-trace: cut.json: (It was cut off in line \d+ \(byte \d+\), event \d+, and .*)\n", found.stderr)[1]
        self.assertIn(sentence, (self.at / "cut.html").read_text())
        self.assertIn(sentence, self.run_it("cut.json", "--summary").stdout)
        self.assertEqual(json.loads(self.run_it("cut.json", "--json").stdout)["notes"], [sentence])

    def test_what_a_page_has_no_room_for_is_said(self):
        writer = nested(70)
        writer.promise("promise", 0, 5, label="x" * 10_000)
        (self.at / "large.json").write_text(writer.text())
        page, said = "large.html", self.run_it("large.json").stderr
        for sentence in ("Handlers nest 70 deep: those beyond 64 are drawn on one line.", "very long, and cut."):
            self.assertIn(sentence, said)
            self.assertIn(sentence, (self.at / page).read_text())

    def test_a_wreck_makes_a_page_only_if_asked(self):
        text = (self.at / "crawl.json").read_text().splitlines()
        wrong = next(index for index, line in enumerate(text) if '"cat": "promise"' in line)
        text[wrong] = text[wrong].replace('"ts": ', '"ts": -')
        (self.at / "wreck.json").write_text("\n".join(text))
        found = self.run_it("wreck.json")
        self.assertEqual((found.returncode, found.stdout), (2, ""))
        self.assertRegex(found.stderr, r'^vow-trace: wreck.json: line \d+ \(byte \d+\), event \d+: field "ts": negative; --partial .*\n$')
        self.assertFalse((self.at / "wreck.html").exists())
        found = self.run_it("wreck.json", "--partial")
        self.assertEqual((found.returncode, found.stdout), (0, "wreck.html\n"))
        self.assertIn("1 part was wrong and left out; the first is line ", found.stderr)


def caught(pid, number):
    """Whether a process has a handler of its own for a signal."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        mask = int(re.search(r"SigCgt:\s*(\w+)", status.read())[1], 16)
    return mask >> (number - 1) & 1


class EveryCharacter(CommandTest):
    def test_no_label_speaks_to_the_terminal(self):
        (self.at / "evil.json").write_text(labelled("".join(EVERY)))
        for options in (["--summary"], ["--summary", "--path", "".join(EVERY[1:32])], ["--summary", "--resolve"], ["--json"], ["-o", "-"], ["--svg", "-"]):
            found = self.run_it("evil.json", *options)
            self.assertIsNone(COMMANDS.search(found.stdout))
            self.assertIsNone(COMMANDS.search(found.stderr))
        for each in ("bad\x1b[31m\x07", "bad\x9b31m"):
            (self.at / f"{each}.json").write_text("{")
            (self.at / f"{each}.html").write_text("")
            for arguments in ([f"{each}.json"], ["--summary", f"{each}"], ["evil.json", "-o", f"{each}.html"], [f"--{each}"], ["--top", each, "x"]):
                found = self.run_it(*arguments)
                self.assertNotEqual(found.returncode, 0)
                self.assertIsNone(COMMANDS.search(found.stderr))

    def test_no_label_of_a_graph_speaks_to_the_terminal(self):
        label = "".join(EVERY)
        node = {"id": f"0x1{label}", "kind": label, "label": label, "state": label, "executor": label, "site": label}
        graph = {"program": label, "nodes": [node, {"id": "0x2"}], "threads": [{"tid": label, "awaits": node["id"]}]}
        graph["edges"] = [{"from": node["id"], "to": "0x2", "kind": label}]
        (self.at / "graph.json").write_text(json.dumps(graph))
        for options in (["--summary"], ["--json"], ["--svg", "-"], ["--dot", "-"], ["-o", "-"]):
            found = self.run_it("graph.json", *options)
            self.assertEqual(found.returncode, 0, found.stderr)
            self.assertIsNone(COMMANDS.search(found.stdout))
        xml.dom.minidom.parseString(self.run_it("graph.json", "--svg", "-").stdout.encode())

    def test_a_files_name_is_said_as_it_is_but_to_a_terminal(self):
        name = "a\x1b]0;b\x07"
        (self.at / f"{name}.json").write_text(Writer().text())
        self.assertEqual(self.run_it(f"{name}.json").stdout, f"{name}.html\n")
        here, there = pty.openpty()
        subprocess.run([*COMMAND, f"{name}.json", "-f"], cwd=self.at, stdout=there, check=True)
        said = os.read(here, 1000)
        self.assertEqual(said, b"a\\x1b]0;b\\x07.html\r\n")

    def test_each_character_is_well_formed_in_a_picture_and_a_page(self):
        for each in EVERY:
            (self.at / "x.json").write_text(labelled(f"a{each}b"))
            if ord(each) % 8 < 7 and ord(each) < 0xA0 and each not in '\x00\x1b\x7f\x9b"&<':
                continue
            found = self.run_it("x.json", "-f", "--svg", "x.svg", "-o", "x.html")
            self.assertEqual(found.returncode, 0, found.stderr)
            xml.dom.minidom.parse(str(self.at / "x.svg"))
            page = (self.at / "x.html").read_text()
            data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
            self.assertIn(f"a{each}b", data["texts"])
            self.assertIsNone(re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufdd0\ufffe\uffff\U0001fffe]", page))


if __name__ == "__main__":
    unittest.main()
