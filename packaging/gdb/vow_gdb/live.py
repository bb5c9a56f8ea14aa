"""The table of live promises, which libvow keeps while tracing is on, and what waits for what in it."""

import struct
import time

import gdb

from . import memory, record
from .library import Library
from .memory import Unreadable

PENDING, FULFILLED, REJECTED = range(3)
STATES = ("pending", "fulfilled", "rejected")

# vow_trace_entry of trace.h
ENTRY = struct.Struct("<QQQQQQqqiiBBBxIdQ32sQQ")


class NotTraced(Unreadable):
    """There is no table."""


OFF = """\
Tracing is off in this program, so libvow keeps no list of its promises. Start the program with
VOW_TRACK=1 in its environment (in gdb: set environment VOW_TRACK 1, then run), or let it call
vow_trace_start(NULL). Without it, print PROMISE and vow-promise ADDRESS show single promises, and
vow-graph PROMISE what one reads or follows."""


class Entry:
    """One line of the table: a promise, a combinator's eye on one of its members, a waiting thread."""

    def __init__(self, fields):
        (
            self.record,
            self.id,
            self.reads,
            self.reads_id,
            self.owner,
            self.site,
            self.made,
            self.settled,
            self.made_by,
            self.settled_by,
            kind,
            self.state,
            self.follows,
            _,
            self.progress,
            label,
            executor,
            _,
            _,
        ) = fields
        # It may be in the middle of a change.
        if kind >= len(record.KINDS) or self.state > REJECTED or self.id == 0:
            raise Unreadable("not an entry")
        self.kind = record.KINDS[kind]
        self.is_promise = kind < record.MEMBER
        self.executor = executor.split(b"\0")[0].decode("utf-8", "replace")
        try:
            self.label = memory.string(label) if label else None
        except Unreadable:
            self.label = None

    @property
    def is_pending(self):
        return self.is_promise and self.state == PENDING

    @property
    def name(self):
        """ "0x4052a0 "socket" promise" """
        if self.kind == "thread":
            return thread_name(self.owner)
        label = " " + memory.quoted(self.label) if self.label is not None else ""
        return "%#x%s %s" % (self.record, label, self.kind)


class Table:
    """All of it, as it is now. Raises where there is none."""

    def __init__(self):
        if not gdb.selected_inferior().threads():
            raise Unreadable("The program is not running.")
        self.library = library = Library()
        if library.entries == 0 or library.capacity == 0:
            raise NotTraced(OFF)
        if library.entry_size != ENTRY.size or library.capacity > 1 << 32:
            raise Unreadable("The table of promises cannot be read: its view is damaged.")
        self.entries = {}
        self._by_record = {}
        for entry in self._read(library):
            # An entry that was being moved is there twice.
            self.entries[entry.id] = entry
            self._by_record[entry.record] = entry
        self._connect()

    @staticmethod
    def _read(library):
        at_once = 8192
        for start in range(0, library.capacity, at_once):
            count = min(at_once, library.capacity - start)
            raw = memory.read(library.entries + start * ENTRY.size, count * ENTRY.size)
            for fields in ENTRY.iter_unpack(raw):
                if fields[0] == 0:
                    continue
                try:
                    yield Entry(fields)
                except Unreadable:
                    pass

    def _connect(self):
        self._targets, self._waiters = {}, {}
        for entry in sorted(self.entries.values(), key=lambda entry: entry.id):
            target = self.entries.get(entry.reads_id) if entry.reads else None
            if target is None or not target.is_pending or target.record != entry.reads:
                continue
            if entry.is_promise and not entry.is_pending:
                continue
            waiter, how = entry, "follows" if entry.follows else "reads"
            if entry.kind == "member":
                waiter, how = self.entries.get(entry.owner), "needs"
                if waiter is None or not waiter.is_pending:
                    continue
            elif entry.kind == "thread":
                how = "waits for"
            self._targets.setdefault(waiter.id, []).append((how, target))
            self._waiters.setdefault(target.id, []).append((how, waiter))

    def at(self, address):
        return self._by_record.get(address)

    def pending(self):
        """Oldest first."""
        return [entry for entry in self._in_order() if entry.is_pending]

    def threads(self):
        return [entry for entry in self._in_order() if entry.kind == "thread"]

    def _in_order(self):
        return sorted(self.entries.values(), key=lambda entry: entry.id)

    def count(self):
        return sum(entry.is_promise for entry in self.entries.values())

    def targets(self, entry):
        """What an entry waits for: how, and for which one."""
        return self._targets.get(entry.id, [])

    def waiters(self, entry):
        return self._waiters.get(entry.id, [])

    def is_open_end(self, entry):
        """It is for somebody with a resolver to settle it, and nobody has begun to."""
        if not entry.is_pending or entry.kind != "promise" or self.targets(entry):
            return False
        try:
            return record.Record(self.library, entry.record).phase in (record.OPEN, record.CANCELLED)
        except Unreadable:
            return True


class Clock:
    """Now, by the clock that libvow writes its times with."""

    def __init__(self, table):
        self.is_exact = _runs_here()
        if self.is_exact:
            self.now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        else:
            # Of a core file or a distant machine only this is known.
            times = [max(entry.made, entry.settled) for entry in table.entries.values()]
            self.now = max(times, default=0)

    def age(self, entry):
        nanoseconds = max(self.now - entry.made, 0)
        seconds = nanoseconds / 1e9
        if seconds < 1:
            text = "%d ms" % (nanoseconds // 1000000)
        elif seconds < 120:
            text = "%.1f s" % seconds
        elif seconds < 7200:
            text = "%d min" % (seconds // 60)
        else:
            text = "%.1f h" % (seconds / 3600)
        return text if self.is_exact else "at least " + text


def _runs_here():
    inferior = gdb.selected_inferior()
    connection = getattr(inferior, "connection", None)
    if connection is not None:
        return connection.type == "native"
    return "core" not in gdb.execute("info target", to_string=True)


def thread_name(number):
    for thread in gdb.selected_inferior().threads():
        if number in thread.ptid[1:]:
            name = memory.quoted((thread.name or "").encode())
            return "thread %d (%s, LWP %d)" % (thread.num, name, number)
    return "thread LWP %d" % number


def find(address):
    """The entry of a promise, if tracing is on and it is known; found as TraceTable.swift and hashOfAddress find it."""
    try:
        library = Library()
        if library.capacity == 0 or library.entry_size != ENTRY.size:
            return None
        place = (address * 0x9E3779B97F4A7C15 >> 32) % library.capacity
        for _ in range(library.capacity):
            fields = ENTRY.unpack(memory.read(library.entries + place * ENTRY.size, ENTRY.size))
            if fields[0] == 0:
                return None
            if fields[0] == address:
                return Entry(fields)
            place = (place + 1) % library.capacity
    except Unreadable:
        pass
    return None
