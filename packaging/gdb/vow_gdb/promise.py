"""A promise in words, and the command that shows one by its address."""

import gdb

from . import code, executor, live, memory, record, value
from .library import Library
from .memory import Unreadable

# Why a promise is pending that the library settles, by its kind.
OWN_REASONS = {
    "delay": "waits for its time",
    "descriptor": "waits for its descriptor",
    "timeout": "waits for its promise or its time",
}
OWN_REASONS.update(dict.fromkeys(("all", "all_settled", "any", "some", "race", "scope"),
                                 "waits for its members"))

# While it may have a handler that is running or to come.
HAS_HANDLER = (record.OPEN, record.RUNNING, record.CANCELLED)


def describe(library, address, entry=None):
    """ "socket" promise, pending: nobody has resolved it (1 resolver); 1 handler waits """
    it = record.Record(library, address).check_is_promise()
    label = entry.label if entry and entry.label is not None else _label(it)
    parts = [memory.quoted(label) + " " if label is not None else ""]
    parts.append(title(it, entry) + ", " + state(it))
    waiting = waiting_for(it)
    if waiting:
        parts.append("; " + waiting)
    if entry is not None and entry.is_pending and entry.progress >= 0:
        parts.append("; %d %% done" % round(entry.progress * 100))
    if entry is not None and entry.site:
        parts.append("; made in " + code.place_of_call(entry.site))
    return "".join(parts)


def _label(it):
    try:
        return it.label()
    except Unreadable:
        return None


def title(it, entry=None):
    """The kind, and the program's function that decides about it."""
    kind = entry.kind if entry is not None else it.kind()
    handler = it.handler() if it.phase in HAS_HANDLER else 0
    function = code.function_at(handler) if handler else None
    return "%s (%s)" % (kind, function) if function else kind


def state(it):
    if it.has_value:
        text = value.describe(it.library, it.kind_of_value, it.value_bits)
        text = ("rejected with " if it.kind_of_value == value.ERROR else "fulfilled with ") + text
        return text + ("" if it.phase == record.SETTLED else " (and is telling its handlers)")
    return "pending: " + why_pending(it)


def why_pending(it):
    """What has to happen next, by the promise's own memory."""
    if it.phase == record.CANCELLED:
        return "cancelled; " + _before_rejection(it)
    if it.phase == record.RUNNING:
        return "its handler is running" + _on(it)
    if it.phase == record.FOLLOWING:
        return ("cancelled; " if it.is_cancelled else "") + "follows %#x" % it.upstream
    if it.phase == record.CLAIMED:
        if it.is_subscription:
            return "its object has not answered"
        return "resolved, but not settled yet"
    if it.is_subscription:
        return "its object is about to be asked"
    if it.is_handed_over:
        return "its handler is ready to run" + _on(it)
    if it.is_link:
        return "reads %#x" % it.upstream if it.upstream else "waits for its turn" + _on(it)
    if it.is_produced:
        return OWN_REASONS.get(it.kind(), "waits for what its function gives back")
    return "nobody has resolved it (%s)" % _plural(it.producers, "resolver")


def _before_rejection(it):
    """What a cancelled promise waits for before it is rejected."""
    if it.is_produced:
        return OWN_REASONS.get(it.kind(), "waits for the calls of its function to end")
    if not it.is_link:
        return "its producer has not ended (%s)" % _plural(it.producers, "resolver")
    if it.is_withdrawn:
        return "its context is being destroyed"
    if not it.reads:
        # Of an inline one nothing tells whether its handler has begun.
        return "its handler is still %s" % ("to end" if it.is_inline else "running" + _on(it))
    if it.is_handed_over:
        return "its handler is ready to run" + _on(it)
    return "reads %#x" % it.reads


def _on(it):
    address = it.executor()
    if address == 0:
        return " on the thread that settled what it reads" if it.phase != record.RUNNING else ""
    try:
        return " on executor " + executor.name(it.library, address)
    except Unreadable as problem:
        return " on executor %#x <%s>" % (address, problem)


def waiting_for(it):
    """Who waits in its queue; "" for nobody."""
    counts = {}
    try:
        for member in it.members():
            if member.is_waiter:
                what = "thread"
            elif member.is_eye:
                what = "combinator"
            elif member.phase == record.FOLLOWING:
                what = "follower"
            else:
                what = "handler"
            counts[what] = counts.get(what, 0) + 1
    except Unreadable as problem:
        return "its queue is damaged: %s" % problem
    if not counts:
        return ""
    texts = [_plural(counts[what], what) for what in sorted(counts)]
    return ", ".join(texts) + (" waits" if sum(counts.values()) == 1 else " wait")


def _plural(count, what):
    return "%d %s%s" % (count, what, "" if count == 1 else "s")


def shown(address, name="vow_promise"):
    """Never raises: what is wrong stands between angle brackets."""
    if address == 0:
        return "(%s *) NULL" % name
    try:
        text = describe(Library(), address, live.find(address))
    except Unreadable as problem:
        text = "<%s>" % problem
    return "(%s *) %#x %s" % (name, address, text)


class ShowPromise(gdb.Command):
    """Show a promise by its address: vow-promise EXPRESSION.

For programs without debugging information, where print does not know the type."""

    def __init__(self):
        super().__init__("vow-promise", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, _from_tty):
        if not argument.strip():
            raise gdb.GdbError("vow-promise: which one? Give an address or an expression.")
        print(shown(address_of(argument)))


def address_of(expression):
    mask = (1 << 64) - 1
    try:
        found = gdb.parse_and_eval(expression)
        # In a checked build a resolver is a marked promise.
        return int(found.cast(gdb.lookup_type("unsigned long"))) & mask & ~8
    except gdb.error as problem:
        raise gdb.GdbError(str(problem)) from None


def register():
    ShowPromise()
