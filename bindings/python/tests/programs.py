"""What several tests share: programs in processes of their own, and threads for handlers that block."""

from __future__ import annotations

import concurrent.futures
import subprocess
import sys
import textwrap

import vow


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


def threads(count: int, name: str = "vow") -> vow.Executor:
    """So many threads of their own."""
    return vow.from_futures(concurrent.futures.ThreadPoolExecutor(count, name))
