"""The names in a comment: what each word that is one refers to."""

from __future__ import annotations

import re
from dataclasses import dataclass

# These names, and those with an underscore, are no English words: always the parameter. Others are
# the parameter only where what follows shows it.
SHORT = {"fn", "ns", "cls", "fd"}
WORDS = "borrowed|consumed|owned|retained|kept|copied"
SHOWS = (
    rf"(?=,? \((?:each )?(?:may be NULL|{WORDS})| (?:is )?(?:{WORDS}|what was given)"
    r"|,? NULL\b| is NULL| may be NULL)"
)


@dataclass
class Span:
    kind: str  # text, function, type, constant, parameter, member, chapter, code, unknown
    text: str
    name: str = ""


class Names:
    """What the words of a comment may refer to."""

    def __init__(self, header):
        self.functions = {each.name for each in header.items if each.kind == "function"}
        self.constants = {each.name for each in header.items if each.kind == "constant"}
        others = self.functions | self.constants
        self.types = {each.name: each for each in header.items if each.name not in others}
        comments = [each.comment or "" for each in header.items] + [
            each.text for each in header.chapters
        ]
        environment = set(re.findall(r"\b(VOW_[A-Z_]+)=", "\n".join(comments)))
        # The unions inside of structs: `as.integer` is written without the struct's name.
        self.inside = {
            f"{member.name}.{one.name}"
            for item in header.items
            for member in item.members
            for one in member.members
        }
        self.macros = header.defined | environment
        self.chapters = {each.number: each for each in header.chapters}

    def spans(self, text, item=None):
        """The text as spans, with every name in it told apart."""
        parameters = {each.name for each in item.parameters} if item else set()
        members = {each.name for each in item.members} if item else set()
        pattern = self._pattern(parameters)
        result, at = [], 0
        for found in pattern.finditer(text):
            if found.start() > at:
                result.append(Span("text", text[at : found.start()]))
            result.append(self._span(found, parameters | members))
            at = found.end()
        if at < len(text):
            result.append(Span("text", text[at:]))
        return result

    def _pattern(self, parameters):
        parts = [
            r"`(?P<quoted>[^`]+)`",
            r"(?P<call>\b[a-z_][a-z0-9_]*\((?:[^()]|\(\))+\))",
            r"(?P<member>\bvow_[a-z0-9_]+\.[a-z_]+)\b",
            rf"(?P<inside>\b(?:{'|'.join(map(re.escape, self.inside)) or '(?!)'})\b)",
            r"(?P<name>\bvow_[a-z0-9_]+\b(?:\(\))?)",
            r"(?P<setting>\bVOW_[A-Z_]+=\w+)",
            r"(?P<constant>\bVOW_[A-Z0-9_]+\b(?!\.\.\.)|\bVOW_[A-Z0-9_]+(?=s\b))",
            r"\bchapter (?P<chapter>\d+)",
            r"(?P<pointer>(?<![\w*])\*[a-z_]+\b)",
        ]
        if parameters:
            ordered = sorted(parameters, key=len, reverse=True)
            plain = [each for each in ordered if each in SHORT or "_" in each or each[-1].isdigit()]
            if plain:
                parts.append(rf"(?P<parameter>\b(?:{'|'.join(plain)})(?:->\w+)?(?![\w']))")
            parts.append(rf"(?P<shown>\b(?:{'|'.join(ordered)})\b(?:->\w+)?){SHOWS}")
            parts.append(rf"(?P<arrow>\b(?:{'|'.join(ordered)})->\w+)")
        return re.compile("|".join(parts))

    def _span(self, found, parameters):
        kind, text = found.lastgroup, found.group(found.lastgroup)
        if kind == "quoted":
            if text in parameters:
                return Span("parameter", text, text)
            inner = self.spans(text)
            if len(inner) == 1 and inner[0].kind != "text":
                return inner[0]
            return Span("code", text)
        if kind == "member":
            owner, name = text.split(".")
            known = owner in self.types and any(
                each.name == name for each in self.types[owner].members
            )
            return Span("member" if known else "unknown", text, owner)
        if kind == "call":
            name = text.partition("(")[0]
            if name.startswith("vow_"):
                return Span("function" if name in self.functions else "unknown", text, name)
        if kind == "name":
            name = text.removesuffix("()")
            if name in self.functions:
                return Span("function", text, name)
            return Span("type" if name in self.types else "unknown", text, name)
        if kind == "constant":
            if text in self.constants:
                return Span("constant", text, text)
            return Span("code" if text in self.macros else "unknown", text, text)
        if kind == "chapter":
            known = int(text) in self.chapters
            return Span("chapter" if known else "unknown", f"chapter {text}", text)
        if kind in ("parameter", "shown", "arrow"):
            return Span("parameter", text, text)
        if kind == "pointer":
            name = text.lstrip("*")
            return Span("parameter" if name in parameters else "code", text, name)
        return Span("code", text)
