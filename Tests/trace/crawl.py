"""A made-up crawl as a trace: pages, so many at once, with retries and time-outs, the same each time.

The program is one `map` over the pages. Each page is a retry; each of its attempts is a request with
a time-out and a handler that parses the answer. Four workers run the handlers; a thread of its own
settles the requests.
"""

import heapq
import random

from support import Writer

MS = 1_000_000
MAIN, NETWORK, FIRST_WORKER = 1, 2, 3
LIMIT = 40 * MS


class Pool:
    """Workers that run jobs in the order in which they became ready."""

    def __init__(self, crawl, workers):
        self.crawl = crawl
        self.idle = list(range(FIRST_WORKER, FIRST_WORKER + workers))
        self.ready = []

    def submit(self, job):
        """job(begin, tid) runs a handler and returns when it ends."""
        self.ready.append(job)
        self.turn()

    def turn(self):
        while self.idle and self.ready:
            tid = self.idle.pop(self.crawl.random.randrange(len(self.idle)))
            job = self.ready.pop(0)
            self.crawl.after(self.crawl.between(1_500, 9_000), lambda: self.run(job, tid))

    def run(self, job, tid):
        end = job(self.crawl.now, tid)
        self.crawl.at(end, lambda: self.rest(tid))

    def rest(self, tid):
        self.idle.append(tid)
        self.turn()


