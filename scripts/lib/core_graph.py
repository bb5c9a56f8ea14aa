"""Reads the core's graph of calls from LLVM's text: core_graph.py FILE SWIFT-DEMANGLE

Prints how large the graph is, and `ok` or `not ok` lines: no function names one of a higher floor but the exceptions, so
that there is no cycle over floors either, and no more than LARGEST_KNOT functions call one another in a circle.

A function is what its source is: its closures, specialisations and default arguments are part of it, or of whoever has
them made. What is called, or has its address taken, is named; only calls can come back.
"""

import collections
import re
import subprocess
import sys

LARGEST_KNOT = 6

# The folders of the core, the lowest floor first, no two equal.
FLOORS = "Platform Records Thread Trace Lifetime Executors Settling Reactions Waiting Combinators Process C Swift".split()

# Who may name what stands higher: FILE:NAME, or FILE:* for all. At most ten.
EXCEPTIONS = {
    # The agenda: its entries are done by those who know what they are.
    "Thread/Drain.swift:*",
    # The first call of the program, on whatever floor it enters, starts the library.
    "Thread/ThreadState.swift:startCore",
    # The last reader of a pending promise goes: its producer hears of it, at once.
    "Lifetime/References.swift:releasePending",
    # A listener's context is destroyed by work for its executor.
    "Settling/Observe.swift:endElsewhere",
}

# What the compiler makes of a function besides its own code.
MADE_OF = re.compile(
    r"^((implicit )?closure #\d+ (\([^)]*\) )?in |\$defer #\d+ (<\w+>)?\(\) in |default argument \d+ of "
    r"|partial apply for |((generic|function signature) )?specialized )+"
)
SYMBOL = re.compile(r'@("[^"]*"|[\w.$]+)')
CALL = re.compile(r'\bcall .*?@("[^"]*"|[\w.$]+)\(')

Function = collections.namedtuple("Function", "file name")


def read(path):
    """The functions of a file of LLVM's text: symbol -> (where its source is, what it calls, what it names)."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    files = dict(re.findall(r'^!(\d+) = (?:distinct )?!DIFile\(filename: "([^"]*)"', text, re.MULTILINE))
    places = dict(re.findall(r"^!(\d+) = (?:distinct )?!DISubprogram\(.*?file: !(\d+)", text, re.MULTILINE))
    symbols = {}
    for head, body in re.findall(r"^(define .*)\n((?:[^}\n].*\n|\n)*)\}", text, re.MULTILINE):
        place = re.search(r"!dbg !(\d+)", head)
        source = re.search(r"VowCore/([\w/]+\.swift)", files.get(places.get(place and place[1]), ""))
        code = re.sub(r".*#dbg.*", "", body)
        calls, names = ({name.strip('"') for name in pattern.findall(code)} for pattern in (CALL, SYMBOL))
        symbols[SYMBOL.search(head)[1].strip('"')] = (source and source[1], calls, names)
    return symbols


def demangled(names, swift_demangle):
    lines = subprocess.run(
        [swift_demangle, "-simplified", "-compact"], input="\n".join(names), capture_output=True, text=True, check=True
    ).stdout.split("\n")
    return dict(zip(names, lines))


def graph(functions, edges):
    """Function -> the others that it reaches: through what has no source of its own, too."""

    def reached(symbol, seen):
        for other in (edges[symbol] & functions.keys()) - seen:
            seen.add(other)
            if functions[other].file:
                yield functions[other]
            else:
                yield from reached(other, seen)

    result = {function: set() for function in functions.values() if function.file}
    for symbol, function in functions.items():
        if function.file:
            result[function].update(set(reached(symbol, set())) - {function})
    return result


def knots(edges):
    """The sets of more than one node in which each is reached from each, the largest first."""

    def reached(node):
        seen, todo = set(), [node]
        while todo:
            new = edges.get(todo.pop(), set()) - seen
            seen |= new
            todo.extend(new)
        return seen

    all_reached = {node: reached(node) for node in edges}
    parts = {frozenset(other for other in others if node in all_reached.get(other, ()))
             for node, others in all_reached.items() if node in others}
    return sorted((sorted(part) for part in parts if len(part) > 1), key=len, reverse=True)


def plain(name):
    """`giveBack` of `UnsafeMutablePointer<A>.giveBack(_:_:)`."""
    return re.split(r"[(<]", re.sub(r"^.*>\.", "", name))[0].split(".")[-1]


def floor(function):
    return FLOORS.index(function.file.split("/")[0])


def is_allowed(function, other):
    return not EXCEPTIONS.isdisjoint((f"{function.file}:*", f"{function.file}:{plain(other.name)}"))


def main(path, swift_demangle):
    symbols = read(path)
    texts = demangled(list(symbols), swift_demangle)
    functions = {
        symbol: Function(file, MADE_OF.sub("", texts[symbol]) if file else symbol)
        for symbol, (file, _, _) in symbols.items()
    }
    names = graph(functions, {symbol: named for symbol, (_, _, named) in symbols.items()})
    # What is called, and what is handed down to be called on the way: closures, not functions for other threads.
    closures = {symbol for symbol, text in texts.items() if MADE_OF.match(text)}
    calls = graph(functions, {symbol: called | named & closures for symbol, (_, called, named) in symbols.items()})

    up = [
        f"{function.file}: {function.name} names {other.name} of {other.file}"
        for function, others in names.items()
        for other in others
        if floor(other) > floor(function) and not is_allowed(function, other)
    ]
    tied = knots({function: {other for other in others if not is_allowed(function, other)}
                  for function, others in calls.items()})

    print(f"# {len(names)} functions, {sum(map(len, names.values()))} times one names another")
    for knot in tied:
        print("# in a circle: " + ", ".join(f"{function.file}: {plain(function.name)}" for function in knot))
    failed = 0
    for sentence, wrong in (
        ("there are no more than ten exceptions", sorted(EXCEPTIONS)[10:]),
        ("no call goes up but the exceptions", sorted(up)),
        (f"no more than {LARGEST_KNOT} functions call one another in a circle",
         [f"{len(knot)} do" for knot in tied if len(knot) > LARGEST_KNOT]),
    ):
        print(f"{'not ok' if wrong else 'ok'} graph: {sentence}")
        print("".join(f"  {line}\n" for line in wrong), end="")
        failed |= bool(wrong)
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
