"""The fields of events and nodes, each checked: a Fault names the one that is not as it must be."""

from sys import intern

from .errors import Fault

LARGEST = 2**63 - 1  # nanoseconds in 292 years; and what any count of ours stays below
MICROSECONDS = LARGEST // 1000


def number(source, key, default=None, most=LARGEST):
    """From 0 to `most`. What is not there is the default, or a fault."""
    value = source.get(key, default)
    if type(value) not in (int, float):
        raise Fault("missing" if value is None else "no number", key)
    if not 0 <= value <= most:
        raise Fault("negative" if value < 0 else "too large, or no number", key)
    return value


def moment(event):
    """When an event was, in nanoseconds."""
    ts = event.get("ts")
    # In line: it is asked for each event.
    if (type(ts) is float or type(ts) is int) and 0 <= ts <= MICROSECONDS:
        return round(ts * 1000)
    return number(event, "ts", most=MICROSECONDS)


def duration(event):
    """How long it took, in nanoseconds; 0 if that is not said."""
    return round(number(event, "dur", 0, MICROSECONDS) * 1000)


def name_of_thread(event, default=0):
    """A thread's number; other tools have names."""
    tid = event.get("tid", default)
    if type(tid) is int and -LARGEST <= tid <= LARGEST:
        return tid
    if type(tid) is str:
        return intern(tid)
    raise Fault("missing" if tid is None else "no thread's number", "tid")


def process(event):
    pid = event.get("pid")
    if pid is None or type(pid) is str or type(pid) is int and -LARGEST <= pid <= LARGEST:
        return pid
    raise Fault("no process's number", "pid")


def arguments(event, needed=True):
    """The inner object, or an empty one where it may be missing."""
    args = event.get("args")
    if type(args) is dict:
        return args
    if args is None and not needed:
        return {}
    raise Fault("missing" if args is None else "no object", "args")


def text(source, key):
    """A string or None; a number is written as text."""
    value = source.get(key)
    if value is None or value == "":
        return None
    if type(value) is str:
        return intern(value)
    if type(value) in (int, float, bool):
        return str(value)
    raise Fault("no text", key)


def needed(source, key):
    """A string that must be there and must not be empty."""
    value = source.get(key)
    if type(value) is not str or not value:
        raise Fault("missing" if value is None else "empty" if value == "" else "no text", key)
    return intern(value)
