"""A small HTTP site on threads of its own, which fails on purpose. Knows nothing of promises."""

from __future__ import annotations

import http.server
import socket
import struct
import threading

PAGES = 500


class Site(http.server.ThreadingHTTPServer):
    """Page n links to pages 3n + 1 to 3n + 3, to itself and to the first; every tenth fails once."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.lock = threading.Lock()
        self.asked: set[int] = set()
        self.failures = {"status": 0, "reset": 0, "hang": 0}
        self.ended = threading.Event()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,))

    def __enter__(self) -> Site:
        self._thread.start()
        return self

    def __exit__(self, *what: object) -> None:
        self.ended.set()
        self.shutdown()
        self._thread.join()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hung up is no news."""


class _Request(http.server.BaseHTTPRequestHandler):
    server: Site

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        site, number = self.server, int(self.path.rpartition("/")[2])
        with site.lock:
            first = number not in site.asked
            site.asked.add(number)
            failure = ""
            if first and number % 10 == 7:
                failure = ("status", "reset", "hang")[number // 10 % 3]
                site.failures[failure] += 1
        if failure == "status":
            self.send_error(500)
        elif failure == "reset":
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()
        elif failure == "hang":
            # Until the client has had enough, or the site ends.
            self.connection.settimeout(0.05)
            while not site.ended.is_set():
                try:
                    if not self.connection.recv(1):
                        break
                except TimeoutError:
                    pass
        else:
            links = [0, number, *(n for n in range(3 * number + 1, 3 * number + 4) if n < PAGES)]
            body = " ".join(f'<a href="/page/{link}">' for link in links).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
