"""Reads the lines of a trace, or a live graph; what is cut off is left out and counted."""

import gzip
import io
import json
import sys

from .errors import InputError

BROKEN = (ValueError, TypeError, RecursionError)


class Lines:
    """A trace's events, one by one; afterwards `other` and `skipped` are known."""

    def __init__(self, stream, name):
        self.stream = stream
        self.name = name
        self.other = {}
        self.skipped = 0
        self.closed = False

    def __iter__(self):
        loads = json.loads
        for line in self.stream:
            line = line.strip()
            if line[-1:] == ",":
                line = line[:-1]
            if not line or line == "[":
                continue
            try:
                event = loads(line)
            except BROKEN:
                event = self._partly(line)
                if event is None:
                    continue
            if isinstance(event, dict) and "traceEvents" in event:
                yield from self._whole(event)
            elif isinstance(event, dict):
                yield event
            elif isinstance(event, list):
                yield from self._whole({"traceEvents": event})
            else:
                self.skipped += 1

    def _partly(self, line):
        """The first line, the last, or one that was cut off: the event on it, or None."""
        if line in ("]}", "]"):
            self.closed = True
            return None
        for end, closing in (("[", "]}"), ("]}", ""), ("]", "")):
            if line.endswith(end):
                try:
                    found = json.loads(line + closing if closing else line[: -len(end)])
                except BROKEN:
                    continue
                if closing:
                    self._header(found)
                    return None
                self.closed = True
                return found
        self.skipped += 1
        return None

    def _whole(self, document):
        """A trace on one line, as other tools write it."""
        self._header(document)
        events = document["traceEvents"]
        for event in events if isinstance(events, list) else ():
            if isinstance(event, dict):
                yield event
            else:
                self.skipped += 1
        self.closed = True

    def _header(self, document):
        other = document.get("otherData") if isinstance(document, dict) else None
        if isinstance(other, dict):
            self.other = other


def standard_input():
    """All of it in memory, since its beginning is read twice."""
    return io.BytesIO(sys.stdin.buffer.read())


def open_text(path):
    """The file as text, unpacked if it is gzip's; bytes that are no UTF-8 become marks."""
    try:
        raw = io.BufferedReader(standard_input()) if path == "-" else open(path, "rb")
        start = raw.peek(2)[:2]
        if start == b"\x1f\x8b":
            raw = gzip.open(raw)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    return io.TextIOWrapper(raw, encoding="utf-8", errors="replace", newline="\n")


def document_of(path):
    """("graph", its JSON) or ("trace", its Lines)."""
    stream = open_text(path)
    try:
        start = stream.read(4096).lstrip("\ufeff \t\r\n")
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: {error}") from error
    if not start:
        raise InputError(f"{path}: the file is empty")
    if start[0] not in "{[":
        raise InputError(f"{path}: neither a trace nor a live graph: it does not begin with {{ or [")
    stream.seek(0)
    if '"traceEvents"' not in start and '"ph"' not in start and '"nodes"' in start:
        return "graph", whole_json(stream, path)
    if start.count("\n") and start.split("\n", 1)[0].strip() in ("{", "["):
        return "trace", pretty(stream, path)
    return "trace", Lines(stream, path)


def pretty(stream, path):
    """A trace that another tool has laid out over many lines: read as one document."""
    text = stream.read()
    try:
        document = json.loads(text)
    except BROKEN:
        return Lines(io.StringIO(text), path)
    return Lines(io.StringIO(json.dumps(document)), path)


def whole_json(stream, path):
    """One JSON object, the whole file."""
    try:
        document = json.load(stream)
    except BROKEN as error:
        raise InputError(f"{path}: not JSON to its end: {error}") from error
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: {error}") from error
    if not isinstance(document, dict):
        raise InputError(f"{path}: neither a trace nor a live graph")
    return document
