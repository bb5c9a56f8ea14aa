"""Reading the program's memory, and saying so where it cannot be read."""

import struct

import gdb


class Unreadable(Exception):
    """What is looked for cannot be shown; the text says why."""


def read(address, size):
    try:
        return bytes(gdb.selected_inferior().read_memory(address, size))
    except (gdb.MemoryError, OverflowError):
        raise Unreadable("no memory at %#x" % address) from None
    except gdb.error as error:
        raise Unreadable(str(error)) from None


def unpack(layout, address):
    """The fields at an address; every machine that libvow runs on is little-endian."""
    return struct.unpack("<" + layout, read(address, struct.calcsize("<" + layout)))


def word(address):
    return unpack("Q", address)[0]


def signed(bits):
    return bits - (1 << 64) if bits >> 63 else bits


def string(address, most=256):
    """The bytes up to the NUL, `most` of them at most."""
    taken = b""
    while len(taken) < most:
        # Not across the end of a page, behind which there may be nothing.
        size = min(most - len(taken), 4096 - (address + len(taken)) % 4096)
        piece = read(address + len(taken), size)
        end = piece.find(b"\0")
        if end >= 0:
            return taken + piece[:end]
        taken += piece
    return taken


def quoted(raw, is_cut=False):
    """Bytes as they would stand in a C program, with all letters of UTF-8 as they are."""
    text = ""
    for letter in raw.decode("utf-8", "backslashreplace"):
        if letter in "\"\\" and not letter.isspace():
            text += "\\" + letter
        elif letter.isprintable():
            text += letter
        else:
            text += {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(letter, "\\%03o" % ord(letter))
    return '"%s"%s' % (text, "..." if is_cut else "")
