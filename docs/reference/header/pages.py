"""Reads the table that says which functions share a manual page, and places everything else."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .prose import first_sentence


@dataclass
class Page:
    name: str
    summary: str
    chapter: object
    items: list = field(default_factory=list)


class Pages:
    """The table, applied to a header. `problems` says where the two do not agree."""

    def __init__(self, header, path):
        self.problems = []
        self.hidden = set()
        self.slugs = {}  # a chapter's title: the name of its page
        self.titles = {}  # a page: the title of the chapter that the table puts it in
        self.pages = []
        rows = self._read(path)
        self._check(header, rows)
        self._place(header, rows)

    def _read(self, path):
        rows, place, title = [], None, None
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            if found := re.match(r"\[(\w+)\] (.+)", line):
                title = found[2]
                self.slugs[title] = found[1]
            elif found := re.match(r"(\w+): (.+)", line):
                self.titles[found[1]] = title
                rows.append((found[1], found[2], []))
                place = rows[-1][2]
            elif line.strip() == "not for programs":
                place = []
                rows.append((None, "", place))
            elif line.startswith(" ") and place is not None:
                place.extend(line.split())
            else:
                self.problems.append(f"{path.name}, line {number}: not understood: {line}")
        return rows

    def _check(self, header, rows):
        titles = {each.title for each in header.chapters}
        known = {each.name for each in header.items}
        for title in titles - set(self.slugs):
            self.problems.append(f"the chapter '{title}' has no page")
        for title in set(self.slugs) - titles:
            self.problems.append(f"the header has no chapter '{title}'")
        seen = set()
        for name in (each for _, _, names in rows for each in names):
            if name in seen:
                self.problems.append(f"{name} is on two pages")
            if name not in known:
                self.problems.append(f"the header has no {name}")
            seen.add(name)
        for item in header.items:
            if item.kind == "function" and item.name not in seen:
                self.problems.append(f"{item.name} is on no page")

    def _place(self, header, rows):
        self.hidden = {each for name, _, names in rows if name is None for each in names}
        summaries = {name: summary for name, summary, _ in rows if name}
        placed = {each: name for name, _, names in rows if name for each in names}
        chapters = {each.title: each for each in header.chapters}
        pages = {}
        for chapter in header.chapters:
            # What is on no page of its own goes where the next function goes.
            following = None
            for item in reversed(chapter.items):
                if item.kind == "function" and item.name not in self.hidden:
                    following = placed.setdefault(item.name, item.name)
                elif item.name not in placed and item.name not in self.hidden:
                    placed[item.name] = following or self.slug(chapter)
            for item in chapter.items:
                if item.name in self.hidden:
                    continue
                name = placed[item.name]
                if name not in pages:
                    about = header.named(name) or item
                    summary = summaries.get(name) or self._plain(
                        first_sentence(about.comment or name)
                    )
                    pages[name] = Page(name, summary, chapters.get(self.titles.get(name), chapter))
                pages[name].items.append(item)
        order = [name for name, _, _ in rows] + list(pages)
        self.pages = sorted(
            pages.values(),
            key=lambda page: (header.chapters.index(page.chapter), order.index(page.name)),
        )

    @staticmethod
    def _plain(sentence):
        return re.sub(r"\([^)]*\) ?", "", sentence).rstrip(".").replace("`", "")

    def about(self, chapter):
        """What a chapter is about, in a few words."""
        first = next(
            (page.summary for page in self.pages if page.chapter is chapter), chapter.title
        )
        return chapter.summary or first

    def slug(self, chapter):
        return self.slugs.get(chapter.title) or "vow_" + re.sub(r"\W+", "_", chapter.title.lower())

    def of(self, name):
        """The page on which a name stands."""
        return next(
            (page for page in self.pages if any(each.name == name for each in page.items)), None
        )
