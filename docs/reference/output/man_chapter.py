"""One manual page of section 7: a chapter of the header, and the list of its pages."""

from .man_page import see_also
from .man_text import ManText


def render(chapter, reference):
    pages = reference.pages
    text = ManText(reference.names, pages)
    slug = pages.slug(chapter)
    own = [each for each in pages.pages if each.chapter is chapter]
    lines = [
        *reference.head(slug, 7),
        ".Sh NAME",
        f".Nm {slug}",
        f".Nd {pages.about(chapter)}",
        ".Sh DESCRIPTION",
    ]
    if chapter.text:
        lines += text.body(chapter.text)
        lines.append(".Pp")
    lines += ["These pages of section 3 belong to it:", ".Bl -tag -width Ds -compact"]
    for page in own:
        names = [each.name for each in page.items if each.kind == "function"]
        heads = [page.name] + [each for each in names if each != page.name]
        lines.append(".It " + " , ".join(f"Xr {each} 3" for each in heads))
        lines += text.sentence(page.summary)
    lines += [".El", *see_also({("vow", 7)} | near(chapter, reference))]
    return "\n".join(lines) + "\n", text.problems


def near(chapter, reference):
    """The chapters before and behind."""
    chapters = reference.header.chapters
    at = chapters.index(chapter)
    found = chapters[max(0, at - 1) : at] + chapters[at + 1 : at + 2]
    return {(reference.pages.slug(each), 7) for each in found}
