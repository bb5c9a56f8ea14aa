"""vow-graph: what waits for what, as a tree from the waiting threads down."""

import gdb

from . import code, live, pending, promise, record
from .library import Library
from .memory import Unreadable
from .promise import address_of

MOST_LINES = 400
LONGEST_CHAIN = 1000000
CHAIN_ENDS = 8
# So many of a longer run of links are shown at its beginning and end.
RUN = 4


class ShowGraph(gdb.Command):
    """Show what waits for what: vow-graph [PROMISE].

A tree, from the waiting threads and what nobody waits for down to the promises that
nobody has resolved; or from one promise down. Needs tracing: VOW_TRACK=1 in the
program's environment; without, of one promise only what it reads or follows is shown."""

    def __init__(self):
        super().__init__("vow-graph", gdb.COMMAND_STATUS, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, _from_tty):
        try:
            table = live.Table()
        except live.NotTraced as problem:
            if not argument.strip():
                raise gdb.GdbError(str(problem)) from None
            for line in chain(address_of(argument)):
                print(line)
            return
        except Unreadable as problem:
            raise gdb.GdbError(str(problem)) from None
        tree = Tree(table)
        roots = [_root(table, argument)] if argument.strip() else tree.roots()
        if not roots:
            print("No promise is pending.")
        for root in roots:
            tree.show(root)
        if len(tree.lines) > MOST_LINES:
            del tree.lines[MOST_LINES:]
            tree.lines.append("... and more: vow-graph PROMISE shows what one promise waits for")
        for line in tree.lines:
            print(line)
        for line in pending.open_ends(table, pending.MOST_SHOWN):
            print(line)


def _root(table, argument):
    address = address_of(argument)
    entry = table.at(address)
    if entry is None:
        raise gdb.GdbError("%#x is not a promise that libvow knows of." % address)
    if entry.is_promise and not entry.is_pending:
        raise gdb.GdbError("%s is not pending: it is %s." % (entry.name, live.STATES[entry.state]))
    return entry


def chain(address):
    """Without a table: what one promise reads or follows, by the promises' own memory."""
    library = Library()
    found = _along(library, address)
    hidden = len(found) - 2 * CHAIN_ENDS
    prefix = ""
    for index, address in enumerate(found):
        if hidden > 1 and CHAIN_ENDS <= index < CHAIN_ENDS + hidden:
            if index > CHAIN_ENDS:
                continue
            text = "... %d more links of the chain" % hidden
        else:
            try:
                text = "%#x %s" % (address, promise.describe(library, address))
            except Unreadable as problem:
                text = "%#x <%s>" % (address, problem)
        yield (prefix + "└─ " if index else "") + text
        prefix += "   " if index else ""
    yield "(Tracing is off: the members of combinators, waiting threads and places are not known.)"


def _along(library, address):
    found, seen = [], set()
    while address and address not in seen and len(found) < LONGEST_CHAIN:
        seen.add(address)
        found.append(address)
        try:
            address = record.Record(library, address).check_is_promise().reads
        except Unreadable:
            break
    return found


class Tree:
    def __init__(self, table):
        self.table = table
        self.clock = live.Clock(table)
        self.lines = []
        self.shown = set()

    def roots(self):
        """Threads, then what nobody waits for; then what waits in a ring."""
        found = self.table.threads()
        found += [entry for entry in self.table.pending() if not self.table.waiters(entry)]
        reached, left = set(), list(found)
        for entry in self.table.pending():
            self._reach(left, reached)
            if entry.id not in reached:
                found.append(entry)
                left = [entry]
        return found

    def _reach(self, left, reached):
        while left:
            entry = left.pop()
            if entry.id not in reached:
                reached.add(entry.id)
                left += [target for _, target in self.table.targets(entry)]

    def show(self, root):
        # What is left to show: text before the branch, how it is waited for, the entry, and whether it is the last.
        left = [("", None, root, True)]
        while left and len(self.lines) <= MOST_LINES:
            prefix, how, entry, is_last = left.pop()
            if isinstance(entry, int):
                self.lines.append(prefix + "└─ ... %d more links of the chain" % entry)
                continue
            branch = "" if how is None else ("└─ " if is_last else "├─ ") + how + " "
            again = entry.id in self.shown
            self.lines.append(prefix + branch + self.text(entry, again))
            if again:
                continue
            self.shown.add(entry.id)
            if how is not None:
                prefix += "   " if is_last else "│  "
            children = self.table.targets(entry)
            if len(children) == 1:
                left += self.run(prefix, children[0])
                continue
            for index, (child_how, child) in reversed(list(enumerate(children))):
                left.append((prefix, child_how, child, index == len(children) - 1))

    def run(self, prefix, child):
        """One thing after the other: where that is long, its middle is left out."""
        chain = [child]
        seen = {child[1].id}
        while len(self.table.targets(chain[-1][1])) == 1:
            following = self.table.targets(chain[-1][1])[0]
            if following[1].id in seen or following[1].id in self.shown:
                break
            seen.add(following[1].id)
            chain.append(following)
        if len(chain) <= 3 * RUN:
            return [(prefix, child[0], child[1], True)]
        hidden = chain[RUN : -RUN]
        for how, entry in chain[:RUN]:
            self.lines.append(prefix + "└─ " + how + " " + self.text(entry, False))
            self.shown.add(entry.id)
            prefix += "   "
        self.shown.update(entry.id for _, entry in hidden)
        how, entry = chain[-RUN]
        return [(prefix + "   ", how, entry, True), (prefix, None, len(hidden), True)]

    def text(self, entry, again):
        text = pending.named(self.table, entry)
        if again:
            return text + " (see above)"
        text += ", for " + self.clock.age(entry)
        if entry.executor and self.table.targets(entry):
            text += ", on " + entry.executor
        if entry.is_promise and not self.table.targets(entry):
            text += ": " + pending.reason(self.table, entry)
            if entry.site:
                text += ", made in " + code.place_of_call(entry.site)
        return text


def register():
    ShowGraph()
