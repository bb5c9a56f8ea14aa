"""The command: its options, its exit statuses, and what it writes."""

import ast
import json
import os
import re
import subprocess
import sys
import unittest
import xml.dom.minidom

from commands import COMMAND, CommandTest
from crawl import Crawl
from support import PACKAGE, ROOT, Writer

EVIL = '</script><img src=x onerror=alert(1)> "quoted" \' & <!-- \u2028 ]]> \x1b[31m \ud800 ${1}'


class Command(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.crawl = Crawl(pages=300)
        cls.text = cls.crawl.run().text()

    def setUp(self):
        super().setUp()
        self.trace = self.at / "crawl.json"
        self.trace.write_text(self.text)

    def test_a_page_is_written_beside_the_trace(self):
        found = self.run_it("crawl.json")
        self.assertEqual((found.returncode, found.stdout), (0, "crawl.html\n"))
        page = (self.at / "crawl.html").read_text()
        self.assertNotRegex(page, r"""(src|href)=["']?https?:""")
        self.assertIn("default-src 'none'", page)

    def test_the_page_is_the_same_each_time(self):
        self.run_it("crawl.json", "-o", "one.html", "--svg", "one.svg")
        self.run_it("crawl.json", "-o", "two.html", "--svg", "two.svg")
        self.assertEqual((self.at / "one.html").read_bytes(), (self.at / "two.html").read_bytes())
        self.assertEqual((self.at / "one.svg").read_bytes(), (self.at / "two.svg").read_bytes())

    def test_the_summary_says_what_happened(self):
        found = self.run_it("crawl.json", "--summary")
        self.assertEqual(found.returncode, 0)
        self.assertIn(f"{self.crawl.retries} retries of", found.stdout)
        self.assertIn(f"{self.crawl.time_outs} time-outs", found.stdout)
        self.assertIn("Critical path to crawl", found.stdout)
        self.assertRegex(found.stdout, r"(?m)^  page +300 +16 ")
        self.assertRegex(found.stdout, r"news 0 0x\w+   crawl\+0x4100 \(subscribe\+0x10\)")
        self.assertFalse((self.at / "crawl.html").exists())

    def test_json_is_for_tools(self):
        found = json.loads(self.run_it("crawl.json", "--json", "--top", "3").stdout)
        self.assertEqual(found["retries"], self.crawl.retries)
        self.assertEqual(len(found["longest_pending"]), 3)
        segments = found["critical_path"]["segments"]
        whole = segments[-1]["end_ns"] - segments[0]["begin_ns"]
        self.assertEqual(sum(found["critical_path"]["sums_ns"].values()), whole)

    def test_the_path_to_a_promise_of_choice(self):
        found = json.loads(self.run_it("crawl.json", "--json", "--path", "page 17").stdout)
        chosen = found["critical_path"]
        page = next(each for each in chosen["segments"] if each["promise"] == chosen["promise"])
        self.assertTrue(page)
        self.assertEqual(self.run_it("crawl.json", "--summary", "--path", "nobody").returncode, 2)
        self.assertIn("never settled", self.run_it("crawl.json", "--summary", "--path", "news 0").stderr)

    def test_the_picture_is_small_and_sound(self):
        self.run_it("crawl.json", "--svg", "crawl.svg")
        content = (self.at / "crawl.svg").read_bytes()
        self.assertLess(len(content), 100_000)
        picture = xml.dom.minidom.parseString(content)
        texts = [each.firstChild.data for each in picture.getElementsByTagName("text")]
        self.assertIn("page", texts)
        self.assertIn("300 · 16 lanes", texts)
        self.assertIn("timed out", texts)
        self.assertIn(b"prefers-color-scheme:dark", content)
        self.assertNotIn(b"<script", content)

    def test_no_bar_leaves_the_picture(self):
        self.run_it("crawl.json", "--svg", "crawl.svg")
        content = (self.at / "crawl.svg").read_text()
        bars = [(int(x), int(length)) for x, length in re.findall(r"M(\d+) [\d.]+h(\d+)(?=[M\"])", content)]
        self.assertGreater(len(bars), 500)
        self.assertGreaterEqual(min(x for x, _ in bars), 178)
        self.assertLessEqual(max(x + length for x, length in bars), 1104)

    def test_a_picture_of_very_many_stays_small(self):
        writer = Writer()
        for number in range(30_000):
            begin = number * 10_000
            writer.promise("timeout", begin, begin + 9_000 * (1 + number % 50), label=f"n {number}", error="VOW_ETIMEDOUT")
        (self.at / "many.json").write_text(writer.text())
        self.assertEqual(self.run_it("many.json", "--svg", "many.svg").returncode, 0)
        self.assertLess((self.at / "many.svg").stat().st_size, 100_000)

    def test_labels_cannot_be_markup(self):
        writer = Writer()
        first = writer.promise("promise", 0, 1000, label=EVIL, site=EVIL, executor=EVIL, value=EVIL)
        writer.promise("then", 0, 1000, label=EVIL, reads=first, error=EVIL)
        writer.promise("promise", 0, None, label=EVIL)
        writer.thread(1, EVIL)
        writer.event("M", "process_name", 0, None, args={"name": EVIL})
        (self.at / "evil.json").write_text(writer.text())
        found = self.run_it("evil.json", "--summary", "--svg", "evil.svg", "-o", "evil.html")
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assertNotIn("\x1b", found.stdout)
        page = (self.at / "evil.html").read_text()
        self.assertEqual(page.count("</script>"), 2)
        self.assertNotIn("<img", page)
        data = re.search(r'id="data">(.*?)</script>', page, re.S)[1]
        self.assertIn(EVIL, json.loads(data)["texts"])
        picture = (self.at / "evil.svg").read_text()
        xml.dom.minidom.parseString(picture.encode())
        self.assertNotIn("<img", picture)

    def test_wrong_files_and_options_end_with_status_2(self):
        (self.at / "empty").write_text("")
        (self.at / "wrong").write_text("no trace")
        for arguments in (["empty"], ["wrong"], ["missing"], [self.at], [], ["--what"], ["crawl.json", "--top", "0"],
                          ["crawl.json", "--dot", "x"]):  # fmt: skip
            with self.subTest(arguments=arguments):
                found = self.run_it(*arguments)
                self.assertEqual(found.returncode, 2)
                self.assertIn("vow-trace", found.stderr)
                self.assertEqual(found.stdout, "")

    def test_where_nothing_can_be_written_the_status_is_1(self):
        found = self.run_it("crawl.json", "-o", "no/such/directory.html")
        self.assertEqual(found.returncode, 1)
        self.assertIn("no/such/directory.html", found.stderr)

    def test_standard_input_and_output(self):
        found = self.run_it("-", "-o", "-", stdin=self.text)
        self.assertEqual(found.returncode, 0)
        self.assertTrue(found.stdout.startswith("<!doctype html>"))

    def test_a_reader_that_goes_away_is_no_crash(self):
        line = f"'{sys.executable}' '{COMMAND[1]}' crawl.json -o - | head -c 10"
        found = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=self.at, check=False, timeout=60)
        self.assertEqual((found.stdout, found.stderr), ("<!doctype ", ""))

    def test_version_and_help(self):
        header = (ROOT / "include" / "vow.h").read_text()
        version = re.search(r'VOW_VERSION_STRING "(.*)"', header)[1]
        self.assertEqual(self.run_it("--version").stdout, f"vow-trace {version}\n")
        self.assertIn("--summary", self.run_it("--help").stdout)

    def test_packed_it_does_the_same(self):
        packed = self.at / "vow-trace"
        pack = [sys.executable, str(ROOT / "scripts" / "pack-trace"), "9.8.7"]
        packed.write_bytes(subprocess.run(pack, capture_output=True, check=True).stdout)
        packed.chmod(0o755)
        os.chdir("/")
        said = subprocess.run([packed, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(said, "vow-trace 9.8.7\n")
        subprocess.run([packed, self.trace, "-o", self.at / "packed.html"], capture_output=True, check=True)
        self.run_it("crawl.json")
        self.assertEqual((self.at / "packed.html").read_bytes(), (self.at / "crawl.html").read_bytes())

    def test_every_file_is_python_3_9(self):
        files = [*PACKAGE.rglob("*.py"), ROOT / "tools" / "vow-trace", ROOT / "scripts" / "pack-trace"]
        self.assertGreater(len(files), 10)
        for path in files:
            ast.parse(path.read_text(), str(path), feature_version=(3, 9))


if __name__ == "__main__":
    unittest.main()
