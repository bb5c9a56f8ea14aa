"""The synopsis of a manual page: declarations as they are in C."""

from .man_text import literal
from .mdoc import macro


def synopsis(items):
    """The lines of the section: every declaration of a page, in the header's order."""
    lines, before = [".Sh SYNOPSIS", ".In vow.h"], None
    for item in items:
        if item.kind == "constant":
            lines.append(macro("Fd", item.text))
        elif item.kind == "struct":
            lines += [".Bd -literal", *literal(definition(item)), ".Ed"]
        elif item.kind in ("opaque", "alias"):
            lines += ([".Pp"] if before == "struct" else []) + [macro("Vt", item.text)]
        else:
            lines += ([".Pp"] if before == "struct" else []) + _function(item)
        before = item.kind
    return lines


def _function(item):
    is_type = item.kind == "callback"
    star = "^" if f"(^{item.name})" in item.text else "*"
    name = f"({star}{item.name})" if is_type else item.name
    result = f"typedef {item.result}" if is_type else item.result
    given = [each.text for each in item.parameters] or ["void"]
    return [
        macro("Ft", result),
        macro("Fo", name),
        *(macro("Fa", each) for each in given),
        ".Fc",
    ]


def definition(item):
    """A struct as C text without comments."""

    def lines(members, indent):
        for each in members:
            if each.members:
                yield f"{indent}{each.text} {{"
                yield from lines(each.members, indent + "    ")
                yield f"{indent}}} {each.name};"
            else:
                yield f"{indent}{each.text};"

    return "\n".join(
        [f"typedef struct {item.name} {{", *lines(item.members, "    "), f"}} {item.name};"]
    )
