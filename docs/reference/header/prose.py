"""Comments as text: paragraphs, lists of terms and code; their sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass
class Block:
    kind: str  # text, terms or code
    text: str = ""
    rows: list | None = None  # of terms: (term, text)
    closed: bool = False  # its paragraph is over


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
