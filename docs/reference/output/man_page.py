"""One manual page of section 3: functions that belong together, with their types and constants."""

from header import borrowed_words
from header.prose import split_returns

from .man_synopsis import synopsis
from .man_text import ManText, lowered
from .mdoc import macro


class ManPage:
    def __init__(self, page, reference):
        self.page = page
        self.reference = reference
        self.header = reference.header
        self.text = ManText(reference.names, reference.pages, page)
        self.functions = [each for each in page.items if each.kind == "function"]

    def render(self):
        lines = [
            *self.reference.head(self.page.name, 3),
            *self._name(),
            *synopsis(self.page.items),
            ".Sh DESCRIPTION",
            *self._description(),
            *self._ownership(),
            *self._return_values(),
            *self._examples(),
            *self._errors(),
            *self._see_also(),
        ]
        return "\n".join(lines) + "\n"

    def _name(self):
        names = [each.name for each in self.functions]
        if self.page.name in names:
            names.remove(self.page.name)
        names = [self.page.name, *names]
        listed = [f".Nm {each} ," for each in names[:-1]] + [f".Nm {names[-1]}"]
        library = [".Sh LIBRARY", "The Vow library", ".Pq libvow , Fl lvow"]
        return [".Sh NAME", *listed, f".Nd {self.page.summary}", *library]

    def _description(self):
        """The only entry as text, several as a list; those that share a comment share an entry."""
        entries = []
        for item in self.page.items:
            comment = self._comment(item)
            before = entries[-1][0] if entries else None
            if before and self._goes_with(before, item, comment == entries[-1][1]):
                before.append(item)
            else:
                entries.append(([item], comment))
        if len(entries) == 1:
            lines = self._entry(*entries[0])
        else:
            lines = [".Bl -tag -width Ds"]
            for items, comment in entries:
                heads = [each for each in items if not self._is_listed(items[0], each)]
                lines += [*self._heads(heads), *self._entry(items, comment)]
            lines.append(".El")
        chapter = self.reference.pages.slug(self.page.chapter)
        return [
            *lines,
            ".Pp",
            "The chapter to this is",
            f".Xr {chapter} 7 ;",
            "what holds for every function is in",
            ".Xr vow 7 .",
        ]

    @staticmethod
    def _is_listed(first, item):
        """Whether an item stands in a list below the type that it is of."""
        return first.kind == "alias" and item.kind == "constant" and item.own_comment

    @staticmethod
    def _goes_with(entry, item, same_comment):
        """Whether an item belongs to the entry before: by its comment, or its type."""
        if item.kind == "function":
            return same_comment
        first, last = entry[0], entry[-1]
        of_type = first.kind == "alias" or not (last.own_comment or item.own_comment)
        return item.kind == "constant" and last.run == item.run and of_type

    def _heads(self, items):
        """The names of an entry: functions below each other, others beside each other."""
        heads = [self._item(each) for each in items]
        if items[0].kind == "function":
            return heads
        return [" , ".join([heads[0], *(each.removeprefix(".It ") for each in heads[1:])])]

    @staticmethod
    def _item(item):
        if item.kind in ("function", "callback"):
            return ".It " + macro("Fn", item.name, *(each.name for each in item.parameters))[1:]
        return ".It " + macro("Dv" if item.kind == "constant" else "Vt", item.name)[1:]

    def _comment(self, item):
        """What an item's entry says; what speaks of the result stands in a section of its own."""
        return (
            split_returns(item.comment or "")[0] if item.kind == "function" else item.comment or ""
        )

    def _entry(self, items, comment):
        first = items[0]
        constants = [each for each in items if self._is_listed(first, each)]
        lines = self._said(first, comment)
        if constants:
            lines += [".Bl -tag -width VOW_EDEADLOCK -compact"]
            for each in constants:
                lines += [self._item(each), *self._said(each, each.comment)]
            lines += [".El"]
        if first.kind == "struct":
            lines += self._members(first)
        return lines

    def _said(self, item, comment):
        if comment:
            return self.text.body(comment, item)
        if item.kind not in ("constant", "alias"):
            self.text.problems.append(f"{item.name} has no comment")
            return []
        elsewhere = borrowed_words.of_constant(self.header, item)
        return self.text.sentence(f"See {elsewhere}.") if elsewhere else []

    def _members(self, item):
        lines = [".Bl -tag -width Ds"]
        for path, member in flat(item.members):
            said = member.comment or borrowed_words.of_member(self.header, item, member, path)
            lines.append(".It Va " + ".".join([*path, member.name]))
            lines += self.text.body(said, item) if said else []
        return [*lines, ".El"]

    def _ownership(self):
        rows = []
        for item in self.functions:
            for fact in self.reference.ownership.of[item.name]:
                rows.append((item.name, fact.who, ", ".join(fact.words)))
        if not rows:
            return []
        names = max((each[0] for each in rows), key=len)
        who = max((each[1] for each in rows), key=len)
        lines = [
            ".Sh OWNERSHIP",
            f'.Bl -column "{names}()" "{who}xx" "borrowed, may be NULL" -compact',
        ]
        before = None
        for name, one, words in rows:
            shown = "" if name == before else f"Fn {name} "
            lines.append(
                f".It {shown}Ta " + ("result" if one == "result" else f"Fa {one}") + f" Ta {words}"
            )
            before = name
        return [*lines, ".El"]

    def _return_values(self):
        """Type and owner of each result, and what the comments end with about it."""
        lines = []
        for item in self.functions:
            if item.result == "void":
                continue
            if lines:
                lines.append(".Pp")
            returns = split_returns(item.comment or "")[1]
            owner = [
                each.words[0]
                for each in self.reference.ownership.of[item.name]
                if each.who == "result"
            ]
            lines.append(f".Fn {item.name}")
            if returns:
                said = lowered(returns)
                lines += self.text.body(
                    said if said.startswith("returns") else f"returns {said}", item
                )
            else:
                lines += ["returns", macro("Vt", item.result) + (" ," if owner else " .")]
                lines += [f"{owner[0]}."] if owner else []
        return [".Sh RETURN VALUES", *lines] if lines else []

    def _examples(self):
        shown = self.reference.examples(self.page)
        if not shown:
            return []
        lines = [".Sh EXAMPLES", "In the source of the library:", ".Bl -tag -width Ds"]
        for path, said in shown:
            lines += [f".It Pa {path}", *self.text.sentence(said)]
        return [*lines, ".El"]

    def _errors(self):
        comments = " ".join(each.comment or "" for each in self.page.items)
        codes = [
            each
            for each in self.header.items
            if each.kind == "constant"
            and each.value.startswith("(-")
            and each.name.startswith("VOW_E")
            and f"{each.name}" in comments
        ]
        if not codes or any(each in self.page.items for each in codes):
            return []
        lines = [
            ".Sh ERRORS",
            "The codes that are named above mean:",
            ".Bl -tag -width VOW_EDEADLOCK -compact",
        ]
        for each in codes:
            lines += [f".It Dv {each.name}", *self.text.sentence(each.comment or "", each)]
        return [*lines, ".El"]

    def _see_also(self):
        pages = self.reference.pages
        near = {each.name for each in pages.pages if each.chapter is self.page.chapter} - {
            self.page.name
        }
        return see_also(
            {(name, 3) for name in near} | {("vow", 7), (pages.slug(self.page.chapter), 7)}
        )


def see_also(pages):
    ordered = sorted(pages, key=lambda each: (each[1], each[0]))
    lines = [f".Xr {name} {section} ," for name, section in ordered]
    return [".Sh SEE ALSO", *lines[:-1], lines[-1].removesuffix(" ,")]


def flat(members, path=()):
    """Members and those inside of them, each with its path; a union itself has none."""
    for each in members:
        if each.members:
            yield from flat(each.members, (*path, each.name))
        else:
            yield path, each
