"""Teaches gdb to show what libvow keeps: `source` this file, or let gdb load it with the library.

It only reads memory: nothing is called in the program, so a core file does as well.
docs/debugging.md shows its use.
"""

import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
if _here not in sys.path:
    sys.path.insert(0, _here)

from vow_gdb import graph, pending, printers, promise  # noqa: E402

printers.register()
promise.register()
pending.register()
graph.register()