class Crawl:
    """After run(), what the trace must show: pages, at_once, retries, time_outs, never."""

    def __init__(self, pages=1000, at_once=16, seed=1, workers=4):
        self.pages = pages
        self.at_once = at_once
        self.random = random.Random(seed)
        self.writer = Writer()
        self.events = []
        self.now = 0
        self.turns = 0
        self.begun = 0
        self.done = 0
        self.retries = 0
        self.time_outs = 0
        self.never = 2
        self.workers = workers
        self.pool = Pool(self, workers)

    def between(self, least, most):
        return self.random.randrange(least, most)

    def at(self, moment, action):
        self.turns += 1
        heapq.heappush(self.events, (moment, self.turns, action))

    def after(self, nanoseconds, action):
        self.at(self.now + nanoseconds, action)

    def run(self):
        """The trace's writer, filled."""
        writer = self.writer
        writer.thread(MAIN, "main")
        writer.thread(NETWORK, "network")
        for number in range(self.workers):
            writer.thread(FIRST_WORKER + number, f"worker {number}")
        self.map = self.writer.identity()
        self.begun_at = MS // 2
        for number in range(self.never):
            writer.promise("subscription", 2 * MS, label=f"news {number}", site="crawl+0x4100 (subscribe+0x10)")
        for _ in range(min(self.at_once, self.pages)):
            self.at(self.begun_at + self.between(1_000, 90_000), lambda: self.next_page(None))
        while self.events:
            self.now, _, action = heapq.heappop(self.events)
            action()
        end = self.now + 4_000
        writer.promise(
            "map", self.begun_at, end, MAIN, self.last_tid, id=self.map, label="crawl",
            site="crawl+0x1200 (main+0x2a)", value=f"list of {self.pages}",
        )  # fmt: skip
        writer.blocked(self.map, MS, end + 30_000, MAIN)
        self.count(end)
        return writer

    def next_page(self, before):
        """The map calls its function, after a page was settled, or at first."""
        if self.begun == self.pages:
            return
        number, self.begun = self.begun, self.begun + 1

        def job(begin, tid):
            end = begin + self.between(6_000, 30_000)
            self.writer.handler(self.map, begin, end, tid, reads=before, name="crawl")
            Page(self, number, begin + 2_000, tid).attempt(None)
            return end

        self.pool.submit(job)

    def page_done(self, page, tid):
        self.done += 1
        self.last_tid = tid
        self.next_page(page)

    def count(self, end):
        """Counters once a millisecond, by what was written."""
        steps = []
        for each in self.writer.events:
            if each.get("cat") == "promise" and each["ph"] in "be":
                steps.append((each["ts"] * 1000 - self.writer.start, 1 if each["ph"] == "b" else -1))
        steps.sort()
        pending, at = 0, 0
        for moment in range(0, end, MS):
            while at < len(steps) and steps[at][0] <= moment:
                pending += steps[at][1]
                at += 1
            self.writer.counter(moment, pending + 3 + at // 400, pending)


class Page:
    """One page: its attempts, until one succeeds."""

    def __init__(self, crawl, number, made, tid):
        self.crawl = crawl
        self.number = number
        self.made = made
        self.tid = tid
        self.id = crawl.writer.identity()
        chance = crawl.random.random()
        self.failures = 2 if chance < 0.02 else 1 if chance < 0.1 else 0
        self.tries = 0
        crawl.writer.on(crawl.map, self.id, made, tid)

    def attempt(self, before):
        """One call of the retry's function, after a delay or at first."""
        crawl, writer = self.crawl, self.crawl.writer
        attempt, self.tries = self.tries, self.tries + 1

        def job(begin, tid):
            end = begin + crawl.between(5_000, 25_000)
            writer.handler(self.id, begin, end, tid, reads=before, name=f"page {self.number}")
            made = begin + 1_000
            bad = attempt < self.failures
            hangs = bad and crawl.random.random() < 0.5
            took = LIMIT if hangs else crawl.between(2 * MS, 14 * MS)
            request, limit, parse = writer.identity(), writer.identity(), writer.identity()
            writer.on(self.id, parse, end, tid)
            crawl.at(made + took, lambda: self.answer(attempt, made, tid, bad, hangs, request, limit, parse))
            return end

        crawl.pool.submit(job)

    def answer(self, attempt, made, tid, bad, hangs, request, limit, parse):
        """The request was settled, or its time-out came first."""
        crawl, writer, now = self.crawl, self.crawl.writer, self.crawl.now
        name = f"request {self.number}.{attempt}"
        error = {"value": "200 OK"}
        if bad:
            error = {"error": "VOW_ECANCELLED" if hangs else "http 500"}
        writer.promise(
            "promise", made, now + (2_000 if hangs else 0), tid, NETWORK, id=request, label=name,
            site="crawl+0x1b00 (request+0x30)", **error,
        )  # fmt: skip
        if hangs:
            error = {"error": "VOW_ETIMEDOUT"}
            crawl.time_outs += 1
            writer.cancel(request, now + 1_000, NETWORK)
        passed = now + 500
        writer.promise("timeout", made + 500, passed, tid, NETWORK, id=limit, reads=request, **error)
        then = dict(id=parse, label=f"parse/{self.number}", reads=limit, executor="pool")
        site = "crawl+0x1c20 (parse_page+0x14)"
        if bad:
            writer.promise("then", made + 800, passed + 300, tid, NETWORK, site=site, **then, **error)
            crawl.at(passed + 900, lambda: self.again(parse))
            return

        def job(begin, worker):
            end = begin + crawl.between(50_000, 900_000)
            value = f"{self.number % 9} links"
            writer.promise("then", made + 800, end, tid, worker, site=site, value=value, **then)
            writer.handler(parse, begin, end, worker, reads=limit, name=then["label"])
            crawl.at(end, lambda: self.settle(end + 700, worker))
            return end

        crawl.at(passed, lambda: crawl.pool.submit(job))

    def again(self, failed):
        """A delay, then the next attempt."""
        crawl, now = self.crawl, self.crawl.now
        crawl.retries += 1
        pause = crawl.between(MS, 4 * MS)
        delay = crawl.writer.promise("delay", now, now + pause, NETWORK, NETWORK)
        crawl.writer.on(self.id, delay, now, NETWORK)
        crawl.after(pause, lambda: self.attempt(delay))

    def settle(self, moment, tid):
        site = "crawl+0x1a30 (fetch_page+0x5c)"
        self.crawl.writer.promise(
            "retry", self.made, moment, self.tid, tid, id=self.id, label=f"page {self.number}",
            site=site, executor="pool",
        )  # fmt: skip
        self.crawl.at(moment, lambda: self.crawl.page_done(self.id, tid))
