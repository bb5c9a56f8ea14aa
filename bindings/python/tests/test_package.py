"""The wheel, the types, the documents, and how the modules stand on each other."""

from __future__ import annotations

import ast
import graphlib
import importlib.metadata
import inspect
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Iterator

import pytest

import vow


WHEEL = Path(os.environ["VOW_WHEEL"])


def test_what_runs_is_what_was_installed() -> None:
    distribution = importlib.metadata.distribution("vow")
    here = Path(str(distribution.locate_file("vow/__init__.py")))
    assert Path(vow.__file__).samefile(here)
    assert distribution.version == vow.__version__ == WHEEL.name.split("-")[1]


def test_the_wheel_says_what_it_needs() -> None:
    name = re.fullmatch(r"vow-[\d.]+-cp39-abi3-(manylinux_\d+_\d+_\w+)\.whl", WHEEL.name)
    assert name is not None
    with zipfile.ZipFile(WHEEL) as wheel:
        (metadata,) = [n for n in wheel.namelist() if n.endswith(".dist-info/WHEEL")]
        text = wheel.read(metadata).decode()
        assert f"Tag: cp39-abi3-{name.group(1)}" in text
        assert "Root-Is-Purelib: false" in text
        assert "vow/py.typed" in wheel.namelist()
        assert any(n.endswith("LICENSE") for n in wheel.namelist())
        assert not [n for n in wheel.namelist() if "__pycache__" in n]


def test_everything_public_has_words_of_its_own() -> None:
    silent = []
    for name in [*vow.__all__, "all", "any", "map"]:
        item = getattr(vow, name)
        if not (inspect.isclass(item) or inspect.isfunction(item)):
            continue
        if not inspect.getdoc(item):
            silent.append(name)
        if inspect.isclass(item):
            for member, value in vars(item).items():
                if member.startswith("_"):
                    continue
                if (inspect.isfunction(value) or isinstance(value, property)) and not value.__doc__:
                    silent.append(f"{name}.{member}")
    assert silent == []


async def name_of(number: int, *, upper: bool = False) -> str:
    return f"{number}"


def double(number: int) -> int:
    return 2 * number


def test_values_have_their_types() -> None:
    number: vow.Promise[int] = vow.resolved(1)
    text: vow.Promise[str] = vow.delay(0, "text")
    nothing: vow.Promise[None] = vow.delay(0)
    wrong: vow.Promise[str] = vow.resolved(1)  # type: ignore[arg-type]
    promise, resolver = vow.pending(int)
    resolver.resolve("no number")  # type: ignore[arg-type]
    vow.pending(int)[1].resolve()  # type: ignore[call-arg]
    nobody: vow.Resolver[None] = vow.pending()[1]
    assert nobody.resolve() and vow.pending()[1].resolve()
    read: int = promise.wait()
    assert (number.wait(), text.wait(), nothing.wait(), read) == (1, "text", None, read)
    assert str(read) == "no number"
    assert str(wrong.wait()) == "1"


def test_all_of_a_tuple_has_the_types_of_its_members() -> None:
    number, text = vow.all((vow.resolved(1), vow.resolved("text"))).wait()
    as_int: int = number
    as_str: str = text
    as_wrong: str = number  # type: ignore[assignment]
    assert (as_int, as_str, str(as_wrong)) == (1, "text", "1")
    listed: list[int] = vow.all([vow.resolved(1)]).wait()
    assert listed == [1]


def test_arguments_of_functions_that_are_run_are_checked() -> None:
    doubled: vow.Promise[int] = vow.run(double, 2)
    named = vow.run(name_of, 3, upper="yes")  # type: ignore[arg-type]
    there: vow.Promise[int] = vow.pool.run(double, 2)
    by_name: vow.Promise[int] = vow.pool.run(double, number=4)
    assert (doubled.wait(), there.wait(), by_name.wait()) == (4, 4, 8)
    for promise in (named, vow.pool.run(double, "a", "b")):  # type: ignore[call-overload]
        with pytest.raises((RuntimeError, TypeError)):
            promise.wait()


PACKAGE = Path(os.environ["VOW_PACKAGE"])
GUIDE = Path(os.environ["VOW_GUIDE"])


def blocks(document: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", document.read_text(), re.M | re.S)


def run(program: str, *options: str) -> str:
    done = subprocess.run(
        [sys.executable, *options, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    # What asyncio's debug mode says of a busy machine is none of ours.
    assert re.sub(r"^Executing <.*> took [\d.]+ seconds\n", "", done.stderr, flags=re.M) == ""
    return done.stdout


@pytest.mark.parametrize("number", range(len(blocks(GUIDE))))
def test_a_block_of_the_guide(number: int) -> None:
    """Each is a program; `# -> text` says what a line prints."""
    program = blocks(GUIDE)[number]
    said = re.findall(r"# -> (.*)$", program, re.M)
    assert said, "a block of the guide prints nothing"
    assert run(program, "-X", "dev").splitlines() == said


def test_the_crawl() -> None:
    done = subprocess.run(
        [sys.executable, str(PACKAGE / "examples" / "crawl.py")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == (PACKAGE / "examples" / "crawl.expected").read_text()
    assert re.fullmatch(r"500 pages, \d+ retries, [\d.]+ s\n", done.stderr)


# Upwards, by name and for a reason: who awaits in trio need not have imported vow.trio.
UPWARDS = {("_elsewhere", "trio")}


def imports(node: ast.AST) -> Iterator[str]:
    """The package's modules that are imported in a piece of code, also in functions; not for types alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        if isinstance(child, ast.ImportFrom) and child.level == 1:
            yield from [child.module] if child.module else [name.name for name in child.names]
        yield from imports(child)


def test_no_module_stands_on_itself() -> None:
    below = {
        path.stem: {name for name in imports(ast.parse(path.read_text())) if name != "_core"}
        for path in Path(vow.__file__).parent.glob("*.py")
    }
    for lower, higher in UPWARDS:
        below[lower].remove(higher)
    assert len([*graphlib.TopologicalSorter(below).static_order()]) > 10  # or a CycleError
