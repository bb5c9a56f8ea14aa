"""Draws a trace's timeline as a small picture that does not move: lanes, threads, the critical path."""

import re
from bisect import bisect_right

from . import ranking, svg, times
from .encoding import counters
from .model import OUTCOMES

WIDTH, LEFT, RIGHT = 1120, 178, 18
PLOT = WIDTH - LEFT - RIGHT
LARGEST = 95_000
GROUPS, THREADS = 14, 10
RUN = re.compile(rb"([^\0])\1*", re.S)
FOLDED = 28  # how high promises without a label are, where others have one
WORST = {"fulfilled": 0, "pending": 1, "cancelled": 2, "timed out": 3, "rejected": 4}
CATEGORY_COLOURS = {"waiting": "pending", "queued": "timed-out", "running": "handler"}


class Timeline:
    """One picture. `grain` is how many pixels wide the smallest mark is: more of it makes a smaller file."""

    def __init__(self, analysis, grain):
        self.analysis = analysis
        self.trace = analysis.trace
        self.grain = grain
        self.span = max(self.trace.duration, 1)
        self.parts = []
        self.y = 34

    def x(self, moment):
        """A moment's place, on the grain."""
        return LEFT + int(moment * PLOT / self.span) // self.grain * self.grain

    def bars(self, items):
        """What is seen of (begin, end, colour, importance) in one row: (x, length, colour) from left to right.

        Where several share a place the most important one is seen, as in a picture of so many pixels.
        """
        names = sorted({each[2] for each in items})
        row = bytearray(PLOT // self.grain + 2)
        for begin, end, colour, _ in sorted(items, key=lambda each: each[3]):
            x = (self.x(begin) - LEFT) // self.grain
            length = max((self.x(end) - LEFT) // self.grain - x, 1)
            if length > 3:
                length -= 1
            row[x : x + length] = bytes([names.index(colour) + 1]) * length
        for run in RUN.finditer(bytes(row)):
            start, stop = run.span()
            yield LEFT + start * self.grain, (stop - start) * self.grain, names[run[0][0] - 1]

    def draw(self):
        trace = self.trace
        outcomes = ", ".join(f"{value:,} {name}" for name, value in self.analysis.outcomes.items() if value)
        self.parts.append(svg.text(16, 25, svg.cut(trace.program or self.analysis.name, 40), "f-text b"))
        about = f"{times.text(trace.duration)}, {len(trace.promises):,} promises: {outcomes or 'none'}"
        self.parts.append(svg.text(LEFT, 25, svg.cut(about, 140), "f-quiet"))
        axis = len(self.parts)
        self.counters()
        for group in self.analysis.groups[:GROUPS]:
            self.group(group)
        if len(self.analysis.groups) > GROUPS:
            self.y += 12
            more = f"and {len(self.analysis.groups) - GROUPS} more names"
            self.parts.append(svg.text(16, self.y, more, "f-quiet"))
            self.y += 8
        self.threads()
        self.path()
        bottom = self.y + 4
        self.parts[axis:axis] = self.grid(bottom)
        self.y = bottom + 24
        self.legend()
        title = f"Timeline of {svg.cut(trace.program or self.analysis.name, 60)}"
        return svg.picture(WIDTH, self.y + 12, title, self.parts)

    def grid(self, bottom):
        distance = times.step(self.span, 9)
        found = []
        for moment in range(0, self.span + 1, distance):
            x = self.x(moment)
            found.append(f'<path class="s-grid" d="M{x}.5 38V{bottom}"/>')
            kind = "f-quiet m" if moment else "f-quiet"
            if x < WIDTH - RIGHT - 16:
                found.append(svg.text(x, bottom + 15, times.tick(moment, distance), kind))
        return found

    def counters(self):
        """Live and pending promises, above the lanes."""
        points = counters(self.analysis)
        top, height = self.y + 8, 30
        highest = max([1, *(max(each[1:]) for each in points)])
        for column, colour in ((1, "live"), (2, "fulfilled")):
            at_x = {}
            for each in points:
                x = self.x(each[0])
                at_x[x] = max(at_x.get(x, 0), each[column])
            drawn = f"M{LEFT} {top + height}"
            for x, value in sorted(at_x.items()):
                drawn += f"H{x}V{top + height - round(value * height / highest)}"
            drawn += f"H{self.x(self.span)}V{top + height}z"
            self.parts.append(filled(drawn, f"f-{colour}"))
        self.parts.append(svg.text(16, top + 12, "live, pending"))
        self.parts.append(svg.text(16, top + 27, f"at most {highest:,}", "f-quiet"))
        self.y = top + height + 10

    def heading(self, name, more, height, bold):
        beside = "" if height >= 27 else more.split(" · ")[0]
        name = svg.cut(name, 22 - len(beside))
        self.parts.append(svg.text(16, self.y + 11, name, "f-text b" if bold else "f-text"))
        if beside:
            self.parts.append(svg.text(LEFT - 12, self.y + 11, beside, "f-quiet e"))
        else:
            self.parts.append(svg.text(16, self.y + 25, more, "f-quiet"))

    def group(self, group):
        lane = 14 if group.lanes == 1 else 8 if group.lanes <= 24 else 4 if group.lanes <= 60 else 240 / group.lanes
        if not group.labelled and self.analysis.groups[0].labelled:
            lane = min(lane, FOLDED / group.lanes)
        height = max(lane * group.lanes, 14)
        word = "lane" if group.lanes == 1 else "lanes"
        self.heading(group.name, f"{len(group.promises):,} · {group.lanes:,} {word}", height, group.labelled)
        per_lane = {}
        for each in group.promises:
            per_lane.setdefault(each.lane if lane >= 4 else int(each.lane * lane / 4), []).append(each)
        thick = max(min(lane, 14) - 1, 1) if lane >= 4 else 3
        by_colour = {}
        for row, promises in per_lane.items():
            y = self.y + row * max(lane, 4) + thick / 2
            items = []
            for each in promises:
                end = self.trace.duration if each.settled is None else each.settled
                items.append((each.made, end, each.outcome, WORST[each.outcome]))
            for x, length, colour in self.bars(items):
                by_colour.setdefault(colour, []).append((x, y, length))
        for name in OUTCOMES:
            self.parts.append(svg.strokes(by_colour.get(name, ()), thick, name.replace(" ", "-")))
        if lane >= 4:
            self.marks(group, lane, thick)
        self.y += round(height) + 8

    def marks(self, group, lane, thick):
        """A diamond where a retry tried again, an hourglass where a time-out ended a promise."""
        size = min(thick / 2 - 0.5, 3.5)
        number = self.analysis.groups.index(group)
        taken, diamonds, glasses = set(), "", ""

        def free(x, row):
            key = (x // (8 * self.grain), row)
            return key not in taken and not taken.add(key)

        for promise, moments in self.analysis.retries:
            for moment in moments if promise.group == number else ():
                x, y = self.x(moment), self.y + promise.lane * lane + thick / 2
                if free(x, promise.lane):
                    diamonds += f"M{x} {y - size:g}l{size:g} {size:g} -{size:g} {size:g} -{size:g} -{size:g}z"
        for promise in self.analysis.time_outs:
            if promise.group == number:
                x, y = self.x(promise.settled) - 4, self.y + promise.lane * lane + thick / 2
                if free(x, promise.lane):
                    wide = 2 * size
                    glasses += f"M{x - size:g} {y - size:g}h{wide:g}l-{wide:g} {wide:g}h{wide:g}z"
        for drawn in (diamonds, glasses):
            if drawn:
                self.parts.append(filled(drawn, "f-text"))

    def threads(self):
        """A row a thread: where it ran handlers and where it was blocked."""
        some = [each for each in self.trace.threads.values() if each.slices]
        if not some:
            return
        self.y += 4
        self.parts.append(f'<path class="s-edge" d="M16 {self.y - 4}.5H{WIDTH - RIGHT}"/>')
        for thread in some[:THREADS]:
            share = 100 * ranking.busy(thread) / self.span
            self.heading(thread.name or f"thread {thread.tid}", f"{share:.0f} % busy", 14, False)
            for what, colour in (("await", "await"), ("handler", "handler")):
                items = [(each.begin, each.end, colour, 0) for each in thread.slices if each.what == what]
                pieces = [(x, self.y + 6.5, length) for x, length, _ in self.bars(items)]
                self.parts.append(svg.strokes(pieces, 13, colour))
            self.y += 18
        if len(some) > THREADS:
            self.y += 12
            self.parts.append(svg.text(16, self.y, f"and {len(some) - THREADS} more threads", "f-quiet"))
            self.y += 8

    def path(self):
        """The critical path as one row, by category."""
        if not self.analysis.path:
            return
        self.y += 4
        self.heading("critical path", "", 14, True)
        starts = [each.begin for each in self.analysis.path]
        columns = {}
        for x in range(self.x(starts[0]), self.x(self.analysis.path[-1].end) + self.grain, self.grain):
            columns[x] = self.most(starts, x)
        by_colour, run = {}, None
        for x, category in columns.items():
            if run and run[2] == category and run[0] + run[1] == x:
                run[1] += self.grain
            else:
                run = [x, self.grain, category]
                by_colour.setdefault(category, []).append(run)
        for category, pieces in by_colour.items():
            colour = CATEGORY_COLOURS[category]
            self.parts.append(svg.strokes([(x, self.y + 6.5, length) for x, length, _ in pieces], 13, colour))
        self.y += 30
        x = LEFT
        for name, value in self.analysis.path_sums.items():
            words = f"{name} {times.text(value)}"
            self.parts.append(svg.box(x, self.y - 11, 10, 10, f"f-{CATEGORY_COLOURS[name]}", 2))
            self.parts.append(svg.text(x + 15, self.y - 2, words, "f-quiet"))
            x += 32 + 7 * len(words)
        self.y += 4

    def most(self, starts, x):
        """The category that fills most of one column."""
        begin = (x - LEFT) * self.span / PLOT
        end = (x - LEFT + self.grain) * self.span / PLOT
        sums = {}
        index = max(bisect_right(starts, begin) - 1, 0)
        while index < len(starts) and starts[index] <= end:
            each = self.analysis.path[index]
            part = min(each.end, end) - max(each.begin, begin)
            sums[each.category] = sums.get(each.category, 0) + part
            index += 1
        return max(sums, key=lambda name: (sums[name], name))

    def legend(self):
        self.y += 14
        x = 16
        entries = [(name.replace(" ", "-"), name) for name in OUTCOMES]
        entries += [("handler", "handler runs"), ("await", "thread waits")]
        for colour, words in entries:
            self.parts.append(svg.box(x, self.y - 9, 10, 10, f"f-{colour}", 2))
            self.parts.append(svg.text(x + 15, self.y, words, "f-quiet"))
            x += 32 + 7 * len(words)
        diamond, glass = "l4 4-4 4-4-4z", "h8l-8 8h8z"
        for sign, start, words in ((diamond, 4, "tried again"), (glass, 0, "time-out")):
            self.parts.append(filled(f"M{x + start} {self.y - 8}{sign}", "f-text"))
            self.parts.append(svg.text(x + 15, self.y, words, "f-quiet"))
            x += 32 + 7 * len(words)


def filled(drawn, kind):
    return f'<g class="{kind}"><path style="fill:inherit" d="{drawn}"/></g>'


def picture(analysis):
    """The picture, as coarse as it must be to stay small."""
    grain = 1
    while True:
        found = Timeline(analysis, grain).draw()
        if len(found.encode()) <= LARGEST or grain >= 16:
            return found
        grain *= 2
