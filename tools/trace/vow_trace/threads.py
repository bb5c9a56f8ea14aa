"""What a thread was in the middle of at one moment."""

from bisect import bisect_right


def enclosing(trace, tid, moment):
    """The innermost handler on that thread that contains the moment, or None."""
    thread = trace.threads.get(tid)
    if thread is None:
        return None
    index = bisect_right(thread.begins, moment) - 1
    while index >= 0:
        each = thread.slices[index]
        if each.end >= moment and each.what == "handler":
            return each
        index = each.parent
    return None


def last_await(trace, tid, moment, handler):
    """The last wait that ended on that thread by the moment, at the handler's own level, or None."""
    thread = trace.threads.get(tid)
    if thread is None:
        return None
    depth = handler.depth + 1 if handler else 0
    earliest = handler.begin if handler else -1
    index = bisect_right(thread.begins, moment) - 1
    while index >= 0 and thread.begins[index] >= earliest:
        each = thread.slices[index]
        if each.depth == depth and each.end <= moment:
            if each.what == "await":
                return each
            if depth == 0:
                return None
        index -= 1
    return None
