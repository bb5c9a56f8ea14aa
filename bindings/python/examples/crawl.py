"""Hundreds of pages found by their links, 16 at a time, with time-outs, retries and back-off.

Wave by wave: the pages of one wave are fetched, and the new ones that they link to are the next.
Blocking requests on threads of their own; all else on asyncio's thread, so without a lock.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import re
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Optional

import vow
from site_of_pages import PAGES, Site

AT_A_TIME = 16

threads = vow.from_futures(ThreadPoolExecutor(AT_A_TIME, "fetch"))


class StatusError(Exception):
    """An answer that is not 200."""


def request(connection: http.client.HTTPConnection, path: str, resolver: vow.Resolver[str]) -> None:
    """One request, blocking. What it raises rejects the promise of the resolver."""
    with resolver, contextlib.closing(connection):
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read().decode()
        if response.status != 200:
            raise StatusError(response.status)
        resolver.resolve(body)


def hang_up(connection: http.client.HTTPConnection) -> None:
    """Wakes the thread that blocks in a request that nobody wants any more."""
    if connection.sock is not None:
        with contextlib.suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)


def fetch(port: int, path: str) -> vow.Promise[str]:
    """The text of a page. When the promise is cancelled, the request is."""
    promise, resolver = vow.pending()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    resolver.on_cancel(lambda: hang_up(connection))
    threads.run(request, connection, path, resolver)
    return promise


class Crawl:
    """What was seen, what arrived, and how often a page was asked for again."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.seen = {0}
        self.arrived: set[int] = set()
        self.retries = 0
        self.under_way = self.most = 0
        self.end, self.whole = vow.pending()

    def page(self, number: int) -> vow.Promise[list[int]]:
        """The pages that a page links to and nobody has seen yet."""
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        tries = vow.retry(
            lambda attempt: self.attempt(number, attempt),
            attempts=10,
            first_delay=0.01,
            max_delay=0.2,
            jitter=1.0,
            may_retry=lambda error: isinstance(
                error, (StatusError, OSError, http.client.HTTPException)
            ),
        )
        return tries.finally_(self.leave).then(lambda text: self.links(number, text))

    def leave(self) -> None:
        self.under_way -= 1

    def attempt(self, number: int, attempt: int) -> vow.Promise[str]:
        self.retries += attempt > 1
        # When the time is up, the request loses its only reader, and is cancelled.
        return vow.timeout(fetch(self.port, f"/page/{number}"), 0.3)

    def links(self, number: int, text: str) -> list[int]:
        self.arrived.add(number)
        self.whole.set_progress(len(self.arrived) / PAGES, f"page {number}")
        found = {int(link) for link in re.findall(r'href="/page/(\d+)"', text)} - self.seen
        self.seen |= found
        return sorted(found)

    async def run(self) -> None:
        """Wave by wave, until no page is left."""
        if sys.stderr.isatty():
            self.end.on_progress(draw, interval=0.05)
        pages = [0]
        with self.whole:
            while pages:
                lists = await vow.map(pages, self.page, concurrency=AT_A_TIME)
                pages = [page for links in lists for page in links]
            self.whole.resolve()


def draw(fraction: float, note: Optional[str]) -> None:
    """A bar on the terminal."""
    done = round(40 * fraction)
    print(f"\r[{'#' * done}{'.' * (40 - done)}] {note or '':12}", end="", file=sys.stderr)


async def main() -> None:
    with Site() as site:
        crawl = Crawl(site.server_address[1])
        start = time.monotonic()
        await crawl.run()
        seconds = time.monotonic() - start
        failed = sum(site.failures.values())
        print(f"pages: {len(crawl.arrived)} of {PAGES}")
        print("failed at first:", ", ".join(f"{n} by {kind}" for kind, n in site.failures.items()))
        print(f"each asked again: {'yes' if crawl.retries >= failed else 'no'}")
        print(f"at the same time: {crawl.most}")
        print(
            f"{len(crawl.arrived)} pages, {crawl.retries} retries, {seconds:.2f} s", file=sys.stderr
        )


if __name__ == "__main__":
    asyncio.run(main())
    # A thread that has settled the last one may have something to let go of still.
    patience = time.monotonic() + 10
    while vow.stats().pending > 0 and time.monotonic() < patience:
        time.sleep(0.01)
    print("promises pending:", vow.stats().pending)
