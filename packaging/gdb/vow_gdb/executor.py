"""An executor in words. Its layout is that of Sources/VowCore/Records/ExecutorRecord.swift."""

from . import code, memory
from .memory import Unreadable

INLINE, POOL, SERIAL, DISPATCH, BARRIER, CUSTOM, LOOP = range(7)
KINDS = ("inline", "pool", "serial", "dispatch", "dispatch, as a barrier", "custom", "loop")

MOST_COUNTED = 10000


def name(library, address):
    """What it is called in traces, as far as memory tells: a dispatch queue's label is libdispatch's."""
    text = _name(*_fields(library, address))
    label = _label(library, address)
    return "%s %s" % (text, label) if label else text


def _label(library, address):
    """That of a serial executor in the pool, behind its record; None: it has none."""
    size = memory.word(address + 128)
    if not 1 < size <= MOST_COUNTED:
        return None
    start = address + (144 if library.is_checked else 136)
    return memory.read(start, size - 1).decode("utf-8", "replace")


def _fields(library, address):
    kind, is_immortal, is_serial = memory.unpack("BBB", address + 48)
    if library.is_checked:
        library.check_seal(address + 136, "an executor", library.EXECUTOR)
    if kind >= len(KINDS) or is_immortal > 1 or is_serial > 1:
        raise Unreadable("not an executor (freed, or something else)")
    if kind in (INLINE, POOL) and not is_immortal:
        raise Unreadable("not an executor (freed, or something else)")
    if not is_immortal and memory.word(address + 40) == 0:
        raise Unreadable("freed")
    return kind, is_immortal, is_serial, memory.word(address + 64)


def _name(kind, is_immortal, _is_serial, cls):
    if kind == SERIAL and is_immortal:
        return "main"
    if kind == CUSTOM and cls:
        # Known by the program's function that takes its work.
        submit = memory.word(cls + 8)
        return "custom (%s)" % (code.function_at(submit) or "%#x" % submit)
    return KINDS[kind]


def describe(library, address):
    fields = _fields(library, address)
    kind, is_immortal, is_serial, _ = fields
    text = _name(*fields)
    if is_serial and kind not in (SERIAL, LOOP):
        text += ", one handler at a time"
    queue = memory.word(address + 56)
    if kind in (SERIAL, DISPATCH, BARRIER) and queue and not is_immortal:
        text += ", queue %#x" % queue
    if kind in (SERIAL, LOOP):
        ready = waiting(library, address)
        if ready:
            text += ", " + ready
    return text


def waiting(library, address):
    """ "2 handlers ready to run", or "" for none, of an executor that runs one at a time."""
    count = 0
    for first in (memory.word(address + 24), memory.word(address + 112) & ~1):
        member = first
        while member and count < MOST_COUNTED:
            count += 1
            member = memory.word(member + library.record_size)
    return "%d handler%s ready to run" % (count, "" if count == 1 else "s") if count else ""
