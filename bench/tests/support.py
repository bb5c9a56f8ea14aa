"""What the tests share: the runner in the path, answers and peers made by hand."""

import json
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(BENCH))
sys.dont_write_bytecode = True

from runner.peers import Peer  # noqa: E402
from runner.process import Answer  # noqa: E402


def peer(name, **more):
    """A peer that was found and built."""
    return Peer(name, name.title(), "C", Path("."), state="present", **more)


def took(nanoseconds, **more):
    """The answer of a run that took so long per item."""
    return Answer("ok", {"ns_per_item": nanoseconds, **more})


def describe(tree, name, build="", **more):
    """A peer in a tree of files, with that build script; returns its description."""
    place = tree / "deep" / name
    place.mkdir(parents=True)
    data = {"name": name, "title": name, "language": "C", **more}
    (place / "peer.json").write_text(json.dumps(data))
    (place / "build").write_text("#!/bin/sh\n" + build)
    (place / "build").chmod(0o755)
    return place / "peer.json"
