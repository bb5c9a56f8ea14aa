"""A C++ header for Doxygen: the first comment is the file's, and neighbours share one as in C."""

import re


def render(text, main=False):
    """The text; a declaration right below a documented one, with no comment, gets that one's.

    The first comment of the `main` header is the front page, too.
    """
    # What is made known to std is no name of this library, and Doxygen cannot place it.
    text = re.sub(r"^(template <.*>\n?)?\s*struct std::.*?^\};$", "", text, flags=re.M | re.S)
    # Nobody writes the inline namespace; the pages do not, either.
    text = re.sub(r"^(inline namespace v1 \{|\} // namespace v1)\n", "", text, flags=re.M)
    lines = [
        _escaped(line) if line.lstrip().startswith("///") else line for line in text.split("\n")
    ]
    first = next((at for at, line in enumerate(lines) if not line.startswith("///")), 0)
    if first:
        front = (
            [
                "/// @mainpage Vow, promises for C++",
                "///",
                *lines[:first],
                "",
                "/// Promises for C++.",
                "namespace vow {}",
                "",
            ]
            if main
            else []
        )
        lines[0] = lines[0].replace("///", "/// @file\n///", 1)
    shared, indent, ended = [], "", False
    result = (front if first else []) + lines[:first]
    for line in lines[first:]:
        here = re.match(r" *", line)[0]
        if not line.strip():
            shared = []
        elif line.strip().startswith("///"):
            if ended or here != indent or not result[-1].strip().startswith("///"):
                shared = []
            shared, indent, ended = [*shared, line], here, False
        elif shared and here == indent:
            if ended and re.match(r"[A-Za-z_\[~:]", line.strip()):
                result += shared
            ended = line.rstrip().endswith((";", "}"))
        elif len(here) < len(indent):
            shared = []
        result.append(line)
    return "\n".join(result)


def _escaped(comment):
    """A comment in which `promise<T>` is no tag; what stands in backticks is left alone."""
    parts = re.split(r"(`[^`]*`)", comment)
    return "".join(
        part if part.startswith("`") else re.sub(r"[<>]", r"\\\g<0>", part) for part in parts
    )
