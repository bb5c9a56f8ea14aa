"""Reads the core's graph of calls from LLVM's text, and says what goes up and what comes back to itself.

    core_graph.py FILE --floors FOLDER=NUMBER... --exceptions FILE:NAME... [--check]

A function is what its source is: its closures, specialisations and default arguments are part of it, or of whoever has
them made. What is called, or has its address taken, is named; only calls can come back.
"""

import argparse
import collections
import os
import re
import subprocess
import sys

LARGEST_KNOT = 6

Function = collections.namedtuple("Function", "file name")

# What the compiler makes of a function besides its own code.
MADE_OF = re.compile(
    r"^((implicit )?closure #\d+ (\([^)]*\) )?in |\$defer #\d+ (<\w+>)?\(\) in |default argument \d+ of "
    r"|partial apply for |((generic|function signature) )?specialized )+"
)


def read(path):
    """The functions of a file of LLVM's text: symbol -> (where its source is, calls, addresses taken)."""
    files, sources, found, current = {}, {}, {}, None
    symbol = re.compile(r'@("[^"]*"|[\w.$]+)')
    call = re.compile(r'\bcall .*?@("[^"]*"|[\w.$]+)\(')
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith("define"):
                name = symbol.search(line).group(1).strip('"')
                place = re.search(r"!dbg !(\d+)", line)
                current = found[name] = (place and place.group(1), set(), set())
            elif line.startswith("}"):
                current = None
            elif current is not None and "#dbg" not in line:
                called = call.search(line)
                if called:
                    current[1].add(called.group(1).strip('"'))
                current[2].update(name.strip('"') for name in symbol.findall(line))
            elif match := re.match(r'!(\d+) = (?:distinct )?!DIFile\(filename: "([^"]*)"', line):
                files[match.group(1)] = match.group(2)
            elif match := re.match(r"!(\d+) = (?:distinct )?!DISubprogram\(.*?file: !(\d+)", line):
                sources[match.group(1)] = match.group(2)
    result = {}
    for name, (place, calls, taken) in found.items():
        source = re.search(r"VowCore/([\w/]+\.swift)", files.get(sources.get(place, ""), ""))
        result[name] = (source and source.group(1), calls, taken)
    return result


def demangled(names):
    names = list(names)
    lines = subprocess.run(
        [os.environ["SWIFT_DEMANGLE"], "-simplified", "-compact"],
        input="\n".join(names), capture_output=True, text=True, check=True,
    ).stdout.split("\n")
    return dict(zip(names, lines))


def graph(symbols, are_edges):
    """Function -> those that it reaches: through what has no source of its own, too."""
    texts = demangled(symbols)
    nodes = {
        name: Function(file, MADE_OF.sub("", texts[name])) if file else Function(None, name)
        for name, (file, _, _) in symbols.items()
    }
    direct = collections.defaultdict(set)
    for name, (_, calls, taken) in symbols.items():
        for other in are_edges(calls, taken, texts):
            if other in nodes and nodes[other] != nodes[name]:
                direct[nodes[name]].add(nodes[other])

    def reached(node, seen):
        for other in direct[node]:
            if other.file:
                yield other
            elif other not in seen:
                seen.add(other)
                yield from reached(other, seen)

    return {node: set(reached(node, set())) - {node} for node in set(nodes.values()) if node.file}


def everything(calls, taken, texts):
    return taken


def calls_only(calls, taken, texts):
    """What is called, and what is handed down to be called on the way: closures, not functions for other threads."""
    return calls | {name for name in taken if MADE_OF.match(texts.get(name, ""))}


def knots(edges):
    """The strongly connected parts of more than one node, the largest first (Tarjan)."""
    index, low, stack, on_stack, parts = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for other in edges.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on_stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            part = []
            while not part or part[-1] != node:
                part.append(stack.pop())
                on_stack.discard(part[-1])
            if len(part) > 1:
                parts.append(sorted(part))

    sys.setrecursionlimit(100_000)
    for node in sorted(edges):
        if node not in index:
            visit(node)
    return sorted(parts, key=len, reverse=True)


def plain(name):
    """`giveBack` of `UnsafeMutablePointer<A>.giveBack(_:_:)`."""
    return re.split(r"[(<]", re.sub(r"^.*>\.", "", name))[0].split(".")[-1]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("file")
    arguments.add_argument("--floors", nargs="+", required=True)
    arguments.add_argument("--exceptions", nargs="+", default=[])
    arguments.add_argument("--check", action="store_true")
    given = arguments.parse_args()
    floors = {pair.split("=")[0]: int(pair.split("=")[1]) for pair in given.floors}
    exceptions = set(given.exceptions)

    def folder(function):
        return function.file.split("/")[0]

    def is_allowed(function, other):
        return not exceptions.isdisjoint(
            (f"{function.file}:*", f"{function.file}:{plain(other.name)}")
        )

    symbols = read(given.file)
    names = graph(symbols, everything)
    up = sorted(
        (function, other)
        for function, others in names.items()
        for other in others
        if floors[folder(other)] > floors[folder(function)]
    )
    forbidden = [pair for pair in up if not is_allowed(*pair)]
    between = collections.defaultdict(set)
    for function, others in names.items():
        between[folder(function)] |= {
            folder(other) for other in others if not is_allowed(function, other)
        } - {folder(function)}
    calls = graph(symbols, calls_only)
    tied = knots({
        function: {other for other in others if not is_allowed(function, other)}
        for function, others in calls.items()
    })
    cycles = knots(between)

    if not given.check:
        print(f"{len(names)} functions, {sum(map(len, names.values()))} times one names another")
        print(f"{len(up)} of these go up, {len(up) - len(forbidden)} as exceptions say")
        print(f"the largest knot of calls without the exceptions: {len(tied[0]) if tied else 0}")
        print(f"with them: {len(knots(calls)[0])}")
        for knot in tied:
            print("  " + ", ".join(f"{function.file}: {plain(function.name)}" for function in knot))
        return 0

    wrong = 0
    for ok, sentence, found in (
        (not forbidden, "no call goes up but the exceptions",
         [f"{a.file}: {a.name} calls {b.name} of {b.file}" for a, b in forbidden]),
        (not cycles, "no cycle over floors", [" ".join(cycle) for cycle in cycles]),
        (not tied or len(tied[0]) <= LARGEST_KNOT,
         f"no more than {LARGEST_KNOT} functions call one another in a circle",
         [" ".join(plain(function.name) for function in tied[0])] if tied else []),
    ):
        print(f"{'ok' if ok else 'not ok'} graph: {sentence}")
        if not ok:
            wrong += 1
            print("\n".join("  " + line for line in found))
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
