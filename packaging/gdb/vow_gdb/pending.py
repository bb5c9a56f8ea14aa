"""vow-pending: every promise that is not settled, and why."""

import gdb

from . import code, live, promise, record
from .memory import Unreadable

MOST_SHOWN = 100
MOST_WAITERS = 5


class ListPending(gdb.Command):
    """List the promises that are pending: vow-pending [COUNT].

For each: how long it is pending, where it was made, what it waits for and who waits
for it, the oldest first and COUNT of them at most (100). At the end stand those that
nobody has resolved. Needs tracing: VOW_TRACK=1 in the program's environment."""

    def __init__(self):
        super().__init__("vow-pending", gdb.COMMAND_STATUS)

    def invoke(self, argument, _from_tty):
        most = _count(argument)
        try:
            table = live.Table()
        except Unreadable as problem:
            raise gdb.GdbError(str(problem)) from None
        for line in report(table, most):
            print(line)


def _count(argument):
    if not argument.strip():
        return MOST_SHOWN
    if not argument.strip().isdigit():
        raise gdb.GdbError("vow-pending: %s is not a count" % argument.strip())
    return int(argument)


def report(table, most):
    clock = live.Clock(table)
    pending, threads = table.pending(), table.threads()
    yield "%s pending, %d alive; %s." % (
        "1 promise is" if len(pending) == 1 else "%d promises are" % len(pending),
        table.count(),
        "1 thread waits" if len(threads) == 1 else "%d threads wait" % len(threads),
    )
    for thread in threads:
        for _, target in table.targets(thread):
            yield "%s waits for %s, for %s" % (thread.name, target.name, clock.age(thread))
    for entry in pending[:most]:
        yield ""
        yield from _described(table, entry, clock)
    if len(pending) > most:
        yield ""
        yield "... and %d more: vow-pending %d" % (len(pending) - most, len(pending))
    yield from open_ends(table, most)


def _described(table, entry, clock):
    line = "%s, pending for %s" % (named(table, entry), clock.age(entry))
    if entry.executor:
        line += ", on %s" % entry.executor
    if entry.progress >= 0:
        line += ", %d %% done" % round(entry.progress * 100)
    yield line
    if entry.site:
        yield "    made in %s" % code.place_of_call(entry.site)
    targets = table.targets(entry)
    for how, target in targets[:MOST_WAITERS]:
        yield "    %s %s" % (how, target.name)
    yield from _more(len(targets))
    if not targets:
        yield "    " + reason(table, entry)
    waiters = table.waiters(entry)
    for how, waiter in waiters[:MOST_WAITERS]:
        yield "    %s %s it" % (waiter.name, how)
    yield from _more(len(waiters))


def _more(count):
    if count > MOST_WAITERS:
        yield "    ... and %d more" % (count - MOST_WAITERS)


def named(table, entry):
    """Its name with the program's function that decides about it."""
    if not entry.is_promise:
        return entry.name
    try:
        title = promise.title(record.Record(table.library, entry.record), entry)
    except Unreadable:
        return entry.name
    return entry.name[: -len(entry.kind)] + title


def reason(table, entry):
    """Why something is pending that waits for no other promise."""
    try:
        return promise.why_pending(record.Record(table.library, entry.record))
    except Unreadable as problem:
        return "<%s>" % problem


def open_ends(table, most):
    ends = [entry for entry in table.pending() if table.is_open_end(entry)]
    if not ends:
        return
    yield ""
    yield "Nobody has resolved %s:" % ("this one" if len(ends) == 1 else "these")
    for entry in ends[:most]:
        made = ", made in " + code.place_of_call(entry.site) if entry.site else ""
        yield "    %s%s" % (entry.name, made)
    if len(ends) > most:
        yield "    ... and %d more" % (len(ends) - most)


def register():
    ListPending()
