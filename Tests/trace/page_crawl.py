"""The page of a crawl in a browser: what it shows, and what mouse, keys and address do."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from urllib.parse import quote

from browser import Browser
from commands import COMMAND
from crawl import Crawl
from support import ROOT, Writer

BUILD = Path(os.environ.get("BUILD", "build"))
PICTURES = (BUILD if BUILD.is_absolute() else ROOT / BUILD) / "test" / "trace"
EVIL = "</script><img src=x onerror=window.bad=1> <b>${bad}</b> \u2028"


def made(directory, name, text, *options):
    """The address of the page of a trace."""
    trace = Path(directory) / f"{name}.json"
    trace.write_text(text)
    subprocess.run([*COMMAND, str(trace), *options], check=True, capture_output=True)
    return (Path(directory) / f"{name}.html").as_uri()


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.home.cleanup)
        cls.crawl = Crawl(pages=1000, at_once=16)
        cls.address = made(cls.home.name, "crawl", cls.crawl.run().text())
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.messages.clear()
        self.browser.dark(False)

    def tearDown(self):
        self.assertEqual(self.browser.messages, [], "the console has no error")

    def open(self, fragment=""):
        self.browser.open(self.address + fragment)
        self.browser.painted()

    def view(self):
        value = self.browser.value("[Number(timeline.dataset.begin), Number(timeline.dataset.end)]")
        return value[0], value[1]

    def length(self):
        begin, end = self.view()
        return end - begin

    def figure(self, name):
        text = self.browser.value(f"document.querySelector('[data-figure={name}] b').textContent")
        return int(text.replace(",", ""))

    def panel(self):
        return self.browser.value("document.getElementById('panel').innerText")

    def color_at(self, x, y):
        """What is painted there."""
        return self.browser.value(
            f"""(() => {{
                const ink = new OffscreenCanvas(1, 1).getContext("2d");
                ink.drawImage(canvas, {x}, {y}, 1, 1, 0, 0, 1, 1);
                return Array.from(ink.getImageData(0, 0, 1, 1).data);
            }})()"""
        )

    def test_the_figures_are_those_of_the_crawl(self):
        self.open()
        self.assertEqual(self.figure("promises"), self.crawl.writer.last)
        self.assertEqual(self.figure("retries"), self.crawl.retries)
        self.assertEqual(self.figure("time-outs"), self.crawl.time_outs)
        self.assertEqual(self.figure("pending"), 2)

    def test_the_group_of_pages_has_sixteen_lanes(self):
        self.open()
        rows = self.browser.value(
            "Array.from(document.querySelectorAll('#groups tbody tr'), (row) => Array.from(row.cells, (cell) => cell.innerText))"
        )
        self.assertIn(["page", "1,000", "16", "0"], rows)
        ground = self.color_at(3, 700)
        lanes = [any(self.color_at(x, y) != ground for x in (600, 603, 606)) for y in range(163, 163 + 16 * 16, 16)]
        self.assertEqual(lanes, [True] * 16)

    def test_keys_zoom_and_pan(self):
        self.open()
        whole = self.length()
        self.browser.key("w")
        near = self.view()
        self.assertAlmostEqual((near[1] - near[0]) / whole, 0.7, places=2)
        self.browser.key("d")
        self.assertGreater(self.view()[0], near[0])
        self.browser.key("s")
        self.assertAlmostEqual(self.length() / whole, 1, places=1)
        self.browser.key("+")
        self.browser.key("ArrowLeft")
        self.assertLess(self.view()[0], near[0] + 1)
        self.browser.key("0")
        self.assertEqual(self.length(), whole)

    def test_the_wheel_zooms_where_the_pointer_is(self):
        self.open("#zoom=100000000-200000000")
        self.browser.mouse("mouseWheel", 600, 400, deltaX=0, deltaY=-120, modifiers=2)
        self.browser.painted()
        begin, end = self.view()
        self.assertLess(end - begin, 100_000_000)
        self.assertGreater(begin, 100_000_000)
        self.assertLess(end, 200_000_000)

    def test_the_wheel_alone_scrolls_the_lanes(self):
        self.open()
        before = self.length()
        self.browser.mouse("mouseWheel", 600, 400, deltaX=0, deltaY=200)
        self.browser.painted()
        self.browser.wait("timeline.scrollTop > 100")
        self.assertEqual(self.length(), before)

    def test_dragging_moves_in_time(self):
        self.open("#zoom=100000000-200000000")
        self.browser.mouse("mousePressed", 700, 400, button="left", clickCount=1)
        for x in (650, 600, 550):
            self.browser.mouse("mouseMoved", x, 400, button="left", buttons=1)
        self.browser.mouse("mouseReleased", 550, 400, button="left", clickCount=1)
        self.browser.painted()
        self.assertGreater(self.view()[0], 105_000_000)
        self.assertAlmostEqual(self.length(), 100_000_000, delta=2)

    def test_a_click_selects_and_the_address_says_so(self):
        self.open("#zoom=100000000-120000000")
        self.browser.click(700, 200)
        self.assertIn("Pending for", self.panel())
        self.assertIn("Waited for by", self.panel())
        self.browser.wait("location.hash.includes('select=0x')")
        fragment = self.browser.value("location.hash")
        said, view = self.panel(), self.view()
        self.open(fragment)
        self.assertEqual((self.panel(), self.view()), (said, view))
        self.browser.key("Escape")
        self.assertIn("Nothing is selected", self.panel())

    def test_hovering_tells_what_it_is(self):
        self.open("#zoom=100000000-120000000")
        self.browser.mouse("mouseMoved", 700, 200)
        self.browser.painted()
        tip = self.browser.value("document.getElementById('tip').innerText")
        for word in ("page ", "Kind", "Site", "crawl+0x1a30", "Waited for", "Made"):
            self.assertIn(word, tip)

    def test_searching_dims_and_goes_from_match_to_match(self):
        self.open()
        self.browser.key("/")
        for letter in "page 77":
            self.browser.key(letter)
        self.assertEqual(self.browser.value("document.getElementById('found').textContent"), "11 found")
        self.browser.key("Enter")
        self.assertEqual(self.browser.value("document.getElementById('found').textContent"), "1 of 11")
        self.assertIn("page 77", self.panel())
        self.browser.key("Escape")
        self.assertEqual(self.browser.value("document.getElementById('found').textContent"), "")

    def test_an_id_is_found_too(self):
        self.open("#find=0x1")
        self.assertEqual(self.browser.value("document.getElementById('found').textContent"), "1 found")

    def test_the_critical_path_is_listed_and_shown(self):
        self.open("#panel=" + quote("Critical path"))
        self.assertIn("The chain of causes that led to crawl", self.panel())
        shares = self.browser.value("document.querySelectorAll('#panel table')[0].innerText")
        self.assertRegex(shares, r"waiting\s+\d+ ms")
        self.browser.key("p")
        self.browser.wait("location.hash.includes('path=0x1')")
        self.open("#zoom=40000000-60000000&path=0x1")
        self.browser.picture(PICTURES / "path.png")

    def test_the_path_to_any_promise_can_be_asked_for(self):
        self.open("#select=0x22a")
        self.browser.value(
            "Array.from(document.querySelectorAll('#panel button')).find((each) => each.textContent === 'Critical path to it').click()"
        )
        self.assertIn("The chain of causes that led to", self.panel())
        self.assertIn("Of the whole trace", self.panel())

    def test_what_never_settled_has_its_site(self):
        self.open("#panel=" + quote("Never settled"))
        self.assertIn("news 0", self.panel())
        self.assertIn("crawl+0x4100 (subscribe+0x10)", self.panel())

    def test_the_longest_are_listed(self):
        self.open("#panel=Longest")
        self.assertIn("Longest handlers", self.panel())
        self.assertRegex(self.panel(), r"parse/\d+ 0x")

    def test_light_and_dark(self):
        self.open()
        light = self.color_at(3, 700)
        self.assertEqual(light[:3], [255, 255, 255])
        self.browser.picture(PICTURES / "light.png")
        self.browser.dark(True)
        self.open("#zoom=100000000-130000000&select=0x300")
        self.assertLess(sum(self.color_at(3, 700)[:3]), 120)
        self.browser.picture(PICTURES / "dark.png")
        self.open("#theme=light")
        self.assertEqual(self.color_at(3, 700), light)

    def test_a_small_window_shows_all_of_it_one_below_the_other(self):
        self.browser.size(700, 800)
        self.open()
        self.assertGreater(self.browser.value("timeline.clientHeight"), 250)
        self.assertEqual(self.browser.value("document.documentElement.scrollWidth"), 700)
        self.browser.picture(PICTURES / "small.png")
        self.browser.size(1440, 900)

    def test_a_wrong_address_shows_everything(self):
        self.open("#zoom=what&select=0xnone&path=7&panel=%3Cb%3E&theme=pink&find=%00")
        self.assertGreater(self.length(), 700_000_000)

    def test_labels_are_texts_and_never_markup(self):
        writer = Writer()
        first = writer.promise("promise", 0, 1000, label=EVIL, site=EVIL, executor=EVIL, value=EVIL)
        then = writer.promise("then", 0, 2000, label="long " + "x" * 100_000, reads=first, error=EVIL)
        writer.handler(then, 1100, 1900, reads=first, name=EVIL, executor=EVIL)
        writer.promise("promise", 0, None, label=EVIL)
        writer.thread(1, EVIL)
        self.browser.open(made(self.home.name, "evil", writer.text()) + f"#select=0x1&find={quote('<img')}")
        for name in ("Overview", "Critical path", "Longest", "Never settled"):
            self.browser.value(
                f"Array.from(document.querySelectorAll('#tabs button')).find((each) => each.textContent.startsWith('{name}')).click()"
            )
        self.browser.mouse("mouseMoved", 600, 140)
        self.browser.painted()
        self.assertEqual(self.browser.value("[document.images.length, typeof window.bad]"), [0, "undefined"])

    def test_an_empty_trace_and_a_cut_off_one_say_so(self):
        self.browser.open(made(self.home.name, "empty", Writer().text()))
        self.browser.key("w")
        self.assertIn("No promise was made", self.browser.value("document.getElementById('notice').innerText"))
        writer = Writer()
        writer.promise("promise", 0, 1000)
        self.browser.open(made(self.home.name, "cut", writer.text()[:-20]))
        self.assertIn("cut off", self.browser.value("document.getElementById('notice').innerText"))

    def test_hundreds_of_lanes_and_a_hundred_thousand_promises_are_painted(self):
        writer = Writer()
        for number in range(100_000):
            begin = number * 1_000
            writer.promise("promise", begin, begin + 700_000, label=f"wide {number}")
        self.browser.open(made(self.home.name, "wide", writer.text()))
        rows = self.browser.value("document.getElementById('groups').innerText")
        self.assertIn("700", rows)
        self.browser.key("w")
        self.browser.picture(PICTURES / "wide.png")


class LiveGraph(unittest.TestCase):
    def test_a_live_graph_is_drawn(self):
        from test_graph import GRAPH, json

        browser = Browser()
        self.addCleanup(browser.close)
        with tempfile.TemporaryDirectory() as home:
            browser.call("Page.navigate", url=made(home, "graph", json.dumps(GRAPH)))
            browser.wait("document.querySelectorAll('svg g').length === 3")
            self.assertEqual(browser.value("document.querySelectorAll('i').length"), 0)
            browser.picture(PICTURES / "graph.png")
        self.assertEqual(browser.messages, [])


if __name__ == "__main__":
    unittest.main()
