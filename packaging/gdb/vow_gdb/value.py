"""A vow_value in words, as libvow itself writes them in its traces and reports."""

import struct

from . import memory
from .memory import Unreadable

NONE, BOOL, INT, DOUBLE, POINTER, STRING, OBJECT, LIST, ERROR, PROMISE = range(10)

DEEPEST_LIST = 8
MOST_VALUES = 200
LONGEST_STRING = 200

ERRORS = {
    -1: "VOW_EINVAL",
    -2: "VOW_ENOMEM",
    -3: "VOW_EFORKED",
    -4: "VOW_EBROKEN",
    -5: "VOW_ECYCLE",
    -6: "VOW_ECANCELLED",
    -7: "VOW_ETIMEDOUT",
    -8: "VOW_EDEADLOCK",
    -9: "VOW_EAGGREGATE",
    -10: "VOW_ESHUTDOWN",
    -11: "VOW_EREASON",
}


def describe(library, kind, bits):
    """A value by its kind and the 64 bits of its content."""
    return _Description(library).value(kind, bits, 0)


class _Description:
    def __init__(self, library):
        self.library = library
        self.left = MOST_VALUES

    def value(self, kind, bits, depth):
        self.left -= 1
        if kind == NONE:
            return "none"
        if kind == BOOL:
            return "true" if bits & 1 else "false"
        if kind == INT:
            return str(memory.signed(bits))
        if kind == DOUBLE:
            return repr(struct.unpack("<d", struct.pack("<Q", bits))[0])
        if kind == POINTER:
            return "pointer %#x" % bits
        if kind == PROMISE:
            return "promise %#x" % bits
        if kind in (STRING, OBJECT, LIST, ERROR):
            try:
                return self.box(kind, bits, depth)
            except Unreadable as problem:
                name = {STRING: "string", OBJECT: "object", LIST: "list", ERROR: "error"}[kind]
                return "%s %#x <%s>" % (name, bits, problem)
        return "<not a vow_value: kind %d>" % kind

    def box(self, kind, box, depth):
        if box == 0:
            raise Unreadable("no content")
        if self.library.is_checked:
            self.library.check_seal(box + 16, "a value", self.library.VALUE)
        count, own_kind = memory.unpack("QI", box)
        if own_kind != kind or count == 0:
            raise Unreadable("freed, or no content of a value")
        part = box + self.library.box_size
        return (self.string, self.object, self.list, self.error)[kind - STRING](part, depth)

    def string(self, part, _depth):
        length = memory.word(part)
        taken = memory.read(part + 8, min(length, LONGEST_STRING))
        return memory.quoted(taken, length > LONGEST_STRING)

    def object(self, part, _depth):
        pointer, cls = memory.unpack("QQ", part)
        name = ""
        if cls:
            try:
                name = memory.string(memory.word(cls + 8)).decode("utf-8", "replace") + " "
            except Unreadable:
                name = "of a class at %#x " % cls
        return "object %s%#x" % (name, pointer)

    def list(self, part, depth):
        count = memory.word(part)
        if depth >= DEEPEST_LIST:
            return "list of %d" % count
        items = []
        for index in range(count):
            if self.left <= 0:
                items.append("... (%d in all)" % count)
                break
            kind, _, bits = memory.unpack("IIQ", part + 8 + index * 16)
            items.append(self.value(kind, bits, depth + 1))
        return "[%s]" % ", ".join(items)

    def error(self, part, depth):
        number, kind, _, bits, domain_length, message_length, index, attempts = memory.unpack(
            "qIIQQQqq", part
        )
        texts = part + 56
        domain = memory.read(texts, min(domain_length, LONGEST_STRING)).decode("utf-8", "replace")
        text = "error %s %d" % (domain, number)
        if domain == "vow":
            text += " (%s)" % ERRORS.get(number, "unknown")
        if message_length:
            message = memory.read(texts + domain_length + 1, min(message_length, LONGEST_STRING))
            text += ": " + message.decode("utf-8", "replace")
            text += "..." if message_length > LONGEST_STRING else ""
        if index >= 0:
            text += " (member %d)" % index
        if attempts > 0:
            text += " (after %d attempt%s)" % (attempts, "" if attempts == 1 else "s")
        if kind != NONE and depth < DEEPEST_LIST:
            text += " [%s]" % self.value(kind, bits, depth + 1)
        return text
