"""The whole manual: a page for each group of functions and each chapter, aliases, and vow(7)."""

import re
import subprocess
import time
from os import environ

from header.ownership import Ownership
from header.pages import Pages
from header.names import Names

from . import man_chapter
from .man_page import ManPage
from .man_text import ManText, literal


class Manual:
    def __init__(self, header, root):
        self.header = header
        self.root = root
        self.names = Names(header)
        self.pages = Pages(header, root / "docs/reference/pages")
        self.ownership = Ownership(header)
        self.date = _date(root / "include/vow.h")
        self.problems = list(self.pages.problems)
        self._examples = _examples(root / "examples-c/README.md")

    def head(self, name, section):
        return [
            '.\\" Made from include/vow.h. SPDX-License-Identifier: Apache-2.0',
            f".Dd {self.date}",
            f".Dt {name.upper()} {section}",
            f".Os Vow {self.header.version}",
        ]

    def examples(self, page):
        names = {each.name for each in page.items}
        return [(path, said) for path, said, introduced in self._examples if names & introduced]

    def files(self):
        """Path below the manual's directory: text."""
        made = {}
        for page in self.pages.pages:
            one = ManPage(page, self)
            made[f"man3/{page.name}.3"] = one.render()
            self.problems += [f"{page.name}(3): {each}" for each in one.text.problems]
            for item in page.items:
                if item.name != page.name and item.kind != "constant":
                    made.setdefault(f"man3/{item.name}.3", f".so man3/{page.name}.3\n")
        for chapter in self.header.chapters:
            slug = self.pages.slug(chapter)
            made[f"man7/{slug}.7"], problems = man_chapter.render(chapter, self)
            self.problems += [f"{slug}(7): {each}" for each in problems]
        for path in sorted((self.root / "docs/man").rglob("*.[1-9]")):
            made[f"man{path.suffix[1:]}/{path.name}"] = self.filled(path)
        return made

    def filled(self, path):
        """A page that was written by hand, with what it takes from the header."""
        text = ManText(self.names, self.pages)
        parts = {"date": [f".Dd {self.date}"], "version": [f".Os Vow {self.header.version}"]}
        parts["rules"] = text.body(self.header.rules)
        parts["chapters"] = [line for each in self.header.chapters for line in self._chapter(each)]
        parts["errors"] = [
            line
            for each in self.header.items
            if re.match(r"\(-\d+\)", each.value) and each.name.startswith("VOW_E")
            for line in [f".It Dv {each.name}", *text.sentence(each.comment or "")]
        ]
        parts["program"] = literal(_program(self.root / "README.md"))
        lines = []
        for line in path.read_text(encoding="utf-8").splitlines():
            asked = re.fullmatch(r'\.\\" @(\w+)', line)
            if asked and asked[1] not in parts:
                self.problems.append(f"{path.name} asks for '{asked[1]}', which there is not")
            lines += parts.get(asked[1], []) if asked else [line]
        self.problems += [f"{path.name}: {each}" for each in text.problems]
        self.problems += [
            f"{path.name}: nothing is called {each}" for each in self._strangers(lines)
        ]
        return "\n".join(lines) + "\n"

    def _chapter(self, chapter):
        return [f".It Xr {self.pages.slug(chapter)} 7", self.pages.about(chapter)]

    def _strangers(self, lines):
        """Names of a page that are neither the header's nor those of its pages."""
        known = {each.name for each in self.header.items} | self.names.macros
        known |= {self.pages.slug(each) for each in self.header.chapters}
        words = re.findall(r"\b(?:vow_[a-z0-9_]+|VOW_[A-Z0-9_]+)\b(?!\.\.\.)", "\n".join(lines))
        return sorted(set(words) - known)


def _date(header):
    """The header's date, the same for everybody who has the same source."""
    seconds = environ.get("SOURCE_DATE_EPOCH")
    if not seconds:
        command = ["git", "log", "-1", "--format=%ct", "--", header.name]
        try:
            seconds = subprocess.run(
                command, cwd=header.parent, capture_output=True, text=True
            ).stdout.strip()
        except OSError:
            seconds = ""
    day = time.gmtime(int(seconds) if seconds else header.stat().st_mtime)
    return f"{time.strftime('%B', day)} {day.tm_mday}, {day.tm_year}"


def _program(readme):
    """The program of the README, whose block says nothing but c."""
    return re.search(r"```c\n(.*?)```", readme.read_text(encoding="utf-8"), re.S)[1]


def _examples(readme):
    """(path, what it shows, what it introduces) of each program in the examples' table."""
    found = []
    rows = readme.read_text(encoding="utf-8") if readme.exists() else ""
    for path, shows, introduces in re.findall(
        r"^\| \[[^]]+\]\(([^)]+)\) \| (.*?) \| (.*?) \|$", rows, re.M
    ):
        introduced = {each.split(".")[0] for each in re.findall(r"`(\w[\w.]*)`", introduces)}
        found.append((f"{readme.parent.name}/{path}", shows, introduced))
    return found
