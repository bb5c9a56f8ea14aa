"""The whole run: build, measure, print, write."""

import json
import signal
import subprocess
import sys
from pathlib import Path

from . import goals, limits, machine, options, peers, process, rounds, summary, table, workloads

BENCH = Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
SCHEMA = 1
GROWING = [each.name for each in workloads.WORKLOADS if each.grows]
CURVE_ROUNDS = 3  # sizes that only the growth curves have


def build_counter(out):
    """The allocation counter as something to preload; None where it cannot be built."""
    counter = (out / "count.so").resolve()
    command = ["cc", "-O2", "-fPIC", "-shared", str(BENCH / "count/count.c"), "-o", str(counter)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"bench: no counts: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return counter


def say(text):
    """Progress; the tables go to stdout."""
    print(text, file=sys.stderr, flush=True)


def build_all(found, out):
    """Builds every peer and says what became of it. False where Vow, which is built first, cannot be had: what
    would be measured then says nothing about it, so nothing else is built."""
    for peer in found:
        say(f"bench: building {peer.name}")
        peers.build(peer, out / "peers")
        if peer.state == "present":
            continue
        say(f"bench: {peer.name} {peer.state}: {peer.reason}")
        if peer.name == "vow":
            log = out / "peers/vow/build.log"
            cure = "bench/deps installs what is missing" if peer.state == "absent" else f"see {shown(log)}"
            say(f"bench: nothing is measured without Vow; {cure}")
            return False
    return True


def shown(path):
    """A path as the reader sees it: below the tree where it is there."""
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def measure(asked, present, counter, save):
    """All cells; prints each table as soon as it is complete, and saves after each workload."""
    titles = {peer.name: peer.title for peer in present}
    by_name = {peer.name: peer for peer in present}

    def time_run(peer, workload, size):
        return process.run(peer, workload, size, asked.seconds, asked.timeout)

    def count_run(peer, workload, size):
        if counter is None:
            return process.Answer("ok")
        return process.run(peer, workload, size, asked.seconds, asked.timeout, counter)

    def survives(name, workload, size):
        answer = process.run(by_name[name], workload, size, 0.001, asked.timeout)
        return answer.status != "crash"

    cells = []
    for workload in workloads.chosen(asked.only):
        asking = [peer for peer in present if peers.offers(peer, workload.name)]
        first = len(cells)
        for size in workload.all_sizes(asked.largest) if asking else []:
            say(f"bench: {workload.name}, N = {size:,}")
            count = asked.rounds if size in workload.sizes else min(asked.rounds, CURVE_ROUNDS)
            new = rounds.alternate(
                asking, workload.name, size, count, cells, time_run, count_run
            )
            cells += new
            for cell in new:
                keep_facts(by_name[cell.peer], cell.values)
            if size in workload.sizes:
                table.print_table(workload, size, summary.summarise(new), titles)
        if workload.grows and asked.largest and asking:
            limits.refine(cells[first:], survives)
            table.print_growth(workload, summary.summarise(cells[first:]), titles)
        save(cells)
    return cells


def keep_facts(peer, values):
    """Compiler, flags and version, which every line of a peer says."""
    for key in ("compiler", "flags", "version", "harness"):
        if key in values:
            peer.facts.setdefault(key, values[key])


def report(asked, found, cells, began, complete):
    """Everything, as results.json has it."""
    rows = summary.summarise(cells)
    return {
        "schema": SCHEMA,
        "date": began,
        "complete": complete,
        "commit": machine.commit(ROOT),
        "machine": machine.describe(),
        "settings": {
            "rounds": asked.rounds,
            "seconds": asked.seconds,
            "timeout": asked.timeout,
            "memory_limit": process.MEMORY,
            "stack_limit": process.STACK,
            "allocator": process.ALLOCATOR,
        },
        "workloads": [
            {"name": each.name, "title": each.title, "item": each.item, "sizes": list(each.sizes)}
            for each in workloads.WORKLOADS
        ],
        "peers": [
            {
                "name": peer.name,
                "title": peer.title,
                "language": peer.language,
                "state": peer.state,
                "reason": peer.reason,
                "counts": peer.counts,
                **peer.facts,
            }
            for peer in found
        ],
        "results": rows,
        "goals": goals.judge(rows, GROWING),
    }


def main(arguments=None):
    """Returns the exit code: 0 also where peers crash or are absent, which is a finding; 2 where nothing is measured,
    because of a wrong option or because Vow itself cannot be built."""
    asked = options.parse(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    out = (ROOT / asked.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    try:
        found = peers.choose(peers.find(BENCH), asked.peers)
        workloads.chosen(asked.only)
    except ValueError as error:
        say(f"bench: {error}")
        return 2
    if asked.list:
        for workload in workloads.WORKLOADS:
            print(f"{workload.name:<4} {workload.title}")
        for peer in found:
            print(f"{peer.name:<12} {peer.title} ({peer.language})")
        return 0
    if not build_all(found, out):
        return 2
    present = [peer for peer in found if peer.state == "present"]
    path = out / "results.json"
    began = machine.now()

    def save(cells, complete=False):
        data = report(asked, found, cells, began, complete)
        path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")

    cells = measure(asked, present, build_counter(out), save)
    save(cells, complete=True)
    goals.print_goals(goals.judge(summary.summarise(cells), GROWING))
    table.print_absent(found)
    say(f"\nbench: wrote {shown(path)}")
    return 0
