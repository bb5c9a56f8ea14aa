"""Opens a trace or a live graph, and reads a trace's lines as the library writes them."""

import gzip
import io
import sys
import zlib

from .errors import Fault, InputError
from .scanning import Cut, Document, Source, decoded

SNIFFED = 1 << 16
GRAPH = ("nodes", "edges", "threads")
CLOSING = ("]}", "]")


class Lines(Source):
    """A trace with an event a line, after a first line that ends in a bracket: its events, one by one."""

    def __init__(self, stream, name, partial=False):
        super().__init__(name, partial)
        self.stream = stream
        self.line = 0
        self.byte = 0
        self.closed = False

    def place(self):
        found = f"line {self.line} (byte {self.byte})"
        return f"{found}, event {self.number}" if self.number else found

    def __iter__(self):
        following = 0
        for raw in raw_lines(self):
            self.line += 1
            self.byte, following = following, following + len(raw)
            text = raw.decode("utf-8", "replace").strip("\ufeff \t\r\n")
            if text[-1:] == ",":
                text = text[:-1].rstrip()
            if not text:
                continue
            try:
                event = self._event(text)
            except Cut:
                if raw[-1:] == b"\n":
                    self.fault(Fault("no JSON: it ends too early"))
                    continue
                self.cut = f"in {self.place()}"
                return
            except Fault as fault:
                self.fault(fault)
            else:
                if event is not None:
                    yield event
        if not self.closed and not self.cut:
            self.cut = f"after line {self.line} (byte {following})"

    def _event(self, text):
        """The event on a line; None on the first line and on the last."""
        if self.line == 1 and text[-1] == "[":
            head, _ = decoded(f"{text}]}}")
            other = head.get("otherData") if type(head) is dict else None
            self.other = other if type(other) is dict else {}
            return None
        if self.closed:
            raise Fault("something follows the end of the trace")
        if text in CLOSING:
            self.closed = True
            return None
        self.number += 1
        event, end = decoded(text)
        rest = text[end:].strip()
        if rest in CLOSING:
            self.closed = True
        elif rest:
            raise Fault("something follows an event on its line")
        if type(event) is not dict:
            raise Fault("no JSON object")
        return event


def raw_lines(source):
    """Lines of bytes, until the end or until what is packed cannot be unpacked."""
    try:
        with source.stream:
            yield from source.stream
    except EOFError:
        source.cut = f"after line {source.line}, where the packed file ends"
    except (zlib.error, gzip.BadGzipFile):
        source.fault(Fault("after it the packed file is damaged"))
    except OSError as error:
        raise InputError(f"{source.name}: {error.strerror or error}") from error


def content(stream, name, partial):
    """All bytes, or those up to where what is packed was cut off: their JSON says that it is not complete."""
    found = []
    try:
        with stream:
            while True:
                part = stream.read1(SNIFFED)
                if not part:
                    break
                found.append(part)
    except EOFError:
        pass
    except (zlib.error, gzip.BadGzipFile) as error:
        if not partial:
            raise InputError(f"{name}: byte {sum(map(len, found))} unpacked: the packed file is damaged") from error
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from error
    return b"".join(found)


def opened(path):
    """The file's bytes, unpacked if it is gzip's. They are read twice, so what cannot go back is kept."""
    try:
        raw = sys.stdin.buffer if path == "-" else open(path, "rb")
        if not raw.seekable():
            with raw:
                raw = io.BytesIO(raw.read())
        start = raw.read(2)
        raw.seek(0)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    return gzip.open(raw) if start == b"\x1f\x8b" else raw


def beginning(stream, path):
    """The first so many bytes as text, without what may stand before it."""
    try:
        start = stream.read1(SNIFFED)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: byte 0: the packed file is damaged, or was cut off") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    found = start.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if not found:
        raise InputError(f"{path}: the file is empty: its program ended before it wrote anything")
    if found[0] not in "{[":
        raise InputError(f"{path}: byte 0: neither a trace nor a live graph: it does not begin with {{ or [")
    return found


def document_of(path, partial=False):
    """("graph", a Document) or ("trace", what gives its events)."""
    stream = opened(path)
    start = beginning(stream, path)
    stream.seek(0)
    head, *more = start.split("\n", 1)
    if more and head.rstrip().endswith("[") and '"traceEvents"' in head:
        return "trace", Lines(stream, path, partial)
    is_graph = '"traceEvents"' not in start and '"ph"' not in start and '"nodes"' in start
    text = content(stream, path, partial).decode("utf-8-sig", "replace")
    if is_graph:
        return "graph", Document(text, path, partial, GRAPH)
    return "trace", Document(text, path, partial)
