"""Groups promises by name, and packs each group into as few lanes as do not overlap."""

import heapq

SEPARATORS = tuple("/#:_.-")


class Group:
    """Promises of one name. `lanes` says how many lie side by side at most."""

    def __init__(self, name, labelled):
        self.name = name
        self.labelled = labelled
        self.promises = []
        self.lanes = 0


def group_name(promise):
    """The label up to its first space or its number at the end, else the kind."""
    if not promise.label:
        return promise.kind
    first = promise.label.split(None, 1)
    name = first[0] if first else promise.label
    found = name.rstrip("0123456789")
    if found != name and found[-1:] in SEPARATORS:
        found = found[:-1]
    return found or name


def pack(promises, last):
    """Gives each promise a lane, and returns how many lanes there are: no more than overlap anywhere."""
    promises.sort(key=lambda each: (each.made, each.settled if each.settled is not None else last))
    busy, free, lanes = [], [], 0
    for promise in promises:
        while busy and busy[0][0] <= promise.made:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            promise.lane = heapq.heappop(free)
        else:
            promise.lane, lanes = lanes, lanes + 1
        if promise.settled is None:
            end = last + 1
        else:
            end = max(promise.settled, promise.made + 1)
        heapq.heappush(busy, (end, promise.lane))
    return lanes


def groups_of(trace):
    """All groups: those with labels first, each in the order of their first promise."""
    found = {}
    for promise in trace.promises.values():
        key = (group_name(promise), bool(promise.label))
        if key not in found:
            found[key] = Group(*key)
        found[key].promises.append(promise)
    for group in found.values():
        group.lanes = pack(group.promises, trace.last)
    ordered = sorted(found.values(), key=lambda each: (not each.labelled, each.promises[0].made, each.name))
    for index, group in enumerate(ordered):
        for promise in group.promises:
            promise.group = index
    return ordered
