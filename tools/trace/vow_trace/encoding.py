"""An analysis as the page reads it: columns of numbers, and each text once."""

from . import ranking
from .causes import CATEGORIES, Walk, key
from .model import OUTCOMES
from .text import counted

PATHS_UP_TO = 60_000
PATH_STEPS = 100_000
POINTS = 3_000
STEPS = 50
TEXT = 4_000
NAME = 200
LEVELS = 64


class Texts:
    """Numbers for texts; 0 is none. What is longer than a page needs is cut."""

    def __init__(self):
        self.all = [""]
        self.numbers = {"": 0, None: 0}
        self.shortened = 0

    def number(self, text):
        found = self.numbers.get(text)
        if found is None:
            found = self.numbers[text] = len(self.all)
            self.all.append(self.cut(text, TEXT))
        return found

    def cut(self, text, most):
        if len(text) <= most:
            return text
        self.shortened += 1
        return text[: most - 1] + "…"


def encode(analysis):
    """The page's whole data, ready for JSON."""
    trace, texts = analysis.trace, Texts()
    ordered = sorted(trace.promises.values(), key=lambda each: (each.group, each.lane, each.made))
    number = {each.id: index for index, each in enumerate(ordered)}
    tids = {tid: index for index, tid in enumerate(trace.threads)}
    for each in ordered:
        for tid in (each.made_tid, each.settled_tid):
            tids.setdefault(tid, len(tids))
    run_number = {}
    data = {
        "file": analysis.name,
        "program": trace.program or analysis.name,
        "producer": trace.producer,
        "duration": trace.duration,
        "events": trace.events,
        "outcomes": list(OUTCOMES),
        "categories": list(CATEGORIES),
        "promises": columns(ordered, texts, tids),
        "deps": deps(trace, ordered, number),
        "progress": [
            [number[each.id], [[when, part, texts.number(note)] for when, part, note in each.progress[-STEPS:]]]
            for each in ordered
            if each.progress
        ],
        "groups": groups(analysis, texts),
        "threads": threads(trace, tids, number, texts, run_number),
        "tids": [str(tid) for tid in tids],
        "counters": counters(analysis),
        "retries": [[number[promise.id], moments] for promise, moments in analysis.retries],
        "timeouts": [number[each.id] for each in analysis.time_outs],
        "path": path(analysis, number, tids, texts),
        "links": links(trace, ordered, number, tids, texts),
        "longest": {
            "pending": [number[each.id] for each in analysis.pending],
            "queued": [[delay, *run_number[id(run)]] for delay, run in analysis.queued],
            "runs": [run_number[id(run)] for run in analysis.runs],
        },
        "never": [[number[each.id], number[analysis.ends.of(each).id]] for each in analysis.never],
        "texts": texts.all,
        "levels": LEVELS,
    }
    data["notes"] = [*trace.notes, *left_out(analysis, texts.shortened)]
    return data


def left_out(analysis, shortened):
    """What the page does not have, as sentences."""
    promises, found = analysis.trace.promises, []
    if len(promises) > PATHS_UP_TO:
        found.append(
            f"Of more than {PATHS_UP_TO:,} promises the page has one critical path only: --path names another."
        )
    if len(analysis.path) > PATH_STEPS:
        found.append(f"The critical path has {len(analysis.path):,} steps: the page has the last {PATH_STEPS:,}.")
    deepest = max((each.depth for each in analysis.trace.threads.values()), default=0)
    if deepest > LEVELS:
        found.append(f"Handlers nest {deepest:,} deep: those beyond {LEVELS} are drawn on one line.")
    long = sum(len(each.progress) > STEPS for each in promises.values())
    if long:
        found.append(f"The page has the last {STEPS} steps only of the progress of {counted(long, 'promise')}.")
    if shortened:
        found.append(f"{counted(shortened, 'text is', 'texts are')} very long, and cut.")
    return found


def columns(ordered, texts, tids):
    outcome = {name: index for index, name in enumerate(OUTCOMES)}
    return {
        "id": [each.id for each in ordered],
        "kind": [texts.number(each.kind) for each in ordered],
        "label": [texts.number(each.label) for each in ordered],
        "site": [texts.number(each.site) for each in ordered],
        "executor": [texts.number(each.executor) for each in ordered],
        "error": [texts.number(each.error) for each in ordered],
        "value": [texts.number(each.value) for each in ordered],
        "made": [each.made for each in ordered],
        "settled": [-1 if each.settled is None else each.settled for each in ordered],
        "outcome": [outcome[each.outcome] for each in ordered],
        "madeOn": [tids[each.made_tid] for each in ordered],
        "settledOn": [tids[each.settled_tid] for each in ordered],
        "group": [each.group for each in ordered],
        "lane": [each.lane for each in ordered],
    }


