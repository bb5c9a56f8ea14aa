"""Puts the library and the extension into the wheel, and the platform that they need into the wheel's name.

VOW_LIBRARY names the library, VOW_EXTENSION the extension: they need libc only, see `make wheel`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_ALLOWED = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"}


def library_version() -> str:
    """The version of the header, from which the library has it too."""
    chosen = os.environ.get("VOW_VERSION")
    if chosen:
        return chosen
    header = Path(__file__).resolve().parents[2] / "include" / "vow.h"
    match = re.search(r'VOW_VERSION_STRING "([^"]+)"', header.read_text())
    if match is None:
        raise RuntimeError(f"{header} has no VOW_VERSION_STRING")
    return match.group(1)


def _readelf(*arguments: str) -> str:
    return subprocess.run(
        ["readelf", *arguments],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
    ).stdout


def _libc_for(library: Path) -> tuple[int, int]:
    needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", _readelf("-d", str(library))))
    needed = {name for name in needed if not name.startswith("ld-linux")}
    if needed - _ALLOWED:
        raise RuntimeError(
            f"{library} needs {sorted(needed - _ALLOWED)}, which a wheel cannot count on"
        )
    versions = re.findall(r"Name: GLIBC_(\d+)\.(\d+)", _readelf("-V", str(library)))
    return max((int(major), int(minor)) for major, minor in versions)


def platform_tag(*libraries: Path) -> str:
    """The oldest manylinux whose libc has all that the libraries ask for."""
    newest = max(_libc_for(library) for library in libraries)
    machine = sysconfig.get_platform().split("-", 1)[1].replace("-", "_")
    return f"manylinux_{newest[0]}_{newest[1]}_{machine}"


class LibraryHook(BuildHookInterface[Any]):
    """The hook that hatchling calls."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Says what goes into the wheel beside the Python files, and what it is called."""
        if version == "editable":
            return
        chosen = [os.environ.get(name) for name in ("VOW_LIBRARY", "VOW_EXTENSION")]
        if not all(chosen):
            raise RuntimeError(
                "VOW_LIBRARY and VOW_EXTENSION name no libraries; `make wheel` builds them and says it"
            )
        library, extension = (Path(name).resolve(strict=True) for name in chosen if name)
        build_data["pure_python"] = False
        # The stable ABI of 3.9, which all later versions have.
        build_data["tag"] = f"cp39-abi3-{platform_tag(library, extension)}"
        build_data["force_include"][str(library)] = "vow/lib/libvow.so.0"
        build_data["force_include"][str(extension)] = "vow/_core.abi3.so"
