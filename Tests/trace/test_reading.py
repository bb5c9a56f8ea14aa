"""Files as they come: cut off, in any order, foreign, hostile."""

import gzip
import json
import unittest

from support import Writer, trace_of

from vow_trace.errors import InputError


def small():
    """Two promises and a pending one, one line each."""
    writer = Writer()
    first = writer.promise("promise", 0, 1000, label="first")
    then = writer.promise("then", 10, 2000, reads=first)
    writer.handler(then, 1500, 1900, reads=first)
    writer.promise("promise", 20, None, label="hangs")
    return writer


class Reading(unittest.TestCase):
    def test_times_are_nanoseconds_from_the_first_event(self):
        trace = small().trace()
        self.assertEqual((trace.promises["0x1"].made, trace.promises["0x2"].settled, trace.duration), (0, 2000, 2000))

    def test_nanoseconds_survive_a_machine_that_ran_for_long(self):
        writer = Writer(start=40 * 86_400 * 1_000_000_000)
        writer.promise("promise", 0, 1_234_567)
        self.assertEqual(writer.trace().promises["0x1"].settled, 1_234_567)

    def test_a_file_cut_off_anywhere_is_read_up_to_there(self):
        whole = small().text().encode()
        start = whole.index(b"0x1")
        counts = []
        for end in range(start + 200, len(whole), 7):
            trace = trace_of(whole[:end])
            self.assertLessEqual(trace.skipped, 1)
            counts.append(len(trace.promises))
        self.assertFalse(trace_of(whole[:-4]).complete)
        self.assertEqual(counts, sorted(counts))
        self.assertEqual(counts[-1], 3)

    def test_a_whole_file_is_complete_and_a_killed_programs_is_not(self):
        text = small().text()
        self.assertTrue(trace_of(text).complete)
        self.assertFalse(trace_of(text[: -len("\n]}\n")] + ",\n").complete)

    def test_closing_brackets_on_the_last_events_line_are_taken_off(self):
        trace = trace_of(small().text().replace("\n]}\n", "]}"))
        self.assertEqual((len(trace.promises), trace.skipped, trace.complete), (3, 0, True))

    def test_a_half_line_in_the_middle_is_left_out_and_counted(self):
        lines = small().text().splitlines()
        lines.insert(3, '{"ph":"b","cat":"promi')
        trace = trace_of("\n".join(lines))
        self.assertEqual((len(trace.promises), trace.skipped), (3, 1))

    def test_other_tools_layouts_are_read(self):
        document = json.loads(small().text())
        for text in (json.dumps(document), json.dumps(document, indent=2), json.dumps(document["traceEvents"])):
            self.assertEqual(len(trace_of(text).promises), 3)

    def test_a_packed_file_is_unpacked(self):
        self.assertEqual(len(trace_of(gzip.compress(small().text().encode())).promises), 3)

    def test_wrong_files_are_refused_with_a_sentence(self):
        wrong = {
            b"": "empty",
            b"   \n": "empty",
            b"\x7fELF\x02\x01": "does not begin with",
            b"hello": "does not begin with",
            b"{}": "no trace of promises",
            b'{"a": 1}': "no trace of promises",
            b'{"traceEvents": [{"ph":"X","name":"other","ts":1,"dur":2}]}': "no trace of promises",
            b"[1, 2, 3]": "no trace of promises",
            b'{"traceEvents":"no"}': "no trace of promises",
        }
        for content, sentence in wrong.items():
            with self.subTest(content=content), self.assertRaisesRegex(InputError, sentence):
                trace_of(content)

    def test_a_trace_without_a_promise_is_a_trace(self):
        trace = Writer().trace()
        self.assertEqual((len(trace.promises), trace.duration), (0, 0))

    def test_events_of_wrong_shape_are_left_out_and_counted(self):
        lines = small().text().splitlines()
        bad = [
            '{"ph":"b","cat":"promise","id":7,"ts":1,"args":{}}',
            '{"ph":"b","cat":"promise","id":"0x9","args":{}}',
            '{"ph":"b","cat":"promise","id":"0x9","ts":"soon","args":{}}',
            '{"ph":"b","cat":"promise","id":"0x9","ts":NaN,"args":{}}',
            '{"ph":"b","cat":"promise","id":"0x9","ts":1e999,"args":{}}',
            '{"ph":"n","cat":"promise","id":"0x1","name":"waits","ts":1,"pid":7,"args":{}}',
            '{"ph":"n","cat":"promise","id":"0x1","name":"progress","ts":1,"pid":7,"args":{"fraction":NaN}}',
            '{"ph":"X","cat":"handler","ts":1}',
            '{"ph":"C","name":"promises","ts":1,"args":{"live":"many"}}',
            '{"ph":["b"]}',
            '"text"',
            "[[[[",
            "[" * 100_000,
        ]
        lines[2:2] = [f"{each}," for each in bad]
        trace = trace_of("\n".join(lines))
        self.assertEqual(trace.skipped, len(bad))
        self.assertEqual(len([each for each in trace.promises.values() if each.label]), 2)

    def test_bytes_that_are_no_text_and_huge_labels_are_taken(self):
        writer = Writer()
        writer.promise("promise", 0, 10, label="x" * 2_000_000)
        text = writer.text().encode().replace(b"xx", b"\xff\xfe", 1)
        self.assertEqual(len(trace_of(text).promises["0x1"].label), 2_000_000)

    def test_ids_of_two_processes_are_told_apart(self):
        text = small().text()
        other = text.splitlines()[1:-1]
        both = text.replace("\n]}\n", ",\n") + "\n".join(other).replace('"pid": 7', '"pid": 8') + "\n]}\n"
        self.assertEqual(len(trace_of(both).promises), 6)

    def test_threads_that_ran_nothing_come_last(self):
        writer = Writer()
        writer.thread(1, "idle")
        writer.thread(2, "busy")
        then = writer.promise("then", 0, 100, tid=2)
        writer.handler(then, 10, 90, tid=2)
        self.assertEqual([each.name for each in writer.trace().threads.values()], ["busy", "idle"])

    def test_a_handlers_run_inside_a_wait_nests(self):
        writer = Writer()
        first = writer.promise("promise", 0, 900)
        inner = writer.promise("then", 0, 500, reads=first)
        writer.blocked(first, 10, 1000)
        writer.handler(inner, 100, 400)
        thread = writer.trace().threads[1]
        self.assertEqual([(each.what, each.depth) for each in thread.slices], [("await", 0), ("handler", 1)])


if __name__ == "__main__":
    unittest.main()
