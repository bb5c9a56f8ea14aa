"""Small traces and graphs of every kind, in the layouts that there are: what the fuzzer begins with."""

import gzip
import json

from crawl import Crawl
from shapes import SHAPES, nested
from support import Writer

COMPACT = (",", ":")


def mixture():
    """One of each event, and names of every sort."""
    writer = Writer()
    writer.thread(1, "main")
    writer.event("M", "vow_module", 0, None, args={"name": "app", "path": "/usr/bin/app"})
    first = writer.promise("promise", 0, 900, label="page 1 “ä” \u4e2d", site="app+0x12 (main+0x2)", value="200 OK")
    then = writer.promise("then", 10, 1500, reads=first, executor="pool", error="VOW_ETIMEDOUT", settled_tid=2)
    writer.handler(then, 1000, 1400, tid=2, reads=first)
    writer.blocked(then, 20, 1600)
    limit = writer.promise("timeout", 30, 1450, reads=then, error="VOW_ETIMEDOUT")
    stopped = writer.promise("promise", 40, 1550, error="VOW_ECANCELLED")
    writer.cancel(stopped, 1540)
    writer.on(limit, stopped, 50, how="follows")
    writer.event("n", "progress", 1, 60, cat="promise", id=stopped, args={"fraction": 0.5, "note": "half"})
    writer.event("s", "settled", 1, 900, cat="flow", id=then)
    writer.event("f", "settled", 2, 1000, cat="flow", id=then, bp="e")
    one = writer.promise("then", 70, 1700, reads="0x6", error="VOW_ECYCLE")
    writer.promise("then", 70, 1700, reads=one, error="VOW_ECYCLE")
    hangs = writer.promise("all", 80, None, label="hangs")
    writer.on(hangs, writer.promise("delay", 90, None), 90)
    for moment in range(0, 1_700, 300):
        writer.counter(moment, 5, 3)
    return writer


def lines(writer):
    """As the library writes them: an event a line, without spaces."""
    document = json.loads(writer.text())
    head = json.dumps({each: document[each] for each in document if each != "traceEvents"}, separators=COMPACT)
    events = (json.dumps(each, separators=COMPACT, ensure_ascii=False) for each in document["traceEvents"])
    return f'{head[:-1]},"traceEvents":[\n' + ",\n".join(events) + "\n]}\n"


def graph(count):
    """A live graph of a chain, with a ring in it and a thread that waits."""
    nodes = [
        {"id": hex(each), "address": hex(each * 64), "kind": "then", "state": "pending", "age_ns": each * 1_000, "handlers": 1}
        for each in range(1, count + 1)
    ]
    nodes[0].update(label="answer", site="app+0x12 (main+0x2)", executor="pool", progress=0.25)
    edges = [{"from": hex(each + 1), "to": hex(each), "kind": "reads"} for each in range(1, count)]
    edges.append({"from": "0x2", "to": "0x3", "kind": "member"})
    threads = [{"tid": 12, "awaits": hex(count), "age_ns": 5_000}]
    parts = [
        f'"{name}":[\n' + ",\n".join(json.dumps(each, separators=COMPACT) for each in some) + "\n]"
        for name, some in (("nodes", nodes), ("threads", threads), ("edges", edges))
    ]
    return '{"program":"app","time_ns":123456,' + ",".join(parts) + "}\n"


def samples():
    """All of them, as bytes."""
    writers = [mixture(), Crawl(pages=2, at_once=2, seed=3).run(), nested(5)]
    found = [lines(each) for each in writers]
    found += [lines(shape(3)) for shape in SHAPES]
    found += [graph(4), graph(12), lines(Writer())]
    whole = json.loads(lines(mixture()))
    found += [json.dumps(whole), json.dumps(whole, indent=1), json.dumps(whole["traceEvents"])]
    found = [each.encode() for each in found]
    return [*found, gzip.compress(found[0], mtime=0), gzip.compress(found[-2], mtime=0)]
