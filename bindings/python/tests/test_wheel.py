"""The wheel that these tests run from."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.metadata
import inspect
import os
import re
import zipfile
from pathlib import Path

import vow

WHEEL = Path(os.environ["VOW_WHEEL"])


def test_what_runs_is_what_was_installed() -> None:
    distribution = importlib.metadata.distribution("vow")
    here = Path(str(distribution.locate_file("vow/__init__.py")))
    assert Path(vow.__file__).samefile(here)
    assert distribution.version == vow.__version__ == WHEEL.name.split("-")[1]


def test_each_file_is_in_the_record_with_its_hash() -> None:
    with zipfile.ZipFile(WHEEL) as wheel:
        (record,) = [name for name in wheel.namelist() if name.endswith(".dist-info/RECORD")]
        rows = list(csv.reader(wheel.read(record).decode().splitlines()))
        assert sorted(row[0] for row in rows) == sorted(wheel.namelist())
        for name, digest, size in rows:
            if name == record:
                assert (digest, size) == ("", "")
                continue
            content = wheel.read(name)
            plain = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            assert digest == "sha256=" + plain.decode()
            assert int(size) == len(content)


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
