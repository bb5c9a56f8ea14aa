"""The programs of the documents and the example run, and print what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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
