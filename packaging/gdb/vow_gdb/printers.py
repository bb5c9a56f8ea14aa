"""What `print` shows for the types of vow.h."""

import gdb
import gdb.printing

from . import executor, loop, promise, registration, scope, source, value
from .library import Library
from .memory import Unreadable


class PromisePrinter:
    """Of vow_promise * and vow_resolver *: the same memory, seen with different rights."""

    def __init__(self, address, name):
        self.address = address
        self.name = name

    def to_string(self):
        return promise.shown(unmarked(self.address, self.name), self.name)


class HandlePrinter:
    """Of the other handles, each described by its own module."""

    def __init__(self, address, name):
        self.address = address
        self.name = name

    def to_string(self):
        if self.address == 0:
            return "(%s *) NULL" % self.name
        try:
            text = DESCRIPTIONS[self.name](Library(), unmarked(self.address, self.name))
        except Unreadable as problem:
            text = "<%s>" % problem
        return "(%s *) %#x %s" % (self.name, self.address, text)


class ValuePrinter:
    def __init__(self, shown):
        self.shown = shown

    def to_string(self):
        try:
            kind = int(self.shown["kind"])
            bits = int(self.shown["as"]["integer"]) & (1 << 64) - 1
            return value.describe(Library(), kind, bits)
        except gdb.MemoryError as problem:
            return "<%s>" % problem
        except Unreadable as problem:
            return "<%s>" % problem


DESCRIPTIONS = {
    "vow_executor": executor.describe,
    "vow_cancel_source": source.describe,
    "vow_token": source.describe,
    "vow_loop": loop.describe,
    "vow_scope": scope.describe,
    "vow_registration": registration.describe,
}
HANDLES = {"vow_promise": PromisePrinter, "vow_resolver": PromisePrinter}
HANDLES.update(dict.fromkeys(DESCRIPTIONS, HandlePrinter))


def unmarked(address, name):
    """In a checked build what is a second handle of an object is marked: see Seal.swift."""
    return address & ~8 if name in ("vow_resolver", "vow_token") else address


class Printers:
    """Finds the printer for a value; `info pretty-printer` lists it."""

    name = "vow"
    enabled = True
    subprinters = None

    def __call__(self, shown):
        plain = shown.type.strip_typedefs().unqualified()
        if plain.code == gdb.TYPE_CODE_PTR:
            target = plain.target().strip_typedefs().unqualified()
            if target.code == gdb.TYPE_CODE_STRUCT and target.name in HANDLES:
                # Without the type's marks, in which C++ and C differ.
                address = int(shown.cast(gdb.lookup_type("unsigned long")))
                return HANDLES[target.name](address, target.name)
        elif plain.code == gdb.TYPE_CODE_STRUCT and plain.name == "vow_value":
            return ValuePrinter(shown)
        return None


def register():
    gdb.printing.register_pretty_printer(None, Printers(), replace=True)
