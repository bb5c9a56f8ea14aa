"""Makes the page: one file with its style, its script and the trace's data inside, and no network."""

import base64
import hashlib
import json
import pkgutil
import re
from functools import lru_cache

from .encoding import encode
from .svg import NOT_XML, quoted

STYLES = ("style.css",)
SCRIPTS = (
    "data.js",
    "times.js",
    "view.js",
    "rows.js",
    "paint.js",
    "marks.js",
    "pick.js",
    "select.js",
    "details.js",
    "panels.js",
    "search.js",
    "input.js",
    "link.js",
    "main.js",
)


@lru_cache(maxsize=None)
def part(name):
    """A file of the folder page/, also from inside an archive."""
    return pkgutil.get_data(__package__, f"page/{name}").decode("utf-8")


AT_ONCE = 10_000
UNSAFE = re.compile(f"[<>&\u2028\u2029]|{NOT_XML.pattern}")


def as_escape(match):
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[each : each + 4]}" for each in range(0, len(units), 4))


def pieces(data):
    """JSON piece by piece: a list of a million numbers is never a million strings at once."""
    if isinstance(data, dict):
        for index, (key, value) in enumerate(data.items()):
            yield f'{"," if index else "{"}{as_json(key)}:'
            yield from pieces(value)
        yield "}" if data else "{}"
    elif isinstance(data, list) and data and isinstance(data[0], dict):
        for index, value in enumerate(data):
            yield "," if index else "["
            yield from pieces(value)
        yield "]"
    elif isinstance(data, list) and len(data) > AT_ONCE:
        for begin in range(0, len(data), AT_ONCE):
            yield ("," if begin else "[") + as_json(data[begin : begin + AT_ONCE])[1:-1]
        yield "]"
    else:
        yield as_json(data)


def as_json(data):
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def inside_script(data):
    """JSON that cannot end the script element that it stands in, of characters that a page may have."""
    return "".join(UNSAFE.sub(as_escape, each) for each in pieces(data))


def digest(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def document(title, body, style, script, data=None):
    """A page that may run this script and no other, and load nothing."""
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src '{digest(script)}'"
    found = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<link rel="icon" href="data:,">',
        f"<title>{quoted(title)}</title>",
        f"<style>\n{style}</style>",
        "</head>",
        body,
    ]
    if data is not None:
        found.append(f'<script type="application/json" id="data">{inside_script(data)}</script>')
    found.append(f"<script>{script}</script>")
    found.append("</html>")
    return "\n".join(found) + "\n"


def trace_page(analysis):
    """(what it leaves out, the page) of a trace."""
    style = "".join(part(name) for name in STYLES)
    script = '(() => {\n"use strict";\n' + "\n".join(part(name) for name in SCRIPTS) + "})();\n"
    title = f"{(analysis.trace.program or analysis.name)[:100]}: promises"
    data = encode(analysis)
    return data["notes"], document(title, part("body.html"), style, script, data)
