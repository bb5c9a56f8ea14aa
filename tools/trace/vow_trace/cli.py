"""The command's options, and what it says and returns."""

import argparse
import gc
import json
import os
import pkgutil
import re
import signal
import sys
from pathlib import Path

from . import drawing, graph, page, sites, text
from .analysis import Analysis, as_json
from .building import build
from .errors import InputError, OutputError
from .output import Output
from .reading import document_of

EPILOG = """\
Without --summary, --json or --svg an HTML page is written beside FILE (or to --output) that needs
no network. FILE may be gzip's; "-" is standard input. A trace that was cut off is read up to there,
and what is missing is said. The address of the page holds what is seen: #zoom=BEGIN-END (ns),
select=ID, path=ID, find=TEXT, theme=light or dark. Exit status: 0, 2 for wrong options or files,
1 when nothing could be written.
"""
OVER = 128  # and the number of the signal that ended a run, as shells count


class Parser(argparse.ArgumentParser):
    """What was typed may hold anything; it is said without control characters."""

    def error(self, message):
        self.print_usage(sys.stderr)
        say(message)
        self.exit(2)


def say(sentence):
    """One line on standard error."""
    print(f"vow-trace: {text.clean(sentence, 4 * text.LONGEST)}", file=sys.stderr)


def version():
    """As the archive was made with it, else as the header in the tree says."""
    try:
        return pkgutil.get_data(__package__, "version.txt").decode().strip()
    except OSError:
        header = Path(__file__).resolve().parents[3] / "include" / "vow.h"
        found = re.search(r'VOW_VERSION_STRING "(.*)"', header.read_text(encoding="utf-8"))
        return found[1]


def parser():
    found = Parser(
        prog="vow-trace",
        description="Shows a trace of promises (VOW_TRACE=FILE), or a live graph, as a page, a picture or a summary.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument("file", metavar="FILE", help="a trace, or what vow_graph_write wrote as JSON")
    found.add_argument("-o", "--output", metavar="HTML", help="where the page goes; - is standard output")
    found.add_argument("-f", "--force", action="store_true", help="overwrite files that are there already")
    found.add_argument("--partial", action="store_true", help="leave out what is wrong in FILE, and say how much")
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
        say(each)


def page_name(options):
    if options.output:
        return options.output
    if options.file == "-":
        return "trace.html"
    name = Path(options.file)
    while name.suffix in (".gz", ".json"):
        name = name.with_suffix("")
    return str(name.parent / f"{name.name}.html")


def wants_page(options):
    return bool(options.output or not (options.summary or options.json or options.svg or options.dot))


def show(result, options, output):
    """What was asked for, of a trace's analysis or a graph: both have the same four forms."""
    for each in result.notes():
        say(f"{options.file}: {each}")
    if options.summary:
        output.write("-", result.summary())
    if options.json:
        output.write("-", json.dumps(result.json(), indent=2) + "\n")
    if options.svg:
        output.write(options.svg, result.svg())
    if options.dot:
        output.write(options.dot, result.dot())
    if wants_page(options):
        name = page_name(options)
        notes, content = result.page()
        output.write(name, content)
        for each in notes:
            if each not in result.notes():
                say(f"{name}: {each}")
        if name != "-":
            print(text.on_one_line(name) if sys.stdout.isatty() else name)


class TraceForms:
    """A trace's page, picture, summary and JSON."""

    def __init__(self, analysis):
        self.analysis = analysis

    def notes(self):
        return self.analysis.trace.notes

    def summary(self):
        return text.summary(self.analysis)

    def json(self):
        return as_json(self.analysis)

    def svg(self):
        return drawing.picture(self.analysis)

    def page(self):
        return page.trace_page(self.analysis)


def forms_of(options):
    """What the file has, of which everything can be made that there is to ask for."""
    kind, source = document_of(options.file, options.partial)
    name = "standard input" if options.file == "-" else Path(options.file).name
    if kind == "graph":
        found = graph.read(source, name)
        if options.resolve:
            resolve(found.nodes.values(), {}, options)
        return found
    if options.dot:
        raise InputError("--dot is for a live graph, not for a trace")
    trace = build(source)
    if options.resolve:
        resolve(trace.promises.values(), trace.modules, options)
    chosen = find(trace, options.path) if options.path else None
    return TraceForms(Analysis(trace, name, chosen, options.top))


def run(options):
    output = Output(options.file, options.force)
    output.check([each for each in (options.svg, options.dot, page_name(options) if wants_page(options) else None) if each])
    show(forms_of(options), options, output)


def ended(number, frame):
    """A signal: by way of what clears up behind itself."""
    raise SystemExit(OVER + number)


def heard():
    """Signals that would end the command at once let it remove its half-written file first."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(each) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(each, ended)


def silenced():
    """Nothing more goes to standard output, and what waits for it is no error at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(arguments=None):
    """Returns the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    options = parser().parse_args(arguments)
    heard()
    gc.disable()  # a trace is one large heap that lives to the end: looking for rings in it only takes time
    try:
        run(options)
        sys.stdout.flush()
    except InputError as error:
        say(error)
        return 2
    except OutputError as error:
        say(error)
        return 1
    except MemoryError:
        say(f"{options.file}: there is not enough memory for it")
        return 1
    except BrokenPipeError:
        silenced()
        return 1
    except OSError as error:
        silenced()
        say(f"{error.filename or 'standard output'}: {error.strerror or error}")
        return 1
    return 0
