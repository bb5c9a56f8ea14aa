"""Makes the page: one file with its style, its script and the trace's data inside, and no network."""

import base64
import hashlib
import html
import json
import pkgutil

from .encoding import encode

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


def part(name):
    """A file of the folder page/, also from inside an archive."""
    return pkgutil.get_data(__package__, f"page/{name}").decode("utf-8")


def inside_script(data):
    """JSON that cannot end the script element that it stands in."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for each in "<>&\u2028\u2029":
        text = text.replace(each, f"\\u{ord(each):04x}")
    return text.encode("utf-8", "replace").decode("utf-8")


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
        f"<title>{html.escape(title)}</title>",
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
    """The page of a trace."""
    style = "".join(part(name) for name in STYLES)
    script = '(() => {\n"use strict";\n' + "\n".join(part(name) for name in SCRIPTS) + "})();\n"
    title = f"{(analysis.trace.program or analysis.name)[:100]}: promises"
    return document(title, part("body.html"), style, script, encode(analysis))
