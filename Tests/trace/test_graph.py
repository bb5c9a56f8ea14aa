"""A live graph as a summary, a picture and a page."""

import json
import unittest
import xml.dom.minidom

from commands import CommandTest
from support import ROOT  # noqa: F401

from vow_trace.graph import read
from vow_trace.reading import document_of

GRAPH = {
    "program": "app <b>",
    "time_ns": 5,
    "nodes": [
        {"id": "0x3", "kind": "all", "state": "pending", "age_ns": 7_000_000},
        {"id": "0x2", "kind": "then", "state": "pending", "age_ns": 8_000_000, "executor": "pool", "progress": 0.25},
        {"id": "0x1", "kind": "promise", "label": "answer <i>", "state": "pending", "age_ns": 9e6, "site": "app+0x12"},
    ],
    "threads": [{"tid": 12, "awaits": "0x3", "age_ns": 5_000_000}],
    "edges": [
        {"from": "0x2", "to": "0x1", "kind": "reads"},
        {"from": "0x3", "to": "0x2", "kind": "member"},
        {"from": "0x3", "to": "0x9", "kind": "member"},
    ],
}


class LiveGraph(CommandTest):
    def setUp(self):
        super().setUp()
        (self.at / "graph.json").write_text(json.dumps(GRAPH))

    def test_the_summary_names_what_the_others_hang_on(self):
        found = self.run_it("graph.json", "--summary")
        self.assertEqual(found.returncode, 0)
        self.assertIn("3 live promises", found.stdout)
        self.assertIn("12  awaits all 0x3", found.stdout)
        self.assertIn("9.00 ms  answer <i> 0x1   app+0x12", found.stdout)
        self.assertNotIn("then 0x2", found.stdout)

    def test_who_waits_stands_right_of_what_it_waits_for(self):
        self.run_it("graph.json", "--svg", "graph.svg")
        picture = xml.dom.minidom.parse(str(self.at / "graph.svg"))
        names = {}
        for group in picture.getElementsByTagName("g"):
            text = group.getElementsByTagName("text")[0]
            names[text.firstChild.data] = int(text.getAttribute("x"))
        self.assertLess(names["answer <i>"], names["then"])
        self.assertLess(names["then"], names["all"])

    def test_the_page_has_the_picture_and_no_markup_of_the_program(self):
        self.assertEqual(self.run_it("graph.json").stdout, "graph.html\n")
        page = (self.at / "graph.html").read_text()
        self.assertIn("<svg", page)
        self.assertNotIn("<i>", page)
        self.assertNotIn("app <b>", page)

    def test_dot_and_json(self):
        self.run_it("graph.json", "--dot", "graph.dot")
        self.assertIn('"0x3" -> "0x2" [label="member"];', (self.at / "graph.dot").read_text())
        found = json.loads(self.run_it("graph.json", "--json").stdout)
        self.assertEqual([each["id"] for each in found["hangs_on"]], ["0x1"])

    def test_a_ring_is_drawn_all_the_same(self):
        ring = dict(GRAPH, edges=[{"from": "0x1", "to": "0x2"}, {"from": "0x2", "to": "0x1"}])
        (self.at / "graph.json").write_text(json.dumps(ring))
        self.assertEqual(self.run_it("graph.json", "--svg", "graph.svg", "--summary").returncode, 0)

    def test_a_long_chain_and_an_empty_graph_are_drawn(self):
        nodes = [{"id": hex(each), "state": "pending"} for each in range(1, 5001)]
        edges = [{"from": hex(each + 1), "to": hex(each), "kind": "reads"} for each in range(1, 5000)]
        for document in ({"nodes": nodes, "edges": edges}, {"nodes": []}):
            (self.at / "graph.json").write_text(json.dumps(document))
            found = self.run_it("graph.json", "--svg", "graph.svg", "--summary", "-f")
            self.assertEqual(found.returncode, 0, found.stderr)

    def test_a_wrong_graph_is_refused(self):
        node = '{"id": "0x1", "age_ns": 5}'
        wrong = {
            '{"nodes": 3}': 'line 1 (byte 11): field "nodes": no list',
            '{"nodes": [{"kind": "then"}]}': 'line 1 (byte 11), node 1: field "id": missing',
            '{"nodes": [\n3]}': "line 2 (byte 12), node 1: no JSON object",
            '{"nodes":[],"edges":[7]}': "line 1 (byte 21), edge 1: no JSON object",
            f'{{"nodes":[{node},{node}]}}': 'line 1 (byte 37), node 2: field "id": 0x1 stands there twice',
            f'{{"nodes":[{node.replace("5", "NaN")}]}}': 'node 1: field "age_ns": too large, or no number',
            f'{{"nodes":[{node}]}}}}': "line 1 (byte 38): something follows its end",
            f'{{"nodes":[{node} {node}]}}': 'no JSON: "," is missing',
        }
        for document, sentence in wrong.items():
            (self.at / "graph.json").write_text(document)
            with self.subTest(document=document):
                found = self.run_it("graph.json")
                self.assertEqual((found.returncode, found.stdout), (2, ""))
                self.assertTrue(found.stderr.startswith("vow-trace: graph.json: line "), found.stderr)
                self.assertIn(sentence, found.stderr)
                self.assertEqual(found.stderr.count("\n"), 1)
                self.assertFalse((self.at / "graph.html").exists())

    def test_a_graph_that_was_cut_off_is_read_up_to_there(self):
        text = json.dumps(GRAPH)
        for end in range(text.index("}") + 1, len(text) - 1):
            (self.at / "graph.json").write_text(text[:end])
            kind, document = document_of(str(self.at / "graph.json"))
            found = read(document, "graph.json")
            self.assertGreater(len(found.nodes), 0)
            self.assertIn("cut off in line 1 (byte", found.notes()[0])

    def test_what_is_left_out_is_said_on_the_page_and_beside_it(self):
        nodes = [{"id": hex(each), "state": "pending"} for each in range(1, 700)]
        (self.at / "graph.json").write_text(json.dumps({"nodes": nodes, "edges": [{"from": "0x1", "to": "gone"}]}))
        found = self.run_it("graph.json")
        page = (self.at / "graph.html").read_text()
        for sentence in ("99 more promises are not drawn", "1 edge of promises that are not in the graph is left out"):
            self.assertIn(sentence, found.stderr)
            self.assertIn(sentence, page)


if __name__ == "__main__":
    unittest.main()
