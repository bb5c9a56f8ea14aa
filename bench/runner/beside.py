"""Programs of Vow beside those of its peers: builds them, runs them in alternation, prints one table in Markdown."""

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

from runner.peers import Peer
from runner.process import run
from runner.table import number

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = "{program}"  # in a command that builds: the path of the program that the command leaves
FLAGS = ("-O2", "-DNDEBUG", "-Wall", "-Wextra", f"-I{ROOT}/bench/runner", f"-I{ROOT}/include", "-o", PROGRAM)
C = ("cc", "-std=gnu11", *FLAGS)
CXX = ("c++", "-std=c++17", *FLAGS)
VOW = (f"-L{ROOT}/build/lib", f"-Wl,-rpath,{ROOT}/build/lib", "-lvow", "-pthread")

# What is measured: the head of the column, the argument, N, the key in the answer, and how many processes spin beside.
Column = namedtuple("Column", "head workload n key spinning", defaults=("ns_per_item", 0))

# A row: its title, the program, what stands before the workload's name, the workloads that the program has.
Row = namedtuple("Row", "title program prefix offers")

# The process ends by itself soon after its parent has.
SPIN = f"""import os
while os.getppid() == {os.getpid()}:
    for _ in range(1_000_000):
        pass"""


@contextlib.contextmanager
def spinners(count):
    """So many processes that only spin, each in a session of its own: Linux shares processors among sessions first."""
    started = []
    try:
        for _ in range(count):
            started.append(subprocess.Popen([sys.executable, "-c", SPIN], start_new_session=True))
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def build(command, here, program):
    """Why the program is not to be had here; empty where it is built."""
    if shutil.which(command[0]) is None:
        return f"no {command[0]} in PATH"
    line = [str(word).replace(PROGRAM, str(program)) for word in command]
    done = subprocess.run(line, cwd=here, capture_output=True, text=True, check=False)
    lines = done.stderr.splitlines()
    errors = [text for text in lines if "error" in text] or lines[-1:] or ["no reason"]
    return f"not built: {errors[0].strip()}" if done.returncode else ""


def measure(columns, rows, rounds, absent, here, out):
    """The answers to each row, argument, N and spinning, in order of the rounds; and why some have none."""
    seconds = float(os.environ.get("BENCH_SECONDS", "0.2"))
    found, reasons = {}, {}
    for workload, n, spinning in dict.fromkeys((column.workload, column.n, column.spinning) for column in columns):
        busy = f", {spinning} processes spin" if spinning else ""
        print(f"bench: {workload}, N = {n:,}{busy}", file=sys.stderr, flush=True)
        with spinners(spinning):
            for _ in range(rounds):
                for title, program, prefix, offers in rows:
                    if workload not in offers or program in absent or (title, workload + busy) in reasons:
                        continue
                    peer = Peer(program, title, "", here, program=out / program)
                    answer = run(peer, prefix + workload, n, seconds, 60)
                    if answer.status == "ok":
                        found.setdefault((title, workload, n, spinning), []).append(answer.values)
                    else:
                        reasons[title, workload + busy] = f"{answer.status}: {answer.reason}"
    return found, reasons


def cells(found, rows, column):
    """A column: medians, and how many times that of the first row that has one."""
    _, workload, n, key, spinning = column
    here = {
        row.title: statistics.median(answer[key] for answer in found[row.title, workload, n, spinning])
        for row in rows
        if (row.title, workload, n, spinning) in found
    }
    base = next(iter(here.values()), 1)
    ratio = {title: "" if key == "threads" else f" ({median / base:.2f})" for title, median in here.items()}
    return {title: number(median) + ratio[title] for title, median in here.items()}


def main(here, columns, rows, builds):
    """Prints the table, and a line for each number that should be in it and is not. The exit status is 1 if Vow lacks any."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    out = ROOT / "build/bench" / here.name
    out.mkdir(parents=True, exist_ok=True)
    subprocess.run(["make", "--no-print-directory", "-s", "lib"], cwd=ROOT, check=True, stdout=sys.stderr)
    absent = {name: reason for name, command in builds.items() if (reason := build(command, here, out / name))}
    found, reasons = measure(columns, rows, rounds, absent, here, out)
    table = [cells(found, rows, column) for column in columns]
    print("| | " + " | ".join(column.head for column in columns) + " |\n|---" + "|--:" * len(columns) + "|")
    for row in rows:
        if row.program in absent:
            reasons[row.title, "all"] = f"left out: {absent[row.program]}"
        else:
            print(f"| {row.title} | " + " | ".join(column.get(row.title, "–") for column in table) + " |")
    for (title, workload), reason in reasons.items():
        print(f"{title}, {workload}: {reason}")
    return 1 if any(title.startswith("Vow") for title, _ in reasons) else 0
