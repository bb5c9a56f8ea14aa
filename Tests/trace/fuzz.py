"""Gives vow-trace mutated traces and graphs: fuzz.py COUNT [FILE...], those of the files or of samples of its own.

Each one ends in sound results, or in a sentence with a place. Case N is the same each time: fuzz.py --case N writes it to
standard output. How much work a case may be is counted in calls, by its size.
"""

import argparse
import contextlib
import io
import random
import re
import signal
import sys
import tempfile
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from mutations import mutated
from samples import samples
from soundness import COMMANDS, PLACE, UNREADABLE, Unsound, check_forms, expect
from steps import TooMany, calls

from vow_trace import cli
from vow_trace.errors import InputError

LEAST, PER_BYTE = 400_000, 300
SECONDS = 60  # of a processor: only for what makes no calls
WHOLE = 50  # every so many cases the command as it is called
SHOWN = 10
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # where a file costs nothing
SHARE = 200
KINDS = {
    "traceback": "no mutated trace or graph ends in a traceback",
    "hangs": "the work is bounded by the size of what is read",
    "ill-formed": "each result is well-formed, and each refusal says where",
}


class Options:
    """As the command line has them."""

    resolve = dot = path = None
    top = 10

    def __init__(self, file, partial):
        self.file = str(file)
        self.partial = partial


def case(number, some):
    """The bytes of case number."""
    return mutated(random.Random(f"vow-trace {number}"), some)


def read(path, partial):
    """How one file ends: `read` or `refused`."""
    try:
        forms = cli.forms_of(Options(path, partial))
    except InputError as error:
        expect((UNREADABLE if partial else PLACE).match(str(error)), f"a sentence without a place: {error}")
        return "refused"
    check_forms(forms)
    return "cut off" if any("cut off" in each for each in forms.notes()) else "read"


def command(path):
    """The command as it is called, in this process."""
    said, wrong = io.StringIO(), io.StringIO()
    page = path.with_suffix(".html")
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(wrong):
        status = cli.main([str(path), "--summary", "-f", "-o", str(page)])
    lines = wrong.getvalue().splitlines()
    expect(status in (0, 2), f"status {status}")
    expect(not COMMANDS.search(re.sub("\n", "", wrong.getvalue())), "a control character on standard error")
    expect(all(each.startswith("vow-trace: ") for each in lines), "what is no sentence of ours")
    expect(page.exists() == (status == 0), "a page of a wreck, or none")
    if status == 2:
        expect(len(lines) == 1 and said.getvalue() == "", "more than one sentence")
    page.unlink(missing_ok=True)


def hangs(number, frame):
    raise TooMany(f"more than {SECONDS} s of a processor")


def work(path, number):
    found = read(path, False)
    if found == "refused":
        read(path, True)
    if number % WHOLE == 0:
        command(path)
    return found


def failure(data, path, number):
    """What is wrong with one case, or None; and how it ended."""
    path.write_bytes(data)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        return None, calls(lambda: work(path, number), LEAST + PER_BYTE * len(data))
    except Unsound as error:
        return f"ill-formed: {error}", None
    except TooMany as error:
        return f"hangs: {error}", None
    except (Exception, SystemExit):
        return "traceback:\n" + traceback.format_exc(), None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def share(first, count, some):
    """A share of the cases: how they ended, and what failed."""
    signal.signal(signal.SIGVTALRM, hangs)
    cli.heard = lambda: None  # who stops the fuzzer stops it
    ends, wrong = Counter(), []
    with tempfile.TemporaryDirectory(dir=MEMORY) as home:
        path = Path(home) / "trace.json"
        for number in range(first, first + count):
            bad, end = failure(case(number, some), path, number)
            if bad is None:
                ends[end] += 1
            else:
                wrong.append((number, bad))
    return ends, wrong


def run(first, count, some, jobs):
    """Prints what failed, and how the others ended."""
    shares = [(at, min(SHARE, first + count - at), some) for at in range(first, first + count, SHARE)]
    ends, kinds, shown = Counter(), Counter(), 0
    with ProcessPoolExecutor(jobs) as workers:
        for found, wrong in workers.map(share, *zip(*shares)):
            ends += found
            kinds.update(bad.split(":", 1)[0] for _, bad in wrong)
            for number, bad in wrong[: SHOWN - shown]:
                shown += 1
                print(f"case {number}: {bad}", flush=True)
    print(f"{count:,} mutated traces and graphs: " + ", ".join(f"{value:,} {name}" for name, value in sorted(ends.items())))
    for kind, sentence in KINDS.items():
        print(f"not ok {sentence}: {kinds[kind]:,} do not" if kinds[kind] else f"ok {sentence}")
    both = {"read", "refused", "cut off"} <= set(ends)
    print(f"{'ok' if both else 'not ok'} some are read, some are read up to where they were cut off, some are refused")
    return 0 if both and not kinds else 1


def main():
    options = argparse.ArgumentParser()
    options.add_argument("count", type=int)
    options.add_argument("files", nargs="*", type=Path)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--jobs", type=int)
    options.add_argument("--case", action="store_true")
    found = options.parse_args()
    some = [each.read_bytes() for each in found.files] or samples()
    if found.case:
        sys.stdout.buffer.write(case(found.count, some))
        return 0
    return run(found.first, found.count, some, found.jobs)


if __name__ == "__main__":
    sys.exit(main())
