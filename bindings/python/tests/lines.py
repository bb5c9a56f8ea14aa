"""A plugin for pytest: one line for each test, `ok`, `not ok` or `skip`, as all suites here print."""

from __future__ import annotations

from typing import Any, Sequence

import pytest

_failed: set[str] = set()
_lines: list[str] = []


def _name(node: str) -> str:
    return node.replace("\n", "\\n").split("tests/", 1)[-1]


@pytest.hookimpl
def pytest_runtest_logreport(report: Any) -> None:
    if report.skipped:
        _lines.append(f"skip {_name(report.nodeid)}")
    elif report.failed and report.nodeid not in _failed:
        _failed.add(report.nodeid)
        _lines.append(f"not ok {_name(report.nodeid)}")
    elif report.when == "teardown" and report.nodeid not in _failed:
        _lines.append(f"ok {_name(report.nodeid)}")


@pytest.hookimpl
def pytest_collectreport(report: Any) -> None:
    if report.failed:
        _lines.append(f"not ok {_name(report.nodeid)} (collecting)")


@pytest.hookimpl
def pytest_deselected(items: Sequence[Any]) -> None:
    _lines.extend(f"skip {_name(item.nodeid)} (deselected)" for item in items)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    print("\n" + "\n".join(_lines))
