"""What must hold of everything that vow-trace makes, whatever it was given."""

import json
import re
from xml.parsers import expat

COMMANDS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]")
NO_CHARACTER = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U0001fffe\U0001ffff]")
DATA = re.compile(r'<script type="application/json" id="data">([^<>&]*)</script>\n<script>')
DOT = re.compile(r'  "(?:[^"\\]|\\.)*"(?: -> "(?:[^"\\]|\\.)*")? \[label="(?:[^"\\]|\\.)*"\];|digraph vow \{|  rankdir=RL;|  node \[shape=box\];|\}')
PLACE = re.compile(
    r"(?s).+?: (line \d+ \(byte \d+\)(, (event|node|edge|thread) \d+)?: |byte \d+|promise .*: it was settled|otherData: "
    r"|the file is empty|no trace of promises)"
)
UNREADABLE = re.compile(r"(?s).+?: (byte 0|the file is empty|no trace of promises)")


class Unsound(Exception):
    """A result that must not be."""


def expect(condition, words):
    if not condition:
        raise Unsound(words)


def no_constant(word):
    raise Unsound(f"{word} in JSON")


def check_summary(text):
    expect(not COMMANDS.search(text), "the summary has a control character")
    expect(max(map(len, text.split("\n"))) < 1_500, "a line of the summary is very long")


def check_picture(text):
    expect(not NO_CHARACTER.search(text), "the picture has what is no character")
    parser = expat.ParserCreate()
    try:
        parser.Parse(text.encode(), True)
    except (expat.ExpatError, UnicodeEncodeError) as error:
        raise Unsound(f"the picture is ill-formed: {error}") from error


def check_page(page):
    expect(not NO_CHARACTER.search(page), "the page has what is no character")
    expect(page.startswith("<!doctype html>") and page.endswith("</script>\n</html>\n"), "the page has no end")
    title = re.search("<title>(.*?)</title>", page, re.S)[1]
    expect(not re.search("[<>]", title), "the title has markup")
    found = DATA.search(page)
    if found:
        expect(page.count("</script>") == 2, "a script ends early")
        check_data(json.loads(found[1], parse_constant=no_constant))
    else:
        check_picture(page[page.index("<svg") : page.index("</svg>") + 6])
        expect(not re.search("<(?!/?(h1|pre|div|svg|style|title|rect|text|path|g|body)\\b)", page.split("<body>")[1].split("<script>")[0]), "a tag")


def check_data(data):
    """The page's script relies on it."""
    promises, texts, tids = data["promises"], len(data["texts"]), len(data["tids"])
    count = len(promises["id"])
    expect(all(len(column) == count for column in promises.values()), "columns differ")
    for name in ("kind", "label", "site", "executor", "error", "value"):
        expect(all(0 <= each < texts for each in promises[name]), f"{name}: no text")
    for index in range(count):
        made, settled = promises["made"][index], promises["settled"][index]
        expect(0 <= made <= data["duration"], "made outside of the trace")
        expect(settled == -1 or made <= settled <= data["duration"], "settled outside of the trace")
        expect(0 <= promises["lane"][index] < data["groups"][promises["group"][index]]["lanes"], "no lane")
    expect(all(0 <= each < tids for each in promises["madeOn"] + promises["settledOn"]), "no thread")
    expect(len(data["deps"]) % 3 == 0 and all(0 <= each < max(count, 3) for each in data["deps"]), "no promise")
    for thread in data["threads"]:
        expect(thread["begin"] == sorted(thread["begin"]), "slices out of order")
        expect(all(0 <= begin <= end <= data["duration"] for begin, end in zip(thread["begin"], thread["end"])), "slice outside")
        expect(all(-1 <= each < count for each in thread["promise"] + thread["reads"]), "no promise")
    for before, segments in filter(None, data["links"] or ()):
        expect(-1 <= before < len(data["links"]), "a link to nowhere")
        check_segments(segments[::-1])
    if data["path"]:
        check_segments(data["path"]["segments"])


def check_segments(segments):
    for before, after in zip(segments, segments[1:]):
        expect(before[2] == after[1], "the path has a gap")
    expect(all(0 <= begin < end for _, begin, end, *_ in segments), "a step takes no time")


def check_forms(forms):
    """All that can be made."""
    check_summary(forms.summary())
    check_picture(forms.svg())
    check_page(forms.page()[1])
    json.dumps(forms.json(), allow_nan=False)
    if hasattr(forms, "dot"):
        dot = forms.dot()
        expect(not NO_CHARACTER.search(dot), "the graph has what is no character")
        expect(all(map(DOT.fullmatch, dot.split("\n")[:-1])), "the graph is ill-formed")
