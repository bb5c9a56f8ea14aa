"""Draws a live graph by layers: what is waited for stands left of who waits for it."""

import re

from . import svg, times

WIDE, HIGH, GAP_X, GAP_Y = 214, 44, 56, 12
MOST = 600
MOST_EDGES = 6_000
STATE_COLOURS = {"pending": "pending", "fulfilled": "fulfilled", "rejected": "rejected"}


def layers(graph, chosen):
    """The chosen ids by layer: each stands right of all that it waits for; a ring is cut where it is found."""
    waits = {each: [other for other in others if other in chosen] for each, others in graph.waits().items()}
    depth, under_way = {}, set()
    for start in chosen:
        stack = [start]
        while stack:
            each = stack[-1]
            if each in depth:
                stack.pop()
                continue
            under_way.add(each)
            missing = [other for other in waits[each] if other not in depth and other not in under_way]
            if missing:
                stack += missing
                continue
            depth[each] = 1 + max((depth.get(other, -1) for other in waits[each]), default=-1)
            under_way.discard(each)
            stack.pop()
    found = [[] for _ in range(1 + max(depth.values(), default=-1))]
    for each in chosen:
        found[depth[each]].append(each)
    order(found, waits)
    return found


def order(found, waits):
    """Puts each beside what it waits for, so that lines cross less."""
    for layer in range(1, len(found)):
        place = {each: index for before in found[:layer] for index, each in enumerate(before)}
        middles = {}
        for each in found[layer]:
            beside = [place[other] for other in waits[each] if other in place]
            middles[each] = sum(beside) / len(beside) if beside else 0
        found[layer].sort(key=lambda each: middles[each])


def picture(graph):
    """The whole graph, or its first promises if there are very many."""
    chosen = dict.fromkeys(list(graph.nodes)[:MOST])
    columns = layers(graph, chosen)
    blocked = {promise: tid for tid, promise, _ in graph.threads}
    places, parts = {}, []
    for column, ids in enumerate(columns):
        for row, each in enumerate(ids):
            places[each] = (24 + column * (WIDE + GAP_X), 44 + row * (HIGH + GAP_Y))
    width = max(480, 48 + len(columns) * (WIDE + GAP_X) - GAP_X)
    height = 72 + max((len(each) for each in columns), default=0) * (HIGH + GAP_Y)
    for source, target, kind in drawn_edges(graph, places)[:MOST_EDGES]:
        parts.append(line(places[target], places[source], kind))
    for each, (x, y) in places.items():
        parts += card(graph.nodes[each], x, y, blocked.get(each))
    about = [f"{len(graph.nodes):,} live promises; who waits stands right of what it waits for", *left_out(graph)]
    parts.insert(0, svg.text(24, 26, ". ".join(each.rstrip(".") for each in about), "f-quiet"))
    return svg.picture(width, height, f"Live promises of {svg.cut(graph.program or graph.file, 60)}", parts)


def drawn_edges(graph, chosen):
    return [each for each in graph.edges if each[0] in chosen and each[1] in chosen]


def left_out(graph):
    """What the picture does not show, as sentences."""
    found = []
    if len(graph.nodes) > MOST:
        found.append(f"{len(graph.nodes) - MOST:,} more promises are not drawn.")
    edges = len(drawn_edges(graph, set(list(graph.nodes)[:MOST]))) - MOST_EDGES
    if edges > 0:
        found.append(f"{edges:,} more lines between them are not drawn.")
    return found


def line(start, end, kind):
    x, y = start[0] + WIDE, start[1] + HIGH // 2
    to_x, to_y = end[0], end[1] + HIGH // 2
    dashes = {"follows": ' stroke-dasharray="5 3"', "member": ' stroke-dasharray="2 3"'}.get(kind, "")
    bend = max(abs(to_x - x) // 2, 24)
    return (
        f'<path class="s-quiet"{dashes} d="M{x} {y}C{x + bend} {y} {to_x - bend} {to_y} {to_x} {to_y}"/>'
        f'<path class="s-quiet" d="M{to_x - 6} {to_y - 3}l6 3-6 3"/>'
    )


def card(node, x, y, thread):
    """A box with name, id, kind and age, and its whole site as a title."""
    colour = STATE_COLOURS.get(node.state, "pending")
    kind = f"{node.kind} " if node.label else ""
    about = f"{kind}{node.id} · {node.state} {times.text(max(node.age, 0))}"
    if thread is not None:
        about = f"{node.id} · awaited by thread {thread}"
    title = " · ".join(each for each in (node.label, node.kind, node.id, node.state, node.executor, node.site) if each)
    yield f"<g><title>{svg.quoted(svg.cut(title, 400))}</title>"
    yield svg.box(x, y, WIDE, HIGH, f"f-ground s-{'path' if thread is not None else 'edge'}", 6)
    yield svg.box(x, y + 4, 5, HIGH - 8, f"f-{colour}", 2)
    if node.progress is not None:
        share = min(max(node.progress, 0), 1)
        yield svg.box(x + 12, y + HIGH - 5, round((WIDE - 20) * share), 2, "f-handler")
    yield svg.text(x + 12, y + 18, svg.cut(node.name, 26), "f-text b")
    yield svg.text(x + 12, y + 34, svg.cut(about, 31), "f-quiet")
    yield "</g>"


def dot(graph):
    """For Graphviz."""

    def quoted(value):
        plain = svg.NOT_XML.sub("\N{REPLACEMENT CHARACTER}", re.sub(r"\s", " ", str(value)))
        return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'

    lines = ["digraph vow {", "  rankdir=RL;", "  node [shape=box];"]
    for each in graph.nodes.values():
        name = quoted(f"{each.name} {each.id} {each.state}")
        lines.append(f"  {quoted(each.id)} [label={name}];")
    for source, target, kind in graph.edges:
        lines.append(f"  {quoted(source)} -> {quoted(target)} [label={quoted(kind)}];")
    return "\n".join([*lines, "}"]) + "\n"
