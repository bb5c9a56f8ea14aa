"""Cuts C text into comments, directives and declarations; gives each comment to what it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass


class HeaderError(Exception):
    """The header has something in it that this reader does not understand."""


@dataclass
class Piece:
    kind: str  # comment, directive or declaration
    text: str  # as it stands in the file
    line: int
    after_blank: bool  # an empty line stands before it
    comment: str | None = None  # what goes with it, without its marks
    own_comment: bool = False  # False: the comment is shared with the piece before
    begins_run: bool = False  # an empty line stands before it, or before its comment


def bare(comment):
    """The text of a comment: no marks, no stars, its indentation kept."""
    lines = re.sub(r"^\*<?(?= )", "", comment[2:-2]).split("\n")
    lines = [lines[0].strip()] + [re.sub(r"^\s*\*? ?", "", each).rstrip() for each in lines[1:]]
    return "\n".join(lines).strip("\n")


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def _end_of_directive(text, at):
    """Where a directive ends: at its line's end, or where a comment begins."""
    while at < len(text) and text[at] != "\n" and not text.startswith("/*", at):
        at += 2 if text[at] == "\\" else 1
    return at


def _end_of_declaration(text, at, line):
    """Behind the semicolon, or behind the body of a function."""
    start, depth, body = at, 0, False
    while at < len(text):
        if text.startswith("/*", at):
            at = text.index("*/", at) + 2
            continue
        character = text[at]
        if character in "({":
            body = body or (
                character == "{" and depth == 0 and text[start:at].rstrip().endswith(")")
            )
            depth += 1
        elif character in ")}":
            depth -= 1
            if depth == 0 and body and character == "}":
                return at + 1
        elif character == ";" and depth == 0:
            return at + 1
        at += 1
    raise HeaderError(f"line {line}: a declaration without an end")


def cut(text, first_line=1):
    """The pieces of a text, in order, comments that go with nothing among them."""
    pieces, at = [], 0
    while True:
        space = re.compile(r"\s*").match(text, at)
        blank, at = space.group().count("\n") > 1, space.end()
        if at == len(text):
            return _with_comments(pieces)
        line = first_line + text.count("\n", 0, at)
        if text.startswith("/*", at):
            kind, end = "comment", text.index("*/", at) + 2
        elif text[at] == "#":
            kind, end = "directive", _end_of_directive(text, at)
        elif word := re.compile(r"[A-Z_]+\n").match(text, at):
            at = word.end() - 1  # A mark such as VOW_ASSUME_NONNULL_END.
            continue
        else:
            kind, end = "declaration", _end_of_declaration(text, at, line)
        trails = kind == "comment" and pieces and "\n" not in space.group()
        if trails and pieces[-1].kind != "comment":
            pieces[-1].comment, pieces[-1].own_comment = bare(text[at:end]), True
        else:
            pieces.append(Piece(kind, text[at:end].rstrip(), line, blank))
        at = end


def _with_comments(pieces):
    """Gives each comment to what follows it without an empty line between, neighbours included."""
    result, shared = [], None
    for index, piece in enumerate(pieces):
        if piece.after_blank:
            shared, piece.begins_run = None, True
        if piece.kind == "comment":
            following = pieces[index + 1] if index + 1 < len(pieces) else None
            if following and not following.after_blank and following.kind != "comment":
                shared = bare(piece.text)
                following.own_comment = True
                following.begins_run = piece.begins_run
                following.comment = following.comment or shared
                continue
            piece.comment = bare(piece.text)
            result.append(piece)
            continue
        if piece.comment is None:
            piece.comment = shared
        result.append(piece)
    return result
