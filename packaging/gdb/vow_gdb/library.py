"""Finds libvow in the program, and how its objects are laid out in that build."""

import gdb

from . import memory
from .memory import Unreadable

# Of the layouts of records, boxes, executors and the table that these files know.
KNOWN_VERSION = 4

# A seal is one of these and the address of the copy's mark, by exclusive or: see Sources/VowCore/Records/Seal.swift.
# What it belongs to stands in its highest byte.
LIVE_MARK = 0x766F775F6C697665
FREED_MARK = 0x766F775F66726565


class Library:
    """What the library says of itself in `vow_platform_trace_view`: see trace.h."""

    PROMISE, EXECUTOR, SOURCE, VALUE, LOOP, SCOPE, REGISTRATION = range(7)

    def __init__(self):
        view = _address_of_view()
        version, self.entry_size = memory.unpack("II", view)
        if version != KNOWN_VERSION:
            raise Unreadable(
                "this libvow has layout %d, and these gdb commands know %d: use those that were"
                " installed with it" % (version, KNOWN_VERSION)
            )
        self.entries, self.capacity, self.count = memory.unpack("QQQ", view + 8)
        self.record_size, self.box_size, self.is_checked = memory.unpack("III", view + 32)
        self.copy = memory.word(view + 48)

    def check_seal(self, address, what, kind):
        """In a checked build: refuses what was freed, or never was an object."""
        if not self.is_checked:
            return
        mark = memory.word(address) ^ self.copy
        if mark == FREED_MARK:
            raise Unreadable("freed: %s was released before" % what)
        if mark != LIVE_MARK ^ kind << 56:
            raise Unreadable("not %s" % what)


def _address_of_view():
    try:
        return int(gdb.parse_and_eval("(unsigned long)&vow_platform_trace_view"))
    except gdb.error:
        pass
    # A library without symbols has its sections still, and the view has one of its own.
    for line in gdb.execute("info files", to_string=True).splitlines():
        words = line.split()
        if "vow_trace_view" in words and words[0].startswith("0x"):
            return int(words[0], 16)
    raise Unreadable("no libvow found: it is not loaded")
