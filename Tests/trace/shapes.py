"""Traces of one shape and any size: deep, long, wide, and rings."""

from support import Writer


def nested(count):
    """Each handler runs inside the one before, and settles its promise at its end."""
    writer = Writer()
    for each in range(count):
        end = 4 * count - each
        identity = writer.promise("async", each, end)
        writer.handler(identity, each, end)
    return writer


def waiting(count):
    """Handlers that wait for the next one, which runs inside the wait."""
    writer = Writer()
    for each in range(count):
        begin, end = 4 * each, 10 * count - 4 * each
        identity = writer.promise("async", begin, end)
        writer.handler(identity, begin, end)
        if each + 1 < count:
            writer.blocked(hex(each + 2), begin + 1, end - 1)
    return writer


def jobs(count):
    """Each handler starts the next job, one after the other."""
    writer = Writer()
    for each in range(count):
        identity = writer.promise("async", max(10 * each - 5, 0), 10 * each + 8)
        writer.handler(identity, 10 * each, 10 * each + 8)
    return writer


def consecutive(count):
    """A chain of reactions, one handler after the other."""
    writer = Writer()
    before = writer.promise("promise", 0, 5)
    for each in range(count):
        after = writer.promise("then", 1, 10 * each + 18, reads=before)
        writer.handler(after, 10 * each + 10, 10 * each + 18, reads=before)
        before = after
    return writer


def settled_waits(count):
    """A thread that makes promises, and waits for what is settled already."""
    writer = Writer()
    for each in range(count):
        identity = writer.promise("promise", 10 * each, 10 * each + 2)
        writer.blocked(identity, 10 * each + 4, 10 * each + 4 + each % 2)
    return writer


def pending(count):
    """A chain that never settles, and a ring of such."""
    writer = Writer()
    for each in range(count):
        writer.promise("then", each, None, reads=hex(each + 2) if each != count // 2 else "0x1")
    return writer


def map_of(count):
    """One map over very many promises, each made when one before had settled."""
    writer = Writer()
    whole = writer.promise("map", 0, 10 * count + 9)
    for each in range(count):
        member = writer.promise("promise", 10 * each, 10 * each + 8, settled_tid=2)
        writer.on(whole, member, 10 * each + 1)
    return writer


def retried(count):
    """Retries that all wait for one promise, which waits for many."""
    writer = Writer()
    shared = writer.promise("all", 0, 9)
    for each in range(count):
        writer.on(shared, writer.promise("promise", 0, 5), 1)
        retry = writer.promise("retry", 0, None)
        for moment in (10, 20, 30):
            writer.on(retry, shared, moment)
    return writer


SHAPES = (nested, waiting, jobs, consecutive, settled_waits, pending, map_of, retried)
