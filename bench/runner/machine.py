"""What the numbers were measured on."""

import os
import platform
import subprocess
from datetime import datetime, timezone
from pathlib import Path


def first(path, key):
    """The value of the first line `key : value` of a file of /proc; empty if there is none."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return ""
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return ""


def commit(root):
    """The commit that is measured, with a mark if the tree differs from it."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"


def describe():
    """CPU, cores, kernel, memory and system."""
    system = platform.freedesktop_os_release() if hasattr(platform, "freedesktop_os_release") else {}
    return {
        "cpu": first("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "memory": first("/proc/meminfo", "MemTotal"),
        "system": system.get("PRETTY_NAME", platform.system()),
        "libc": " ".join(platform.libc_ver()),
    }


def now():
    """The time, in UTC."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
