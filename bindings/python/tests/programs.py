"""Programs in processes of their own: what they print on standard output, and on standard error."""

from __future__ import annotations

import subprocess
import sys
import textwrap


def run(program: str, *options: str, status: int = 0) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, *options, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


def run_dev(program: str) -> tuple[str, str]:
    return run(program, "-X", "dev")
