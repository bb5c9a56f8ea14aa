"""Comments as text: paragraphs, lists of terms and code; their sentences; the names in them."""

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
class Block:
    kind: str  # text, terms or code
    text: str = ""
    rows: list | None = None  # of terms: (term, text)
    closed: bool = False  # its paragraph is over


@dataclass
class Span:
    kind: str  # text, function, type, constant, parameter, member, chapter, code, unknown
    text: str
    name: str = ""


def blocks(text):
    """A comment's blocks: what is indented by two is a list of terms, or code."""
    result = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        lines = paragraph.split("\n")
        margin = min((len(each) - len(each.lstrip()) for each in lines if each.strip()), default=0)
        for line in (each[margin:] for each in lines):
            term = re.match(r" {2,}(\S+) {2,}(\S.*)", line)
            last = result[-1] if result else None
            if term and (not last or last.kind != "code"):
                if not last or last.kind != "terms" or last.closed:
                    result.append(Block("terms", rows=[]))
                result[-1].rows.append(term.groups())
            elif line.startswith("  ") and last and last.kind == "terms" and not last.closed:
                term, before = last.rows[-1]
                last.rows[-1] = (term, f"{before} {line.strip()}")
            elif line.startswith("  "):
                if not last or last.kind != "code" or last.closed:
                    result.append(Block("code"))
                result[-1].text += line[2:] + "\n"
            else:
                if not last or last.kind != "text" or last.closed:
                    result.append(Block("text"))
                result[-1].text = f"{result[-1].text} {line.strip()}".strip()
        if result:
            result[-1].closed = True
    return result


def sentences(text):
    return re.split(r"(?<=[.!?])(?<!\b[a-z]\.[a-z]\.)(?<!\.\.\.) +(?=\S)", text.strip())


def first_sentence(text):
    found = blocks(text)
    return sentences(found[0].text)[0] if found and found[0].kind == "text" else ""


def split_returns(text):
    """What a comment says, and, apart from that, what its last sentences say of the result."""
    body, _, table = text.partition("\n  ") if "\n  " in text else (text, "", "")
    paragraphs = re.split(r"\n\s*\n", body)
    said = sentences(" ".join(paragraphs[-1].split()))
    for index, sentence in enumerate(said):
        if not re.match(r"(Returns|True|Whether) ", sentence):
            continue
        rest = said[index + 1 :]
        if any(not re.match(r"[^.]*\b(NULL|VOW_\w+|[Nn]egative)\b[^.]*: ", each) for each in rest):
            continue
        before = " ".join(said[:index])
        kept = "\n\n".join([*paragraphs[:-1], *([before] if before else [])])
        if not kept.strip():
            return text, ""
        if table and _goes_on(table):
            return text, ""
        return kept, " ".join(said[index:]) + (f"\n  {table}" if table else "")
    return text, ""


def _goes_on(table):
    """Whether text follows a table, which then speaks of more than the table does."""
    return any(line and not line.startswith("  ") for line in table.split("\n"))


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
