"""The pieces that a drawn picture is made of."""

import re
from xml.sax.saxutils import escape

COLOURS = {
    # name: (on light ground, on dark ground)
    "ground": ("#ffffff", "#14181d"),
    "edge": ("#d9dfe7", "#343d48"),
    "grid": ("#e8ecf1", "#262d35"),
    "text": ("#1b232d", "#e6ebf1"),
    "quiet": ("#586574", "#9aa8b8"),
    "fulfilled": ("#2f75c0", "#4a8fd4"),
    "rejected": ("#c62f2b", "#f0605a"),
    "timed-out": ("#e8920c", "#f5a83a"),
    "cancelled": ("#75679c", "#a094c8"),
    "pending": ("#a7b0bb", "#6b7684"),
    "handler": ("#1f7f61", "#36a883"),
    "await": ("#c3ccd6", "#414c59"),
    "live": ("#d5e4f5", "#22364d"),
    "path": ("#c2188f", "#ff6ac4"),
}
PLANES = "".join(f"{chr(each * 0x10000 + 0xFFFE)}{chr(each * 0x10000 + 0xFFFF)}" for each in range(17))
NOT_XML = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef{PLANES}]")


def quoted(value):
    """Somebody's text inside an element or an attribute; what XML or HTML cannot say becomes a mark."""
    return escape(NOT_XML.sub("\N{REPLACEMENT CHARACTER}", str(value)), {'"': "&quot;"})


def cut(value, most):
    return value if len(value) <= most else value[: most - 1] + "…"


def style():
    """Fills (f-NAME) and strokes (s-NAME) for both grounds, and how texts look."""
    found = ["text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}"]
    found.append(".b{font-weight:600}.e{text-anchor:end}.m{text-anchor:middle}path{fill:none}")
    for place in (0, 1):
        rules = "".join(
            f".f-{name}{{fill:{both[place]}}}.s-{name}{{stroke:{both[place]}}}" for name, both in COLOURS.items()
        )
        found.append(rules if place == 0 else f"@media(prefers-color-scheme:dark){{{rules}}}")
    return "<style>" + "".join(found) + "</style>"


def text(x, y, content, kind="f-text"):
    if not content:
        return ""
    return f'<text x="{x}" y="{y}" class="{kind}">{quoted(content)}</text>'


def box(x, y, width, height, kind, corner=0):
    rounded = f' rx="{corner}"' if corner else ""
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}"{rounded} class="{kind}"/>'


def strokes(pieces, height, kind):
    """Horizontal bars (x, y of the middle, length) as one path."""
    if not pieces:
        return ""
    drawn = "".join(f"M{x} {y:g}h{length}" for x, y, length in pieces)
    return f'<path class="s-{kind}" stroke-width="{height:g}" d="{drawn}"/>'


def picture(width, height, title, content):
    """A whole picture on a ground of its own."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" aria-label="{quoted(title)}">',
            style(),
            f"<title>{quoted(title)}</title>",
            f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8" class="f-ground s-edge"/>',
            *(each for each in content if each),
            "</svg>\n",
        ]
    )
