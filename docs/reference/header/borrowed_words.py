"""What is said elsewhere of names that have no comment of their own."""

import re

from .prose import first_sentence, sentences


def of_constant(header, item):
    """The name of what explains a constant or a type: a neighbour, else who speaks of it first."""
    neighbours = [each for each in header.items if each.run == item.run and each.own_comment]
    others = [each for each in header.items if each.comment and each not in neighbours]
    for each in others:
        if each.kind == "function" and re.search(
            rf"\b{item.name}\b", f"{each.comment} {each.result}"
        ):
            return each.name
    named = [each for each in neighbours if each.kind == item.kind]
    return named[0].name if named else None


def of_member(header, owner, member, path=()):
    """What the comments say of a member that has none: "" if nothing."""
    names = [member.name, ".".join([*path, member.name])]
    for sentence in sentences(" ".join((owner.comment or "").split())):
        if any(f"`{each}`" in sentence for each in names):
            return sentence
    for item in header.items:
        if (
            item.kind == "constant"
            and path
            and re.match(rf"{re.escape(names[1])}\b", item.comment or "")
        ):
            return f"The content of a {item.name}."
    kind = header.named(member.text.split()[0])
    if kind and kind.comment:
        return first_sentence(kind.comment)
    users = [
        each.name
        for each in owner.members
        if any(one.name == member.name for one in each.parameters)
    ]
    if users:
        return f"Given to {' and '.join(f'`{each}`' for each in users)}."
    return ""