def deps(trace, ordered, number):
    """Flat: who waits, for whom, and how (0 reads, 1 waits, 2 follows)."""
    how = {"reads": 0, "waits": 1, "follows": 2}
    found = []
    for index, promise in enumerate(ordered):
        for identity, kind in trace.waited_for(promise).items():
            if identity in number:
                found += (index, number[identity], how[kind])
    return found


def groups(analysis, texts):
    found = []
    for each in analysis.groups:
        bad = sum(promise.outcome not in ("fulfilled", "pending") for promise in each.promises)
        pending = sum(promise.settled is None for promise in each.promises)
        found.append(
            {
                "name": texts.cut(each.name, NAME),
                "labelled": each.labelled,
                "count": len(each.promises),
                "lanes": each.lanes,
                "bad": bad,
                "pending": pending,
            }
        )
    return found


def threads(trace, tids, number, texts, run_number):
    """Each with its slices in columns; fills `run_number` with where each slice went."""
    found = []
    for place, thread in enumerate(trace.threads.values()):
        for index, each in enumerate(thread.slices):
            run_number[id(each)] = [place, index]
        found.append(
            {
                "tid": tids[thread.tid],
                "name": texts.cut(thread.name, NAME),
                "depth": thread.depth,
                "busy": ranking.busy(thread),
                "await": [int(each.what == "await") for each in thread.slices],
                "name_of": [texts.number(each.name) for each in thread.slices],
                "executor": [texts.number(each.executor) for each in thread.slices],
                "begin": [each.begin for each in thread.slices],
                "end": [each.end for each in thread.slices],
                "level": [each.depth for each in thread.slices],
                "promise": [number.get(each.promise, -1) for each in thread.slices],
                "reads": [number.get(each.reads, -1) for each in thread.slices],
            }
        )
    return found


def counters(analysis):
    """(moment, live, pending), as the file has them or counted from its promises; the peaks of many."""
    trace = analysis.trace
    series = trace.counters
    if not series:
        steps = sorted(
            [(each.made, 1) for each in trace.promises.values()]
            + [(each.settled, -1) for each in trace.promises.values() if each.settled is not None]
        )
        series, pending = [], 0
        for moment, change in steps:
            pending += change
            series.append((moment, pending, pending))
    if len(series) <= POINTS:
        return [list(each) for each in series]
    found, width = [], len(series) / POINTS
    for part in range(POINTS):
        some = series[int(part * width) : int((part + 1) * width)]
        if some:
            found.append([some[0][0], max(each[1] for each in some), max(each[2] for each in some)])
    return found


def segment(each, number, tids, texts):
    category = CATEGORIES.index(each.category)
    place = number.get(each.promise, -1)
    return [category, each.begin, each.end, place, tids.get(each.tid, -1), texts.number(each.text)]


def path(analysis, number, tids, texts):
    if not analysis.end_of_path:
        return None
    return {
        "promise": number[analysis.end_of_path.id],
        "segments": [segment(each, number, tids, texts) for each in analysis.path[-PATH_STEPS:]],
        "steps": len(analysis.path),
        "begin": analysis.path[0].begin if analysis.path else analysis.end_of_path.settled,
        "sums": [analysis.path_sums[each] for each in CATEGORIES],
    }


def links(trace, ordered, number, tids, texts):
    """For each promise what led to it: [the place before or -1, segments]; then the same of each place between.

    The path to any promise is made of them, and paths that meet share what is before. Of a very large trace they are
    left out.
    """
    if len(ordered) > PATHS_UP_TO:
        return None
    walk, places = Walk(trace), {}
    to_do = [("settled", each, None) for each in ordered]
    for each in to_do:
        places[key(each)] = len(places)
    found = []
    for place in to_do:  # which grows meanwhile
        if place[0] == "settled" and place[1].settled is None:
            found.append(0)
            continue
        part, before = walk.back_from(place)
        if before and key(before) not in places:
            places[key(before)] = len(places)
            to_do.append(before)
        found.append([places[key(before)] if before else -1, [segment(each, number, tids, texts) for each in part]])
    return found
