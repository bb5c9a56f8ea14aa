"""What the package declares is what the header declares, when the tree is there to look."""

from __future__ import annotations

import os
import re
from pathlib import Path

from vow import _declarations, _errors
from vow._library import lib

HEADER = Path(os.environ["VOW_HEADER"]).read_text()
MARKS = r"\b(VOW_OWNED|VOW_NULLABLE|VOW_NONNULL|VOW_SENDABLE|const|struct|extern)\b"
ALIASES = {
    "vow_state": "uint32_t",
    "vow_kind": "uint32_t",
    "vow_stage": "uint32_t",
}
SHAPES = {  # function pointers, as they are written in place, and what they are called here
    r"void \( ?\* ?(\w+) ?\) ?\(void \* ?context\)": r"vow_notice \1",
    r"bool \( ?\* ?(\w+) ?\) ?\(vow_value \w+, void \* ?context\)": r"vow_condition \1",
    r"void \( ?\* ?(\w+) ?\) ?\(vow_value error, void \* ?context\)": r"vow_unhandled_hook \1",
}
NUMBERS = r"\b(void|vow_(promise|resolver|executor|loop|token|cancel_source|registration|scope)) \*"


def functions(text: str) -> dict[str, str]:
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    marked = re.findall(r"\bVOW_API\b([^;{]*;)", text)
    text = " ".join(marked) if marked else text
    text = re.sub(MARKS, " ", text)
    text = re.sub(r"\s+", " ", text)
    for pattern, name in SHAPES.items():
        text = re.sub(pattern, name, text)
    text = re.sub(NUMBERS, "handle ", text)
    text = re.sub(r"handle \* ?", "handle *", text)
    for name, plain in ALIASES.items():
        text = re.sub(rf"\b{name}\b", plain, text)
    found = {}
    for result, name, arguments in re.findall(r"([\w ]+?[ *]+)(vow_\w+) ?\(([^()]*)\) ?;", text):
        types = [
            re.sub(r"\w+$", "", argument.strip()).strip() or argument
            for argument in arguments.split(",")
        ]
        found[name] = f"{result.split('}')[-1].strip()} ({', '.join(types)})".replace(" ", "")
    return found


def test_each_function_has_the_types_of_the_header() -> None:
    header = functions(HEADER)
    mine = functions(_declarations.DECLARATIONS)
    assert len(mine) > 80
    assert mine == {name: header.get(name) for name in mine}


def test_newer_functions_have_the_types_of_the_header_that_has_them() -> None:
    header = functions(HEADER)
    newer = functions(_declarations.NEWER_DECLARATIONS)
    assert len(newer) == 16
    for name, types in newer.items():
        assert header.get(name, types) == types
        assert hasattr(lib, name) == (name in header)


def test_the_codes_are_those_of_the_header() -> None:
    codes = {
        int(number): f"VOW_{name}"
        for name, number in re.findall(r"#define VOW_(E[A-Z]+) \((-\d+)\)", HEADER)
    }
    assert codes == _errors.NAMES
    assert set(codes) == set(_errors.CLASSES)


def test_what_is_left_out_is_known() -> None:
    """Each function of the header is declared here, or stands in this list with its reason."""
    left_out = {
        "vow_then": "vow_then_with says it too",
        "vow_catch": "the same",
        "vow_finally": "the same",
        "vow_catch_if": "catch has classes",
        "vow_catch_if_with": "the same",
        "vow_registration_retain": "Python counts",
        "vow_box_create": "closures share what they capture",
        "vow_box_retain": "the same",
        "vow_box_release": "the same",
        "vow_on_unhandled_with": "the hook is the package's own",
        "vow_on_progress": "vow_on_progress_with says it too",
        "vow_async": "a reaction on a promise that is there",
        "vow_cancel_source_retain": "Python counts",
        "vow_cancel_source_cancel": "the one with a reason",
        "vow_executor_dispatch": "no dispatch queues in Python",
        "vow_set_allocator": "C programs alone",
        "vow_detach": "a reaction that nobody holds goes on",
        "vow_async_with": "as vow_async",
        "vow_map": "vow_map_with says it too",
        "vow_reduce": "the same",
        "vow_repeat": "the same",
        "vow_retry": "the same",
        "vow_using": "vow_using_with says it too",
        "vow_using_ended": "an asynchronous context manager is told",
        "vow_scope_retain": "Python counts",
        "vow_scope_async": "a scope's add takes what anything made",
        "vow_current_is_cancelled": "a coroutine is told",
        **{
            f"vow_as_{kind}": "the kind is asked first"
            for kind in "bool int double pointer string object list error promise".split()
        },
    }
    declared = set(functions(_declarations.DECLARATIONS + _declarations.NEWER_DECLARATIONS))
    missing = set(functions(HEADER)) - declared - set(left_out)
    assert missing == set()
