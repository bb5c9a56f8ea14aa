"""Draws the results of one run: draw.py RESULTS OUT_DIR."""

import json
import sys
from pathlib import Path

import bars
import growth
import memory


def main(source, out):
    """Each plot, named as it is written."""
    results = json.loads(Path(source).read_text())
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    for plot in (bars, growth, memory):
        for name in plot.draw(results, out):
            print(f"{out}/{name}.png, {name}.svg")


if __name__ == "__main__":
    main(*sys.argv[1:])
