"""What a thread was in the middle of at one moment, in logarithmic time however deep its slices nest."""

from array import array
from bisect import bisect_left, bisect_right
from math import inf


class Nesting:
    """Of one thread's slices: the way outwards, and the waits at each level.

    The way outwards from a slice is over handlers that end later and later, so that the first one that reaches a
    moment can be found by jumps: `wider` is the next handler of it and `far` one further on, as in a skew-binary list.
    Index -1 is outside of all: it has an entry at the end of each column, and never ends.
    """

    def __init__(self, thread):
        slices = thread.slices
        count = len(slices)
        self.slices = slices
        self.begins = thread.begins
        self.ends = [*(each.end for each in slices), inf]
        self.wider = array("q", [-1]) * (count + 1)
        self.far = array("q", [-1]) * (count + 1)
        self.levels = array("q", [0]) * (count + 1)
        self.waits = {}
        self.tops = []
        for index, each in enumerate(slices):
            if each.parent < 0:
                self.tops.append(index)
            if each.what == "await":
                self.waits.setdefault(each.parent, []).append(index)
            self._enter(index, each)

    def _enter(self, index, each):
        parent = each.parent
        if parent >= 0 and self.slices[parent].what != "handler":
            parent = self.wider[parent]
        if each.what == "handler":
            parent = self._reaching(parent, each.end + 1)
        far, levels = self.far, self.levels
        jump = far[parent]
        self.wider[index] = parent
        levels[index] = levels[parent] + 1
        far[index] = far[jump] if levels[parent] - levels[jump] == levels[jump] - levels[far[jump]] else parent

    def _reaching(self, index, moment):
        """From a handler outwards: the first that ends at the moment or later."""
        ends, far, wider = self.ends, self.far, self.wider
        while ends[index] < moment:
            index = far[index] if ends[far[index]] < moment else wider[index]
        return index

    def enclosing(self, moment):
        """The innermost handler that contains the moment, or None."""
        index = bisect_right(self.begins, moment) - 1
        if index >= 0 and self.slices[index].what != "handler":
            index = self.wider[index]
        index = self._reaching(index, moment)
        return self.slices[index] if index >= 0 else None

    def last_await(self, moment, handler, before):
        """The last wait directly in a handler (None: in none) that ended by the moment and begins before that one."""
        beyond = bisect_right(self.begins, moment)
        if before is not None:
            beyond = min(beyond, before.index)
        # In the code outside of handlers a handler is an end too: nothing is known of what was before it.
        found = self.tops if handler is None else self.waits.get(handler.index, ())
        place = bisect_left(found, beyond) - 1
        # Slices of one level follow one another: if the last one still lasts, the one before it does not.
        if place >= 0 and self.ends[found[place]] > moment:
            place -= 1
        each = self.slices[found[place]] if place >= 0 else None
        return each if each is not None and each.what == "await" else None


def nesting(trace, tid):
    """The Nesting of a thread, made when it is first asked for; None of a thread without slices."""
    thread = trace.threads.get(tid)
    if thread is None or not thread.slices:
        return None
    if thread.nesting is None:
        thread.nesting = Nesting(thread)
    return thread.nesting


def enclosing(trace, tid, moment):
    """The innermost handler on that thread that contains the moment, or None."""
    found = nesting(trace, tid)
    return found.enclosing(moment) if found else None


def last_await(trace, tid, moment, handler, before=None):
    """The last wait that ended on that thread by the moment, at the handler's own level, or None."""
    found = nesting(trace, tid)
    return found.last_await(moment, handler, before) if found else None
