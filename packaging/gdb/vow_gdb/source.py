"""A cancel source, or its token, in words: the same memory, of Sources/VowCore/Records/Registrations.swift."""

from . import memory, value
from .memory import Unreadable

# RegistrationKind
KINDS = ("reaction", "function", "linked source", "promise")

MOST_COUNTED = 100000


def describe(library, address):
    if library.is_checked:
        library.check_seal(address + 104, "a cancel source", library.SOURCE)
    sources, tokens = memory.unpack("II", address + 48)
    lock, is_cancelled = memory.unpack("QB", address + 56)
    if is_cancelled > 1 or lock > 1:
        raise Unreadable("not a cancel source (freed, or something else)")
    if sources == 0 and tokens == 0:
        raise Unreadable("freed")
    text = _cancelled(library, address) if is_cancelled else "not cancelled"
    if not is_cancelled and memory.word(address + 88) == 0:
        text += ", and nobody can any more"
    registered = _registered(address)
    if registered:
        text += "; registered: " + registered
    parents = memory.word(address + 80)
    if parents:
        text += "; linked to %d other%s" % (parents, "" if parents == 1 else "s")
    return text


def _cancelled(library, address):
    kind = memory.unpack("I", address + 24)[0]
    if kind == value.NONE:
        return "cancelled"
    return "cancelled with " + value.describe(library, kind, memory.word(address + 32))


def _registered(address):
    counts = [0] * len(KINDS)
    entry, left = memory.word(address), MOST_COUNTED
    while entry and left:
        kind = memory.unpack("B", entry + 18)[0]
        if kind >= len(KINDS):
            raise Unreadable("not a cancel source (freed, or something else)")
        counts[kind] += 1
        entry, left = memory.word(entry), left - 1
    return ", ".join(
        "%d %s%s" % (count, what, "" if count == 1 else "s")
        for what, count in zip(KINDS, counts)
        if count
    )
