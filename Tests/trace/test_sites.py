"""--resolve: sites as file and line, with a program that is built here."""

import json
import os
import re
import subprocess
import unittest

from commands import CommandTest
from support import Writer

SOURCE = """\
int counter;
__attribute__((noinline)) void make_request(void) { counter++; }
int main(void) {
    make_request();
    return 0;
}
"""

CALLED = """\
void load(void) __asm__("$s4shop4loadyyF");
void load(void) { make_request(); }
"""


class Resolving(CommandTest):
    def setUp(self):
        super().setUp()
        (self.at / "app.c").write_text(SOURCE)
        self.offset = self.built()

    def built(self, *flags):
        """Builds the program; returns the offset of the call in main: the byte before it comes back."""
        compiler = os.environ.get("CC") or "cc"
        subprocess.run([*compiler.split(), "-g", "-O0", "-o", "app", "app.c", *flags], cwd=self.at, check=True)
        listing = subprocess.run(["objdump", "-d", "app"], cwd=self.at, check=True, capture_output=True, text=True).stdout
        called = re.search(r"call\w*\s+.*<make_request>.*\n\s*([0-9a-f]+):|\bbl\s+.*<make_request>.*\n\s*([0-9a-f]+):", listing)
        return int(called[1] or called[2], 16) - 1

    def trace(self, name="app"):
        writer = Writer()
        writer.promise("promise", 0, None, label="hangs", site=f"{name}+0x{self.offset:x} (main+0x9)")
        writer.promise("promise", 0, 10, label="odd", site="no site at all")
        return writer

    def never(self, *more):
        found = self.run_it("trace.json", "--json", "--resolve", *more)
        self.assertEqual(found.returncode, 0, found.stderr)
        return json.loads(found.stdout)["never_settled"][0]["site"], found.stderr

    def test_a_binary_beside_the_trace(self):
        (self.at / "trace.json").write_text(self.trace().text())
        site, complaints = self.never()
        self.assertRegex(site, r"app\.c:4 \(main\)$")
        self.assertEqual(complaints, "")

    def test_a_program_at_a_fixed_place(self):
        self.offset = self.built("-no-pie", "-fno-pie", "-Wl,-Ttext-segment=0x400000") - 0x400000
        (self.at / "trace.json").write_text(self.trace().text())
        self.assertRegex(self.never()[0], r"app\.c:4 \(main\)$")

    def test_a_binary_that_the_trace_names(self):
        (self.at / "bin").mkdir()
        (self.at / "app").rename(self.at / "bin" / "app")
        writer = self.trace()
        writer.event("M", "vow_module", 0, None, args={"name": "app", "path": str(self.at / "bin" / "app")})
        (self.at / "trace.json").write_text(writer.text())
        self.assertRegex(self.never()[0], r"app\.c:4 \(main\)$")

    def test_a_binary_that_is_named(self):
        (self.at / "bin").mkdir()
        (self.at / "app").rename(self.at / "bin" / "app")
        (self.at / "trace.json").write_text(self.trace().text())
        for place in ("bin", "bin/app"):
            self.assertRegex(self.never("--binary", place)[0], r"app\.c:4 \(main\)$")

    def test_a_function_of_swift_has_the_name_that_the_trace_knows(self):
        (self.at / "app.c").write_text(SOURCE.replace("int main(void) {", CALLED + "int main(void) {"))
        self.offset = self.built()
        (self.at / "trace.json").write_text(self.trace().text().replace("(main+0x9)", "(closure in shop.load+0x9)"))
        self.assertRegex(self.never()[0], r"app\.c:\d \(closure in shop\.load\)$")

    def test_a_binary_that_is_not_there_is_said(self):
        (self.at / "trace.json").write_text(self.trace("nowhere-to-be-found").text())
        site, complaints = self.never()
        self.assertTrue(site.startswith("nowhere-to-be-found+0x"))
        self.assertIn("nowhere-to-be-found: no such file found", complaints)


if __name__ == "__main__":
    unittest.main()
