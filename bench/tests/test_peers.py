"""Finding, choosing and building peers; workloads and options."""

import tempfile
import unittest
from pathlib import Path

from support import BENCH, describe, peer

from runner import options, peers, workloads


class Finding(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)

    def add(self, name, build="", **more):
        return peers.read(describe(self.root, name, build, **more))

    def test_vow_is_first_and_raw_last(self):
        for name in ("raw", "zeta", "vow", "alpha"):
            self.add(name)
        self.assertEqual([one.name for one in peers.find(self.root)], ["vow", "alpha", "zeta", "raw"])

    def test_hidden_directories_and_node_modules_are_left_out(self):
        self.add("a")
        self.add("node_modules/b")
        self.add(".build/c")
        self.assertEqual([one.name for one in peers.find(self.root)], ["a"])

    def test_a_misspelt_key_is_refused(self):
        with self.assertRaisesRegex(ValueError, "withuot"):
            self.add("a", withuot={})

    def test_a_built_peer_is_present(self):
        one = self.add("a", build='touch "$1/a"')
        peers.build(one, self.root / "out")
        self.assertEqual((one.state, one.program.name), ("present", "a"))

    def test_absence_has_the_last_line_as_reason(self):
        one = self.add("a", build="echo looking; echo no liba in pkg-config; exit 3")
        peers.build(one, self.root / "out")
        self.assertEqual((one.state, one.reason), ("absent", "no liba in pkg-config"))

    def test_a_failed_build_shows_its_first_error(self):
        one = self.add("a", build="echo a.c:1: error: no; echo at the end; exit 1")
        peers.build(one, self.root / "out")
        self.assertEqual((one.state, one.reason), ("failed", "build exit 1: a.c:1: error: no"))

    def test_a_build_without_a_program_failed(self):
        one = self.add("a", build="true")
        peers.build(one, self.root / "out")
        self.assertEqual(one.state, "failed")


class Choosing(unittest.TestCase):
    def test_names_choose(self):
        all_three = [peer("a"), peer("b"), peer("c")]
        self.assertEqual([one.name for one in peers.choose(all_three, ["c", "a"])], ["a", "c"])
        self.assertEqual(peers.choose(all_three, []), all_three)

    def test_an_unknown_name_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "no peer d"):
            peers.choose([peer("a")], ["d"])

    def test_raw_rows_are_for_those_that_name_them(self):
        self.assertTrue(peers.offers(peer("a"), "W2"))
        self.assertFalse(peers.offers(peer("a"), "R1"))
        self.assertTrue(peers.offers(peer("raw", only=["R1"]), "R1"))
        self.assertFalse(peers.offers(peer("raw", only=["R1"]), "W2"))


class Tree(unittest.TestCase):
    """What is in the tree itself."""

    def test_every_peer_reads_and_has_a_build_script(self):
        found = peers.find(BENCH)
        self.assertEqual(len(found), len({one.name for one in found}))
        for one in found:
            self.assertTrue((one.directory / one.build).is_file(), one.name)

    def test_what_peers_name_are_workloads(self):
        known = {workload.name for workload in workloads.WORKLOADS}
        for one in peers.find(BENCH):
            self.assertLessEqual(set(one.without) | set(one.only), known, one.name)


class Workloads(unittest.TestCase):
    def test_chosen_in_the_order_of_the_list(self):
        self.assertEqual([each.name for each in workloads.chosen(["W3", "W1"])], ["W1", "W3"])

    def test_an_unknown_one_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "no workload W99"):
            workloads.chosen(["W99"])

    def test_growth_adds_sizes_up_to_the_largest(self):
        (chain,) = workloads.chosen(["W2"])
        self.assertEqual(chain.all_sizes(0), [100, 1_000_000])
        self.assertEqual(chain.all_sizes(1000), [100, 1000, 1_000_000])
        (settled,) = workloads.chosen(["W3"])
        self.assertEqual(settled.all_sizes(10_000_000), [1000])


class Options(unittest.TestCase):
    def test_quick_sets_what_was_not_said(self):
        asked = options.parse(["--quick", "--rounds=7", "--only=W1,W2"])
        self.assertEqual((asked.rounds, asked.largest, asked.only), (7, 0, ["W1", "W2"]))

    def test_usually(self):
        asked = options.parse([])
        self.assertEqual((asked.rounds, asked.largest, asked.peers), (5, 10_000_000, []))


if __name__ == "__main__":
    unittest.main()
