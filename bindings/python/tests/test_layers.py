"""The package's modules stand on each other: imports go downwards only."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Iterator

import vow

PACKAGE = Path(vow.__path__[0])

# Upwards, by name and for a reason.
UPWARDS = {
    ("_elsewhere", "trio"): "who awaits in trio need not have imported vow.trio",
}


def imports(node: ast.AST) -> Iterator[str]:
    """The package's modules that are imported in a piece of code, also in functions; not for types alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        if isinstance(child, ast.ImportFrom) and child.level == 1:
            yield from [child.module] if child.module else [name.name for name in child.names]
        yield from imports(child)


def graph() -> dict[str, set[str]]:
    """What each module imports, but for what may go upwards."""
    below = {
        path.stem: {name for name in imports(ast.parse(path.read_text())) if name != "_core"}
        for path in PACKAGE.glob("*.py")
    }
    for lower, higher in UPWARDS:
        below[lower].remove(higher)
    return below


def cycle(below: dict[str, set[str]]) -> list[str]:
    """A way from a module to itself; none is an empty list."""
    done: set[str] = set()

    def look(name: str, way: list[str]) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name not in done:
            for other in sorted(below.get(name, ())):
                found = look(other, [*way, name])
                if found:
                    return found
            done.add(name)
        return []

    return next(filter(None, (look(name, []) for name in sorted(below))), [])


def test_no_module_stands_on_itself() -> None:
    below = graph()
    assert len(below) > 20
    assert cycle(below) == []


def test_a_cycle_would_be_found() -> None:
    below = graph()
    below["_seconds"].add("_promise")
    found = cycle(below)
    assert found[0] == found[-1] and {"_seconds", "_promise"} <= set(found)
