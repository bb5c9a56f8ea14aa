"""The header as C text for Doxygen: a group for each chapter, comments in Doxygen's words."""

import re
from html import escape

from header import borrowed_words
from header.ownership import Ownership
from header.pages import Pages
from header.names import Names
from header.prose import blocks, sentences, split_returns


class DoxygenText:
    def __init__(self, header, root):
        self.header = header
        self.names = Names(header)
        self.pages = Pages(header, root / "docs/reference/pages")
        self.ownership = Ownership(header)
        self.problems = []

    def render(self):
        lines = ["/** @file", " * Promises for C: the whole interface.", " */", *self._main_page()]
        for chapter in self.header.chapters:
            lines += self._chapter(chapter)
        return "\n".join(lines) + "\n"

    def _main_page(self):
        lines = [
            "/** @mainpage Vow, promises for C",
            " *",
            " * The functions, types and constants of `vow.h`, in the header's chapters:",
            " * <dl>",
        ]
        for chapter in self.header.chapters:
            link = f'@ref {self.pages.slug(chapter)} "{chapter.number}. {chapter.title}"'
            lines.append(f" * <dt>{link}</dt><dd>{self.pages.about(chapter)}</dd>")
        return [
            *lines,
            " * </dl>",
            " * @section rules Rules that hold for every function",
            *self._body(self.header.rules),
            " */",
        ]

    def _chapter(self, chapter):
        slug = self.pages.slug(chapter)
        lines = [
            f"/** @defgroup {slug} {chapter.number}. {chapter.title}",
            f" * @brief {capital(self.pages.about(chapter))}",
            " *",
            *self._body(chapter.text),
            " * @{ */",
            "",
        ]
        # The table of pages may say that something belongs to another chapter than it stands in.
        for item in self.header.items:
            page = self.pages.of(item.name)
            if page and page.chapter is chapter:
                lines += [*self._comment(item), *self._declaration(item), ""]
        return [*lines, "/** @} */", ""]

    def _declaration(self, item):
        if item.kind == "struct":
            return self._struct(item)
        # Doxygen knows no blocks; the comment says what it is.
        return [item.text.replace(f"(^{item.name})", f"(*{item.name})")]

    def _struct(self, item):
        def lines(members, path, indent):
            for each in members:
                if each.members:
                    shown = " or ".join(f"`{one.name}`" for one in each.members)
                    yield f"{indent}/** {self._inline(shown, item)}, by the kind. */"
                    yield f"{indent}{each.text} {{"
                    yield from lines(each.members, (*path, each.name), indent + "    ")
                    yield f"{indent}}} {each.name};"
                    continue
                said = each.comment or borrowed_words.of_member(self.header, item, each, path)
                if said:
                    yield f"{indent}/**"
                    yield from (indent + line for line in self._body(capital(said), item))
                    if path:
                        yield f"{indent} *"
                        yield f"{indent} * Written <tt>{'.'.join([*path, each.name])}</tt>."
                    yield f"{indent} */"
                yield f"{indent}{each.text};"

        return [
            f"typedef struct {item.name} {{",
            *lines(item.members, (), "    "),
            f"}} {item.name};",
        ]

    def _comment(self, item):
        """An item's comment; what has none anywhere gets none, so that Doxygen complains."""
        comment = item.comment or ""
        if item.kind in ("constant", "alias") and not (item.own_comment and comment):
            elsewhere = borrowed_words.of_constant(self.header, item)
            if elsewhere:
                return ["/**", *self._body(f"See {elsewhere}.", item), " */"]
        if not comment:
            return []
        returns = ""
        if item.kind == "function":
            comment, returns = split_returns(comment)
        lines = ["/**", *self._body(capital(comment), item)]
        if f"(^{item.name})" in item.text:
            lines += [" *", f" * In C: <tt>{escape(item.text)}</tt>"]
        lines += self._facts(item) + self._returns(item, returns)
        return [*lines, " */"]

    def _facts(self, item):
        facts = self.ownership.of.get(item.name, [])
        lines = []
        for fact in facts:
            if fact.who != "result":
                words = [f"<b>{each}</b>" if " " not in each else each for each in fact.words]
                direction = "[out]" if fact.who.startswith("*") else ""
                lines.append(f" * @param{direction} {fact.who.lstrip('*')} {', '.join(words)}")
        return [" *", *lines] if lines else []

    def _returns(self, item, returns):
        owner = [
            each.words[0] for each in self.ownership.of.get(item.name, []) if each.who == "result"
        ]
        said = re.sub(r"^Returns ", "", returns)
        if not said and not owner:
            return []
        word = f"<b>{owner[0]}</b>" if owner and f"({owner[0]})" not in said else ""
        text = [line[3:] for line in self._body(capital(said), item)]
        return [
            " *",
            f" * @return {word}{': ' if word and text else ''}" + (text[0] if text else ""),
            *(f" * {line}" for line in text[1:]),
        ]

    def _body(self, text, item=None):
        lines = []
        for index, block in enumerate(blocks(text)):
            if block.kind == "text":
                if index:
                    lines.append(" *")
                lines += [f" * {self._inline(each, item)}" for each in sentences(block.text)]
            elif block.kind == "terms":
                rows = [
                    f"<dt>{self._inline(term, item)}</dt><dd>{self._inline(said, item)}</dd>"
                    for term, said in block.rows
                ]
                lines += [" * <dl>", *(f" * {each}" for each in rows), " * </dl>"]
            else:
                lines += [
                    " * @verbatim",
                    *(f" * {each}" for each in block.text.rstrip().split("\n")),
                    " * @endverbatim",
                ]
        return [line for line in lines if line.strip() != "*" or len(lines) > 1]

    def _inline(self, text, item=None):
        return "".join(self._span(each) for each in self.names.spans(text, item))

    def _span(self, span):
        text = plain(span.text)
        if span.kind == "text":
            return text
        if span.kind == "function":
            called = span.text if "(" in span.text else f"{span.text}()"
            return f'@ref {span.name} "{called}"'
        if span.kind == "chapter":
            chapter = self.names.chapters[int(span.name)]
            return f'@ref {self.pages.slug(chapter)} "chapter {span.name}, {chapter.title}"'
        if span.kind in ("type", "constant"):
            return f'@ref {span.name} "{span.text}"'
        if span.kind == "member":
            return f'@ref {span.text.replace(".", "::")} "{span.text}"'
        if span.kind == "unknown":
            self.problems.append(f"nothing is called {span.text}")
            return f"@ref {span.text}"
        return f"<tt>{text}</tt>"


def plain(text):
    """Text in which Doxygen sees no commands and no links; in quotes it would not see the escapes."""
    text = escape(text, quote=False).replace('"', "&quot;")
    return re.sub(r"([@\\%#])", r"\\\1", text)


def capital(text):
    """A few words as a sentence: the first letter large, unless it is a name's, and a full stop."""
    if text and text.rstrip()[-1] not in ".:;!?" and "\n  " not in text:
        text = text.rstrip() + "."
    first = re.match(r"[\w`*]+", text)
    if not first or re.search(r"[_`*\d]", first[0]) or text[len(first[0]) :][:1] in ("(", ".", "'"):
        return text
    return text[:1].upper() + text[1:]
