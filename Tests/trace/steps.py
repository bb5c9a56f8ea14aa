"""Counts what some work does, in lines or in calls: a measure that no clock disturbs."""

import sys


class TooMany(BaseException):
    """The work has made more calls than it may: what it does grows faster than what it is given."""


def lines(work):
    """How many lines of Python work() runs, each turn of a loop anew."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event == "line"
        return note

    sys.settrace(note)
    try:
        work()
    finally:
        sys.settrace(None)
    return count


def calls(work, limit):
    """Runs work(), and returns its result; TooMany when it calls more functions than the limit, Python's or built in."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += 1
        if count > limit:
            sys.setprofile(None)
            raise TooMany(f"more than {limit:,} calls")

    sys.setprofile(note)
    try:
        return work()
    finally:
        sys.setprofile(None)
