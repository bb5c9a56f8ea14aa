"""What the extension has of the header is the header's."""

from __future__ import annotations

import os
import re
import runpy
from pathlib import Path

from vow import _core, _errors
from vow._library import lib

HEADER = Path(os.environ["VOW_HEADER"]).read_text()
GENERATE = Path(os.environ["VOW_PACKAGE"]) / "extension" / "generate"


def test_each_function_of_the_header_is_found() -> None:
    text = re.sub(r"/\*.*?\*/|^#.*?$", " ", HEADER, flags=re.S | re.M)
    names = re.findall(r"\bVOW_API\b[^;{]*?\bvow_(\w+)\s*\(", text)
    assert len(names) > 120
    assert list(runpy.run_path(str(GENERATE))["functions"](HEADER)) == names


def test_what_the_package_calls_is_there() -> None:
    sources = Path(_errors.__file__).parent.glob("*.py")
    called = {name for path in sources for name in re.findall(r"\blib\.(vow_\w+)", path.read_text())}
    assert len(called) > 30
    assert [name for name in called if not hasattr(lib, name)] == []


def test_the_codes_are_those_of_the_header() -> None:
    codes = {
        int(number): f"VOW_{name}"
        for name, number in re.findall(r"#define VOW_(E[A-Z]+) \((-\d+)\)", HEADER)
    }
    assert codes == _errors.NAMES
    assert set(codes) == set(_errors.CLASSES)
    assert _core.ECANCELLED in codes
