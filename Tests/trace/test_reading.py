"""Files as they come: cut off, in any order, foreign, hostile."""

import gzip
import json
import unittest

from support import Writer, trace_of

from vow_trace.analysis import Analysis, as_json
from vow_trace.errors import InputError
from vow_trace.text import summary


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

    def test_a_half_line_in_the_middle_is_left_out_and_counted_if_wanted(self):
        lines = small().text().splitlines()
        lines.insert(3, '{"ph":"b","cat":"promi')
        trace = trace_of("\n".join(lines), partial=True)
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
            b"[1, 2, 3]": r"line 1 \(byte 1\), event 1: no JSON object",
            b'{"traceEvents":"no"}': "no trace of promises",
            b'{"otherData":{"producer":"vo': "no trace of promises: .* it was cut off in line 1",
        }
        for content, sentence in wrong.items():
            with self.subTest(content=content), self.assertRaisesRegex(InputError, sentence):
                trace_of(content)

    def test_what_is_wrong_is_said_with_its_place_and_field(self):
        made = {"ph": "b", "cat": "promise", "id": "0x9", "ts": 1, "tid": 1, "pid": 7, "args": {}}
        wrong = {
            "no JSON: Expecting ',' delimiter": '{"ph":"b" "cat":"promise"}',
            'field "id": missing': {"id": None},
            'field "id": empty': {"id": ""},
            'field "id": no text': {"id": 7},
            'field "id": 0x1 was made before': {"id": "0x1"},
            'field "ts": missing': {"ts": None},
            'field "ts": no number': {"ts": True},
            'field "ts": negative': {"ts": -5},
            'field "ts": too large, or no number': {"ts": 1e300},
            "a number of 5,000 digits": '{"ph":"b","ts":' + "9" * 5_000 + "}",
            'field "tid": no thread\'s number': {"tid": [1]},
            'field "pid": no process\'s number': {"pid": {}},
            'field "args": no object': {"args": [1]},
            'field "label": no text': {"args": {"label": {"a": [1]}}},
            'field "reads": no text': {"args": {"reads": 5}},
            'field "ph": missing': {"ph": None},
            'field "ph": no text': {"ph": []},
            'field "dur": negative': {"ph": "X", "cat": "handler", "dur": -1},
            'field "args": missing': {"ph": "X", "cat": "handler", "args": None},
            'field "fraction": too large, or no number': {"ph": "n", "name": "progress", "args": {"fraction": float("nan")}},
            'field "on": missing': {"ph": "n", "name": "waits"},
            'field "live": no number': {"ph": "C", "name": "promises", "args": {"live": "many"}},
            "nested too deeply": "[" * 100_000,
            "no JSON object": "7",
            "no JSON: it ends too early": '{"ph":"b","cat":"promi',
            "something follows an event on its line": json.dumps(made) + json.dumps(made),
            "something follows the end of the trace": "]}\n{}",
        }  # fmt: skip
        for sentence, change in wrong.items():
            lines = small().text().splitlines()
            lines.insert(3, (change if type(change) is str else json.dumps({**made, **change})) + ",")
            text = "\n".join(lines) + "\n"
            place = f"line 4 (byte {len(chr(10).join(lines[:3])) + 1}), event 3"
            if "end of the trace" in sentence:
                place = "line 5"
            with self.subTest(sentence=sentence), self.assertRaises(InputError) as found:
                trace_of(text)
            self.assertIn(f"trace.json: {place}", str(found.exception))
            self.assertIn(f": {sentence}; --partial", str(found.exception))
            trace_of(text, partial=True)

    def test_a_promise_that_settled_before_it_was_made_is_said(self):
        writer = Writer()
        writer.promise("promise", 100, 50)
        with self.assertRaisesRegex(InputError, "promise 0x1: it was settled before it was made"):
            writer.trace()

    def test_where_a_trace_was_cut_off_is_said(self):
        whole = small().text()
        lines = whole.splitlines()
        for layout in (whole, json.dumps(json.loads(whole)), json.dumps(json.loads(whole), indent=1)):
            for end in range(layout.index("hangs"), len(layout.rstrip()) - 2, 3):
                trace = trace_of(layout[:end])
                self.assertGreaterEqual(len(trace.promises), 2)
                self.assertFalse(trace.complete)
                self.assertRegex(trace.notes[0], r"It was cut off (in|after) line \d+ \(byte \d+\).*, and is read up to there")
        note = trace_of("\n".join(lines[:5])[:-9]).notes[0]
        self.assertIn(f"in line 5 (byte {len(chr(10).join(lines[:4])) + 1}), event 4,", note)

    def test_a_packed_file_that_was_cut_off_is_read_up_to_there(self):
        writer = Writer()
        for number in range(3_000):
            writer.promise("promise", number, number + 5, label=f"job {number}")
        for text in (writer.text(), json.dumps(json.loads(writer.text()))):
            packed = gzip.compress(text.encode())
            trace = trace_of(packed[: len(packed) // 2])
            self.assertGreater(len(trace.promises), 500)
            self.assertIn("cut off", trace.notes[0])
            damaged = packed[: len(packed) // 2] + b"\0" * 64 + packed[len(packed) // 2 + 64 :]
            with self.assertRaisesRegex(InputError, "packed file is damaged|event [0-9]+"):
                trace_of(damaged)
            self.assertGreater(len(trace_of(damaged, partial=True).promises), 100)

    def test_a_mark_of_the_byte_order_is_passed_over(self):
        self.assertEqual(trace_of(b"\xef\xbb\xbf" + small().text().encode()).skipped, 0)

    def test_a_trace_without_a_promise_is_a_trace(self):
        trace = Writer().trace()
        self.assertEqual((len(trace.promises), trace.duration), (0, 0))

    def test_events_of_wrong_shape_are_left_out_and_counted_if_wanted(self):
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
        trace = trace_of("\n".join(lines), partial=True)
        self.assertEqual(trace.skipped, len(bad))
        self.assertEqual(len([each for each in trace.promises.values() if each.label]), 2)
        self.assertEqual(set(trace.promises), {"0x1", "0x2", "0x3"})
        self.assertIn(f'{len(bad)} parts were wrong and left out; the first is line 3 (byte 207), event 2: field "id"', trace.notes[0])

    def test_bytes_that_are_no_text_and_huge_labels_are_taken(self):
        writer = Writer()
        writer.promise("promise", 0, 10, label="x" * 2_000_000)
        text = writer.text().encode().replace(b"xx", b"\xff\xfe", 1)
        self.assertEqual(len(trace_of(text).promises["0x1"].label), 2_000_000)

    def test_events_that_the_library_dropped_are_counted(self):
        writer = small()
        for number, when in ((12, 100), (30, 200)):
            writer.event("i", "events dropped", 1, when, cat="dropped", s="p", args={"events": number})
        trace = writer.trace()
        self.assertEqual((trace.dropped, trace.skipped), (42, 0))
        self.assertIn("42 events were dropped", summary(Analysis(trace, "trace.json")))
        self.assertEqual(as_json(Analysis(trace, "trace.json"))["dropped"], 42)

    def test_a_count_of_dropped_events_that_is_none_is_left_out(self):
        writer = small()
        writer.event("i", "events dropped", 1, 100, cat="dropped", s="p", args={"events": -5})
        writer.event("i", "events dropped", 1, 100, cat="dropped", s="p", args={})
        trace = trace_of(writer.text(), partial=True)
        self.assertEqual((trace.dropped, trace.skipped), (0, 2))

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
