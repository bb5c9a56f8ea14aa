"""Who owns what in a call, as far as the comments say it with the header's three words."""

from __future__ import annotations

import re
from dataclasses import dataclass

WORD = r"(borrowed|consumed|owned)"
COUNTED = (
    "vow_promise",
    "vow_resolver",
    "vow_executor",
    "vow_loop",
    "vow_token",
    "vow_scope",
    "vow_cancel_source",
    "vow_value",
)


@dataclass
class Fact:
    who: str  # a parameter's name, with a star for what it points to; or "result"
    words: list  # such as consumed, or "may be NULL"


class Ownership:
    """The facts about every function of a header."""

    def __init__(self, header):
        self.of = {}
        for chapter in header.chapters:
            before = None
            for item in chapter.items:
                if item.kind == "function":
                    self.of[item.name] = self._facts(item, chapter, before)
                    before = item

    def _facts(self, function, chapter, before):
        comment = " ".join((function.comment or "").split())
        words = {each.name: [] for each in function.parameters if _has_owner(each.text)}
        left_over = _direct(comment, words)
        result = None
        for other in self._models(comment, before):
            result = result or _inherit(function, words, self.of[other])
        result = _from_chapter(function, chapter.text, words) or result
        result = _remaining(function, comment, left_over, words) or result
        return _listed(function, words, result)

    def _models(self, comment, before):
        """The functions that a comment says this one is like."""
        found = re.findall(r"\b[Aa]s (vow_\w+)", comment)
        if comment.startswith("The same") and before:
            found.append(before.name)
        return [each for each in found if each in self.of]


def _has_owner(text):
    """Whether a parameter's or result's type has an owner at all."""
    return "*" in text.split("(")[0] or any(each in text for each in COUNTED)


def _direct(comment, words):
    """Notes what is said of a parameter by name; returns the (phrase, word) that name none."""
    marks = [
        rf"(?P<phrase>[*`]?\b[\w`]+(?: [^().;:,]+?)?) \((?:each |at first )?{WORD}\b",
        rf"\((?P<phrase>\w+) {WORD}\b",
        rf"(?P<phrase>`\w+`), {WORD}\b",
    ]
    found = [
        (each.start(2), each["phrase"], each.group(2))
        for mark in marks
        for each in re.finditer(mark, comment)
    ]
    left_over = []
    for _, phrase, word in sorted(found):
        named = [each for each in re.findall(r"\w+", phrase) if each in words]
        both = re.search(r"\b(\w+) and (\w+)\b", phrase)
        if not (both and set(both.groups()) <= set(words)):
            named = named[-1:]
        named = [each for each in named if not words[each]]
        for each in named:
            words[each].append(word)
        if not named:
            left_over.append((phrase, word))
    return left_over


def _inherit(function, words, facts):
    """Takes over what is known of a function that this one is like; returns the result's word."""
    result = None
    for fact in facts:
        if fact.who == "result":
            result = fact.words[0] if _has_owner(function.result) else None
        elif words.get(fact.who) == []:
            words[fact.who] = [each for each in fact.words if each != "may be NULL"]
    return result


def _from_chapter(function, text, words):
    """What a chapter says of all its functions."""
    text = " ".join(text.split())
    for name in words:
        found = re.search(rf"`{name}` [^().;]*\({WORD}\)(?: whose (\w+) are {WORD})?", text)
        if found and not words[name]:
            words[name] = [found[1]] + ([f"its {found[2]} {found[3]}"] if found[2] else [])
    if re.match(r"Each [^.]*\bpromise \(owned\)", text) and function.result == "vow_promise *":
        return "owned"
    return None


def _remaining(function, comment, left_over, words):
    """Matches words that name no parameter: the only one left, or the result."""
    result, carries = None, _has_owner(function.result)
    for phrase, word in left_over:
        left = [
            each
            for each in function.parameters
            if words.get(each.name) == [] and "void *" not in each.text and "(" not in each.text
        ]
        if word == "owned":
            result = "owned" if carries else None
        elif len(left) == 1:
            words[left[0].name].append(word)
    if carries and result is None:
        if re.search(r"\bowned\b", comment.split(". ")[0]):
            return "owned"
        if re.search(r"\), borrowed\b|[.,] [Bb]orrowed\b", comment):
            return "borrowed"
    return result


def _listed(function, words, result):
    found = []
    for each in function.parameters:
        told = words.get(each.name, []) + (["may be NULL"] if each.nullable else [])
        star = "*" if told[:1] == ["owned"] else ""
        if told:
            found.append(Fact(star + each.name, told))
    return found + ([Fact("result", [result])] if result else [])
