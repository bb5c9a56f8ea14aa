"""Puts the header together: chapters with their text, and in each its items in order."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .declarations import constant, declaration
from .pieces import HeaderError, bare, cut

HEADING = re.compile(r"-{8,} *(?:(\d+)\. )?(.+)")


@dataclass
class Chapter:
    number: int
    title: str
    summary: str  # what the list at the header's beginning says of it
    text: str
    items: list = field(default_factory=list)


@dataclass
class Header:
    rules: str  # what holds for every function
    chapters: list
    defined: set  # every macro of the file

    @property
    def items(self):
        return [item for chapter in self.chapters for item in chapter.items]

    def named(self, name):
        return next((item for item in self.items if item.name == name), None)

    @property
    def version(self):
        return self.named("VOW_VERSION_STRING").value.strip('"')


def _summaries(preamble):
    """Number: what the list of chapters says beside the title."""
    rows = re.findall(r"^ +(\d+)\. (.+?)(?: {2,}(.*))?$", preamble, re.M)
    return {int(number): summary for number, _, summary in rows}


def _rules(preamble):
    found = re.search(r"^Rules that hold for every function.*?\n\n(.*)$", preamble, re.S | re.M)
    if not found:
        raise HeaderError("the first comment has no rules that hold for every function")
    return re.sub(r"^ {2}", "", found.group(1), flags=re.M)


class _Reader:
    def __init__(self, summaries):
        self.summaries = summaries
        self.chapters = []
        self.run = 0
        self.conditions = []  # for each #if that is open: what is known of it

    def comment(self, piece):
        heading, _, rest = piece.comment.partition("\n")
        found = HEADING.match(heading)
        if found:
            number = int(found.group(1) or len(self.chapters) + 1)
            title = found.group(2).strip(" -")
            text = rest.strip("\n")
            self.chapters.append(Chapter(number, title, self.summaries.get(number, ""), text))
        elif self.chapters:
            self.chapters[-1].text += "\n\n" + piece.comment

    def directive(self, piece):
        word = re.match(r"#\s*(\w+)\s*(.*)", piece.text).groups()
        if word[0] in ("if", "ifdef", "ifndef"):
            foreign = word[1] in ("__cplusplus", "defined(__cplusplus)")
            self.conditions.append((foreign, piece.comment))
        elif word[0] == "endif" and self.conditions:
            self.conditions.pop()
        elif word[0] == "define":
            self.add(constant(piece), piece)

    def add(self, item, piece):
        if piece.begins_run:
            self.run += 1
        shared = next((comment for _, comment in reversed(self.conditions) if comment), None)
        item.comment = piece.comment or shared
        item.own_comment = piece.own_comment
        item.run = self.run
        self.chapters[-1].items.append(item)

    def piece(self, piece):
        if any(foreign for foreign, _ in self.conditions) and piece.kind != "directive":
            return
        if piece.kind == "comment":
            self.comment(piece)
        elif not self.chapters:
            return
        elif piece.kind == "directive":
            self.directive(piece)
        elif item := declaration(piece):
            self.add(item, piece)


def read_header(path):
    """What a header has to say; HeaderError names a line that is not understood."""
    text = path.read_text(encoding="utf-8")
    preamble = bare(text[: text.index("*/") + 2])
    # The includes and marks before the first chapter are for compilers.
    first = re.search(r"^/\* -{8,}", text, re.M)
    if not first:
        raise HeaderError("no chapter begins")
    reader = _Reader(_summaries(preamble))
    body = re.sub(r"^#endif\s*\Z", "", text[first.start() :].rstrip(), flags=re.M)
    body = re.sub(
        r"^#ifdef __cplusplus\n.*?^#endif$",
        lambda found: re.sub(".+", "", found.group()),
        body,
        flags=re.M | re.S,
    )
    for piece in cut(body, 1 + text.count("\n", 0, first.start())):
        reader.piece(piece)
    defined = set(re.findall(r"^#\s*define\s+(\w+)", text, re.M))
    return Header(_rules(preamble), reader.chapters, defined)
