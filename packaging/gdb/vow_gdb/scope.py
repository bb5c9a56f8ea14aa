"""A scope in words. Its layout is that of Sources/VowCore/Combinators/Scope.swift."""

from . import memory, record, value
from .memory import Unreadable

MOST_MEMBERS = 100000


def describe(library, address):
    if library.is_checked:
        library.check_seal(address + 224, "a scope", library.SCOPE)
    _check_promise(library, address)
    first, _, is_cancelled = memory.unpack("QQB", address + 104)
    # Those that were cancelled, and those that were reported then, stand in lists of their own.
    others = memory.unpack("QQ", address + 144)
    members = _count(first) + _count(others[0]) + _count(others[1])
    text = "%d member%s" % (members, "" if members == 1 else "s")
    text += ", cancelled" if is_cancelled else ""
    kind = memory.unpack("I", address + 128)[0]
    if kind != value.NONE:
        text += ", failed with " + value.describe(library, kind, memory.word(address + 136))
    return text


def _check_promise(library, address):
    """It stands in the memory of the promise of its end, and both know how far apart they are."""
    distance = memory.unpack("H", address + 52)[0]
    if not 0 < distance < 256 or (address - distance) % 16:
        raise Unreadable("not a scope (freed, or something else)")
    end = record.Record(library, address - distance)
    owner = memory.unpack("H", end.address + library.record_size + 20)[0]
    if not end.is_produced or end.kind() != "scope" or owner != distance:
        raise Unreadable("not a scope (freed, or something else)")


def _count(member):
    count = 0
    while member and count < MOST_MEMBERS:
        count += 1
        member = memory.word(member)
    return count
