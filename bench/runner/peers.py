"""Finds the peers and builds them."""

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ABSENT = 3


@dataclass
class Peer:
    """A peer as its peer.json says, and what became of its build."""

    name: str
    title: str
    language: str
    directory: Path
    build: str = "build"
    counts: str = "preload"
    without: dict = field(default_factory=dict)
    only: list = field(default_factory=list)  # the workloads it is meant for; empty: all
    state: str = "unbuilt"  # then: present, absent, failed
    reason: str = ""
    program: Path = None
    facts: dict = field(default_factory=dict)  # compiler, flags, version: from its first line


def read(path):
    """The peer that a peer.json describes."""
    data = json.loads(path.read_text())
    unknown = set(data) - {"name", "title", "language", "build", "counts", "without", "only"}
    if unknown:
        raise ValueError(f"{path}: unknown: {', '.join(sorted(unknown))}")
    return Peer(directory=path.parent, **data)


def descriptions(root):
    """Every peer.json but those in hidden directories and in node_modules."""
    for place, directories, files in os.walk(root):
        directories[:] = [name for name in directories if name[0] != "." and name != "node_modules"]
        if "peer.json" in files:
            yield Path(place) / "peer.json"


def find(root):
    """All peers under a directory; Vow first, the raw limits last, the rest by name."""
    found = [read(path) for path in descriptions(root)]
    order = {"vow": 0, "raw": 2}
    return sorted(found, key=lambda peer: (order.get(peer.name, 1), peer.name))


def offers(peer, workload):
    """Whether the peer belongs into a workload's table at all, be it with a reason why not."""
    return workload in peer.only or not peer.only and workload.startswith("W")


def choose(peers, names):
    """The peers with these names (none: all); ValueError for a name that there is not."""
    unknown = set(names) - {peer.name for peer in peers}
    if unknown:
        raise ValueError(f"no peer {', '.join(sorted(unknown))}")
    return [peer for peer in peers if not names or peer.name in names]


def outcome(code, output):
    """State and reason of a build script that ended with this code and printed this."""
    lines = [line for line in output.strip().splitlines() if line.strip()]
    last = lines[-1].strip() if lines else "it said nothing"
    if code == 0:
        return "present", ""
    if code == ABSENT:
        return "absent", last
    errors = [line.strip() for line in lines if "error" in line]
    return "failed", f"build exit {code}: {(errors or [last])[0]}"


def build(peer, out):
    """Runs the peer's build script; its output goes to a log beside the program."""
    directory = (out / peer.name).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [str((peer.directory / peer.build).resolve()), str(directory)],
        cwd=peer.directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    (directory / "build.log").write_text(done.stdout)
    peer.state, peer.reason = outcome(done.returncode, done.stdout)
    peer.program = directory / peer.name
    if peer.state == "present" and not peer.program.exists():
        peer.state, peer.reason = "failed", "its build left no program"
