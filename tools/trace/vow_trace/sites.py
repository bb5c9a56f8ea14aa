"""Turns sites like "app+0x1234 (name+0x1c)" into a file and a line, by addr2line where it is."""

import re
import shutil
import struct
import subprocess
from pathlib import Path

SITE = re.compile(r"^(.*?)\+0x([0-9a-fA-F]{1,16})(?:\s+\((.*)\))?$")
LONGEST = 4_000
AT_ONCE = 500
ENTRY = 56  # the bytes of a program header

def is_file(path):
    """Whether a file of that name is there and can be looked at, whatever a trace has for a name."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def binary_of(module, modules, places):
    """The file of a module: as it was given, as the trace names it, beside the trace, or in the PATH."""
    name = Path(module).name
    for each in places:
        if each.name == name and is_file(each):
            return each
    named = [modules.get(module), modules.get(name), module if "/" in module else None]
    named += [each / name for each in places if each.is_dir()]
    for each in named:
        if each and is_file(each):
            return Path(each)
    found = shutil.which(name)
    return Path(found) if found else None


def base_of(binary):
    """The address at which a file's offsets begin: 0 but for programs that are linked to a fixed place."""
    with open(binary, "rb") as file:
        head = file.read(64)
        if head[:6] != b"\x7fELF\x02\x01" or len(head) < 64:
            return 0
        (start,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        if size < ENTRY:
            return 0
        file.seek(min(start, 2**62))
        table = file.read(size * count)
    loaded = [
        struct.unpack_from("<Q", table, each + 16)[0]
        for each in range(0, len(table) - size + 1, size)
        if struct.unpack_from("<I", table, each)[0] == 1
    ]
    return min(loaded, default=0) & ~0xFFF


def lines_of(binary, offsets):
    """{offset: "file.c:12 (function)"} of those that addr2line knows."""
    found = {}
    try:
        base = base_of(binary)
    except OSError:
        return found
    for start in range(0, len(offsets), AT_ONCE):
        part = offsets[start : start + AT_ONCE]
        command = ["addr2line", "-f", "-C", "-e", str(binary), *(hex(base + each) for each in part)]
        try:
            answer = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", timeout=120, check=False)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return found
        lines = answer.stdout.splitlines()
        for offset, function, line in zip(part, lines[0::2], lines[1::2]):
            line = line.split(" (discriminator")[0]
            if not line.startswith("??") and not line.endswith((":?", ":0")):
                short = "/".join(line.split("/")[-2:])
                found[offset] = f"{short} ({function})" if function != "??" else short
    return found


def readable(text, site):
    """addr2line does not know what people call Swift's functions; the library does."""
    named = SITE.match(site)[3]
    if named and "($s" in text:
        return f"{text.split('($s')[0]}({named.rsplit('+0x', 1)[0]})"
    return text


def resolve(objects, modules, places):
    """Replaces the sites of these objects; returns (how many were resolved, what could not be, as sentences)."""
    by_module, complaints = {}, []
    for each in objects:
        match = SITE.match(each.site) if each.site and len(each.site) <= LONGEST else None
        if match:
            by_module.setdefault(match[1], {}).setdefault(int(match[2], 16), []).append(each)
    if by_module and not shutil.which("addr2line"):
        return 0, ["addr2line is not here (Debian: binutils): the sites stay as they are"]
    resolved = 0
    for module, offsets in sorted(by_module.items()):
        binary = binary_of(module, modules, places)
        if binary is None:
            complaints.append(f"{module}: no such file found; name it with --binary")
            continue
        lines = lines_of(binary, sorted(offsets))
        if not lines:
            complaints.append(f"{binary}: addr2line knows no line of it; was it built with -g?")
        for offset, text in lines.items():
            for each in offsets[offset]:
                each.site = readable(text, each.site)
                resolved += 1
    return resolved, complaints
