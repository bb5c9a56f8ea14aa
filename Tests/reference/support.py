"""What the tests share: the header's reader in the path, and headers made by hand."""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "docs/reference"))
sys.dont_write_bytecode = True

from header import read_header  # noqa: E402

PREAMBLE = """/* demo.h
 *
 *   1. First                     what comes first
 *
 * Rules that hold for every function here
 *
 *   One rule.
 */
"""


def header(body):
    """What is read of a header with one chapter and this body."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "demo.h")
        path.write_text(
            f"{PREAMBLE}\n/* ---------- 1. First\n *\n * Its text.\n */\n\n{body}\n\n#endif\n",
            encoding="utf-8",
        )
        return read_header(path)


def vow():
    return read_header(ROOT / "include/vow.h")
