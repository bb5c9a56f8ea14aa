"""A million nested handlers, and a million one after the other: a page, in memory and time that grow as the trace does."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from commands import COMMAND
from support import HEADER, json

SIZES = [int(each) for each in os.environ.get("SIZES", "250000 500000 1000000").split()]
BYTES = 3_000  # of memory for a handler and its promise


def moment(nanoseconds):
    return f"{5_000_000 + nanoseconds // 1000}.{nanoseconds % 1000:03d}"


def nested(number, count):
    """(made, begin, end, settled, what it reads): each inside the one before."""
    return 10 * number, 10 * number + 1, 30 * count - 10 * number - 1, 30 * count - 10 * number, ""


def consecutive(number, count):
    """Each a reaction to the one before."""
    reads = f',"reads":"{number:#x}"' if number else ""
    return 10 * number, 10 * number + 12, 10 * number + 20, 10 * number + 21, reads


def write(path, shape, count):
    """The trace, as the library writes it."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(HEADER)[:-1] + ', "traceEvents":[\n')
        file.write('{"ph":"M","name":"process_name","pid":7,"tid":0,"args":{"name":"large"}}')
        for number in range(count):
            made, begin, end, settled, reads = shape(number, count)
            promise = f'"cat":"promise","id":"{number + 1:#x}","name":"then","pid":7,"tid":1'
            about = f'"args":{{"promise":"{number + 1:#x}"'
            took = f"{(end - begin) // 1000}.{(end - begin) % 1000:03d}"
            file.write(
                f',\n{{"ph":"b",{promise},"ts":{moment(made)},"args":{{"kind":"then"{reads},"executor":"pool"}}}}'
                f',\n{{"ph":"e",{promise},"ts":{moment(settled)},"args":{{"state":"fulfilled","value":"200 OK"}}}}'
                f',\n{{"ph":"X","cat":"settle","name":"settle then","pid":7,"tid":1,"ts":{moment(settled)},"dur":0.001,{about}}}}}'
                f',\n{{"ph":"X","cat":"handler","name":"then","pid":7,"tid":1,"ts":{moment(begin)},"dur":{took},{about}{reads}}}}}'
            )
        file.write("\n]}\n")


def measured(path, page):
    """(exit status, seconds of a processor, bytes of memory, what it said) of one page."""
    run = subprocess.Popen([*COMMAND, str(path), "-f", "-o", str(page)], stdout=-3, stderr=subprocess.PIPE, text=True)
    said = run.stderr.read()
    run.stderr.close()
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = status
    return status, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, said


class Large(unittest.TestCase):
    def pages(self, shape):
        """Sizes in a row; prints what each one took."""
        with tempfile.TemporaryDirectory() as home:
            path, page = Path(home) / "large.json", Path(home) / "large.html"
            for count in SIZES:
                write(path, shape, count)
                status, seconds, memory, said = measured(path, page)
                print(
                    f"{shape.__name__}, {count:,}: {path.stat().st_size >> 20} MB of trace, {page.stat().st_size >> 20} MB of page, "
                    f"{seconds:.1f} s of a processor, {memory >> 20} MB of memory",
                    flush=True,
                )
                self.assertEqual(status, 0, said)
                self.assertIn("one critical path only", said)
                self.assertIn(f'"{count:#x}"'.encode(), page.read_bytes())
                self.assertLess(memory, 50_000_000 + BYTES * count)

    def test_a_million_nested_handlers_have_a_page(self):
        self.pages(nested)

    def test_a_million_handlers_one_after_the_other_have_a_page(self):
        self.pages(consecutive)


if __name__ == "__main__":
    unittest.main()
