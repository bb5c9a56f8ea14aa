"""Comments as mdoc: paragraphs, lists, and each name as what it is."""

import re

from header.prose import blocks, sentences

from .mdoc import escape, macro, prose, text_line


class ManText:
    """Comments of one page; `page` is where it stands, for names that are on it."""

    def __init__(self, names, pages, page=None):
        self.names = names
        self.pages = pages
        self.page = page
        self.problems = []

    def mark(self, span):
        kind, text = span.kind, span.text
        called = re.fullmatch(r"([a-z_][a-z0-9_]*)\((.+)\)", text)
        if called and kind in ("function", "code"):
            return "Fn", [called[1], *re.split(r", ", called[2])]
        if kind == "function":
            if self.page and any(each.name == span.name for each in self.page.items):
                return "Fn", [span.name]
            return "Xr", [span.name, "3"]
        if kind == "chapter":
            return "Xr", [self.pages.slug(self.names.chapters[int(span.name)]), "7"]
        if kind == "code":
            if text.isidentifier() and text.isupper():
                return "Dv", [text]
            return "Ql", [text]
        if kind == "unknown":
            self.problems.append(f"nothing is called {text}")
        return {"type": "Vt", "constant": "Dv", "member": "Va"}.get(kind, "Fa"), [text]

    def sentence(self, text, item=None):
        return prose(self.names.spans(text, item), self.mark)

    def body(self, text, item=None):
        """Lines for a whole comment; paragraphs between blocks of text."""
        lines, before = [], None
        for block in blocks(text):
            if block.kind == "text":
                if before:
                    lines.append(".Pp")
                for each in sentences(block.text):
                    lines += self.sentence(each, item)
            elif block.kind == "terms":
                lines.append(".Bl -tag -width VOW_EDEADLOCK")
                for term, said in block.rows:
                    lines.append(".It " + " ".join(self._term(term, item)))
                    lines += self.sentence(said, item)
                lines.append(".El")
            else:
                lines += [".Bd -literal -offset indent", *literal(block.text), ".Ed"]
            before = block.kind
        return lines

    def _term(self, term, item):
        span = self.names.spans(term, item)
        if len(span) == 1 and span[0].kind != "text":
            name, arguments = self.mark(span[0])
            return macro(name, *arguments)[1:].split(" ")
        return [escape(term)]


def literal(text):
    return [text_line(escape(line)) if line else "" for line in text.rstrip("\n").split("\n")]


def lowered(text):
    """The first letter small, unless the word is a name."""
    return text if re.match(r"[A-Z_]{2}", text) else text[:1].lower() + text[1:]
