"""Takes one declaration apart: what it is called, its result, its parameters, its members."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .pieces import HeaderError, cut, without_comments

MARKS = r"\b(?:VOW_API|VOW_OWNED|VOW_SENDABLE|VOW_NULLABLE|VOW_NONNULL)\b"


@dataclass
class Parameter:
    name: str
    text: str  # as a C programmer writes it
    nullable: bool


@dataclass
class Member:
    name: str
    text: str
    comment: str | None
    members: list = field(default_factory=list)  # of a union or struct inside
    parameters: list = field(default_factory=list)  # of a pointer to a function


@dataclass
class Item:
    kind: str  # function, callback, struct, opaque, alias, constant
    name: str
    line: int
    comment: str | None = None
    own_comment: bool = False
    text: str = ""  # one line of C, without marks and body
    result: str = ""
    result_nullable: bool = False
    parameters: list = field(default_factory=list)
    members: list = field(default_factory=list)
    value: str = ""
    run: int = 0  # the same for neighbours without an empty line between


def tidy(text):
    """C text without marks, on one line, its stars next to the names."""
    text = " ".join(re.sub(MARKS, " ", without_comments(text)).split())
    text = re.sub(r"\* (?=[*\w()])", "*", text)
    text = re.sub(r"\*const\b", "* const", text).replace("* const", "*const")
    return re.sub(r"\( ", "(", text)


def split_parameters(text):
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "({") - (character in ")}")
        if character == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [] if [each.strip() for each in parts] in ([""], ["void"]) else parts


def parameter(text):
    plain = tidy(text)
    pointer = re.search(r"\(\*(?:\*?const )?(\w+)\)\(", plain)
    name = pointer.group(1) if pointer else re.search(r"(\w+)\s*(?:\[\w*\])?$", plain).group(1)
    nullable = re.search(rf"VOW_NULLABLE\s+{name}\b", text) is not None
    return Parameter(name, plain, nullable)


def _last_group(text):
    """Where the parentheses at the end of a text open."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return at
    raise ValueError(text)


def _function(text, name_pattern):
    """Result, name and parameters of a text that ends in a list of parameters."""
    opening = _last_group(text)
    head = text[:opening].rstrip()
    found = re.search(name_pattern, head)
    if not found:
        return None
    result = head[: found.start()]
    nullable = re.search(r"VOW_NULLABLE\s*$", result) is not None
    return tidy(result), nullable, found.group(1), text[opening + 1 : -1]


def members_of(body, line):
    members = []
    for piece in cut(body, line):
        if piece.kind == "comment":
            raise HeaderError(f"line {piece.line}: a comment that goes with no member")
        own = piece.comment if piece.own_comment else None
        inside = re.match(r"(?:union|struct)\s*\w*\s*\{(.*)\}\s*(\w+)\s*;$", piece.text, re.S)
        if inside:
            kind = piece.text.split()[0].rstrip("{")
            nested = members_of(inside.group(1), piece.line)
            members.append(Member(inside.group(2), kind, own, nested))
            continue
        text = without_comments(piece.text).rstrip(" ;")
        one = parameter(text)
        pointer = re.search(r"\(\*\w+\)\((.*)\)$", one.text)
        given = [parameter(each) for each in split_parameters(pointer.group(1))] if pointer else []
        members.append(Member(one.name, one.text, own, [], given))
    return members


def constant(piece):
    found = re.match(r"#\s*define\s+(\w+)\s+(.+)$", piece.text, re.S)
    if not found:
        raise HeaderError(f"line {piece.line}: only constants are expected, not '{piece.text}'")
    name, value = found.group(1), " ".join(found.group(2).split())
    return Item("constant", name, piece.line, text=f"#define {name} {value}", value=value)


def declaration(piece):
    """The item that a piece declares; None for names of others."""
    text = re.sub(r"^(?:extern|static inline)\s+", "", piece.text)
    if text.endswith("}"):  # An inline function: its body says nothing here.
        text = re.sub(r"\)\s*\{.*\}$", ")", text, flags=re.S)
    text = text.rstrip(" ;")
    item = None
    if found := re.match(r"typedef\s+struct\s+(\w+)\s*\{(.*)\}\s*(\w+)$", text, re.S):
        name = found.group(3)
        item = Item("struct", name, piece.line, text=f"typedef struct {name} {name};")
        first = piece.line + text.count("\n", 0, found.start(2))
        item.members = members_of(found.group(2), first)
    elif found := re.match(r"typedef\s+struct\s+(\w+)\s+(\w+)$", text):
        item = Item("opaque", found.group(2), piece.line, text=tidy(text) + ";")
    elif found := re.match(r"typedef\s+[\w\s]+?\s(\w+)$", text):
        item = Item("alias", found.group(1), piece.line, text=tidy(text) + ";")
    elif text.endswith(")"):
        is_type = text.startswith("typedef")
        plain = without_comments(re.sub(r"^typedef\s+", "", text)).strip()
        parts = _function(plain, r"\([*^](\w+)\)$" if is_type else r"(\w+)$")
        if parts:
            result, nullable, name, inside = parts
            item = Item("callback" if is_type else "function", name, piece.line)
            item.text = tidy(text) + ";"
            item.result, item.result_nullable = result, nullable
            item.parameters = [parameter(each) for each in split_parameters(inside)]
    if item is None:
        raise HeaderError(f"line {piece.line}: no declaration that is known here: '{text}'")
    return item if item.name.startswith("vow_") else None
