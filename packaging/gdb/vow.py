"""Teaches gdb to show what libvow keeps: `source` this file, or let gdb load it with the library.

It only reads memory: nothing is called in the program, so a core file does as well.
docs/debugging.md shows its use.
"""

import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
if _here not in sys.path:
    sys.path.insert(0, _here)

# What was installed stays as it was.
_kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
import vow_gdb  # noqa: E402

vow_gdb.register()
sys.dont_write_bytecode = _kept
