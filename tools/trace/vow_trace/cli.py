"""The command's options, and what it says and returns."""

import argparse
import gc
import json
import pkgutil
import re
import sys
from pathlib import Path

from . import drawing, graph, page, sites, text
from .analysis import Analysis, as_json
from .building import build
from .errors import InputError
from .reading import document_of

EPILOG = """\
Without --summary, --json or --svg an HTML page is written beside FILE (or to --output) that needs
no network. FILE may be gzip's; "-" is standard input. A trace that was cut off is read up to there.
The address of the page holds what is seen: #zoom=BEGIN-END (ns), select=ID, path=ID, find=TEXT,
theme=light or dark. Exit status: 0, 2 for wrong options or files, 1 when nothing could be written.
"""


def version():
    """As the archive was made with it, else as the header in the tree says."""
    try:
        return pkgutil.get_data(__package__, "version.txt").decode().strip()
    except OSError:
        header = Path(__file__).resolve().parents[3] / "include" / "vow.h"
        found = re.search(r'VOW_VERSION_STRING "(.*)"', header.read_text(encoding="utf-8"))
        return found[1]


def parser():
    found = argparse.ArgumentParser(
        prog="vow-trace",
        description="Shows a trace of promises (VOW_TRACE=FILE), or a live graph, as a page, a picture or a summary.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument("file", metavar="FILE", help="a trace, or what vow_graph_write wrote as JSON")
    found.add_argument("-o", "--output", metavar="HTML", help="where the page goes; - is standard output")
    found.add_argument("--summary", action="store_true", help="print a summary")
    found.add_argument("--json", action="store_true", help="print the analysis as JSON")
    found.add_argument("--svg", metavar="FILE", help="write a picture of the timeline (or graph)")
    found.add_argument("--dot", metavar="FILE", help="of a live graph: write it for Graphviz")
    found.add_argument("--path", metavar="ID", help="the critical path to this promise (0x1f) or label, not to the last")
    found.add_argument("--top", metavar="N", type=count, default=10, help="so many longest waits (10)")
    found.add_argument("--resolve", action="store_true", help="sites as file and line, by addr2line")
    found.add_argument(
        "--binary", metavar="PATH", action="append", default=[], help="where --resolve finds a program, or its directory"
    )
    found.add_argument("--version", action="version", version=f"vow-trace {version()}")
    return found


def count(value):
    number = int(value)
    if not 0 < number <= 100_000:
        raise argparse.ArgumentTypeError(f"not from 1 to 100000: {value}")
    return number


def write(path, content):
    """A file, or standard output for -."""
    if path == "-":
        sys.stdout.write(content)
        return
    Path(path).write_bytes(content.encode("utf-8", "replace"))


def find(trace, wanted):
    """The promise of an id or label."""
    promise = trace.promises.get(wanted) or trace.promises.get(wanted.lower())
    promise = promise or next((each for each in trace.promises.values() if each.label == wanted), None)
    if promise is None:
        raise InputError(f"--path {wanted}: no promise has that id or label")
    if promise.settled is None:
        raise InputError(f"--path {wanted}: it never settled")
    return promise


def resolve(objects, modules, options):
    places = [Path(each) for each in options.binary] + [Path(options.file).resolve().parent, Path.cwd()]
    _, complaints = sites.resolve(objects, modules, places)
    for each in complaints:
        print(f"vow-trace: {each}", file=sys.stderr)


def page_name(options):
    if options.output:
        return options.output
    if options.file == "-":
        return "trace.html"
    name = Path(options.file)
    while name.suffix in (".gz", ".json"):
        name = name.with_suffix("")
    return str(name.parent / f"{name.name}.html")


def show(result, options):
    """What was asked for, of a trace's analysis or a graph: both have the same four forms."""
    if options.summary:
        write("-", result.summary())
    if options.json:
        write("-", json.dumps(result.json(), indent=2) + "\n")
    if options.svg:
        write(options.svg, result.svg())
    if options.dot:
        write(options.dot, result.dot())
    if options.output or not (options.summary or options.json or options.svg or options.dot):
        name = page_name(options)
        write(name, result.page())
        if name != "-":
            print(name)


class TraceForms:
    """A trace's page, picture, summary and JSON."""

    def __init__(self, analysis):
        self.analysis = analysis

    def summary(self):
        return text.summary(self.analysis)

    def json(self):
        return as_json(self.analysis)

    def svg(self):
        return drawing.picture(self.analysis)

    def dot(self):
        raise InputError("--dot is for a live graph, not for a trace")

    def page(self):
        return page.trace_page(self.analysis)


def run(options):
    kind, content = document_of(options.file)
    name = "standard input" if options.file == "-" else Path(options.file).name
    if kind == "graph":
        found = graph.read(content, name)
        if options.resolve:
            resolve(found.nodes.values(), {}, options)
        show(found, options)
        return
    trace = build(content)
    if options.resolve:
        resolve(trace.promises.values(), trace.modules, options)
    chosen = find(trace, options.path) if options.path else None
    show(TraceForms(Analysis(trace, name, chosen, options.top)), options)


def main(arguments=None):
    """Returns the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    options = parser().parse_args(arguments)
    gc.disable()  # a trace is one large heap that lives to the end: looking for rings in it only takes time
    try:
        run(options)
        sys.stdout.flush()
    except InputError as error:
        print(f"vow-trace: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except OSError as error:
        print(f"vow-trace: {error.filename or ''}: {error.strerror or error}", file=sys.stderr)
        return 1
    return 0
