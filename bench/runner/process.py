"""One process of one peer: a workload at a size, within limits of memory, stack and time."""

import json
import os
import resource
import signal
import subprocess
from dataclasses import dataclass, field

MEMORY = 12 << 30
STACK = 8 << 20

# Freed memory stays with the process: else big passes measure how the kernel hands out pages.
ALLOCATOR = "glibc.malloc.trim_threshold=17179869184:glibc.malloc.mmap_threshold=33554432"


@dataclass
class Answer:
    """What a process said: ok, unsupported, crash or timeout."""

    status: str
    values: dict = field(default_factory=dict)
    reason: str = ""


def parse(output):
    """The last line of JSON in a peer's output; None if there is none."""
    found = None
    for line in output.splitlines():
        if line.lstrip().startswith("{"):
            try:
                found = json.loads(line)
            except json.JSONDecodeError:
                continue
    return found


def died(code):
    """Why a process that ended with this code did, in words."""
    if code < 0:
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"
    if code > 128:  # a shell script that ran it
        return died(128 - code)
    return f"exit {code}"


def judge(code, output, errors):
    """The answer of a process that has ended."""
    values = parse(output)
    if code != 0:
        last = errors.strip().splitlines()[-1:] or [""]
        return Answer("crash", reason=died(code) + (f": {last[0][:160]}" if last[0] else ""))
    if values is None:
        return Answer("crash", reason="printed no result")
    if "unsupported" in values:
        return Answer("unsupported", values, values["unsupported"])
    return Answer("ok", values)


def limit():
    """In the new process: what it may take. No core files."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def environment(seconds, preload):
    """The variables of a run; with something to preload it is one that counts."""
    values = dict(os.environ, BENCH_SECONDS=str(seconds), BENCH_COUNT="0")
    values["GLIBC_TUNABLES"] = ALLOCATOR
    if preload is not None:
        values["BENCH_COUNT"] = "1"
        values["G_SLICE"] = "always-malloc"  # else GLib hides its allocations from the counter
        if preload:
            values["LD_PRELOAD"] = str(preload)
    return values


def end(process):
    """Kills a peer with all that it started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def run(peer, workload, size, seconds, timeout, preload=None):
    """Runs it. preload None: for the time; a path, or "": for the counts."""
    process = subprocess.Popen(
        [str(peer.program), workload, str(size)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment(seconds, preload),
        preexec_fn=limit,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        end(process)
        return Answer("timeout", reason=f"more than {timeout:g} s")
    except BaseException:  # the run is being ended: leave nothing behind
        end(process)
        raise
    return judge(process.returncode, output, errors)
