"""A live graph: what a program's promises wait for at one moment."""

from . import graph_drawing, page, times
from .errors import InputError
from .text import clean, counted


class Node:
    """One promise."""

    def __init__(self, source):
        self.id = str(source["id"])
        self.kind = str(source.get("kind") or "promise")
        self.label = str(source["label"]) if source.get("label") else None
        self.state = str(source.get("state") or "pending")
        self.age = int(source.get("age_ns") or 0)
        self.executor = str(source["executor"]) if source.get("executor") else None
        self.site = str(source["site"]) if source.get("site") else None
        self.handlers = int(source.get("handlers") or 0)
        self.progress = None if source.get("progress") is None else float(source["progress"])
        self.layer = 0

    @property
    def name(self):
        return self.label or self.kind


class Graph:
    """Nodes by id, edges (from, to, kind) of which the first waits for the second, and blocked threads."""

    def __init__(self, name, program):
        self.file = name
        self.program = program
        self.nodes = {}
        self.edges = []
        self.threads = []

    def title(self, identity):
        node = self.nodes.get(identity)
        return f"{node.name} {identity}" if node else identity

    def waits(self):
        """{id: ids it waits for}."""
        found = {each: [] for each in self.nodes}
        for source, target, _ in self.edges:
            found[source].append(target)
        return found

    def roots(self):
        """Pending promises that wait for no other pending one: what everything hangs on. Oldest first."""
        waits = self.waits()
        pending = [each for each in self.nodes.values() if each.state == "pending"]
        found = [
            each for each in pending if not any(self.nodes[other].state == "pending" for other in waits[each.id])
        ]
        return sorted(found, key=lambda each: (-each.age, each.id))

    def summary(self):
        states = {}
        for each in self.nodes.values():
            states[each.state] = states.get(each.state, 0) + 1
        lines = [f"{clean(self.program or self.file)}: {counted(len(self.nodes), 'live promise')}"]
        lines.append("  " + (", ".join(f"{value:,} {clean(name)}" for name, value in sorted(states.items())) or "none"))
        if self.threads:
            lines += ["", "Blocked threads"]
            for thread in self.threads:
                lines.append(f"  {times.text(thread[2]):>9}  {thread[0]}  awaits {clean(self.title(thread[1]))}")
        roots = self.roots()
        if roots:
            lines += ["", "What the others wait for"]
            for each in roots[:20]:
                site = f"   {clean(each.site, 70)}" if each.site else ""
                lines.append(f"  {times.text(each.age):>9}  {clean(self.title(each.id))}{site}")
            if len(roots) > 20:
                lines.append(f"  and {len(roots) - 20} more")
        return "\n".join(lines) + "\n"

    def json(self):
        return {
            "file": self.file,
            "program": self.program,
            "promises": len(self.nodes),
            "edges": len(self.edges),
            "threads": [{"tid": tid, "awaits": promise, "age_ns": age} for tid, promise, age in self.threads],
            "hangs_on": [
                {"id": each.id, "kind": each.kind, "label": each.label, "site": each.site, "age_ns": each.age}
                for each in self.roots()
            ],
        }

    def svg(self):
        return graph_drawing.picture(self)

    def dot(self):
        return graph_drawing.dot(self)

    def page(self):
        body = (
            "<body>\n<h1>" + page.html.escape(f"{self.program or self.file}: live promises") + "</h1>\n"
            "<pre>" + page.html.escape(self.summary()) + "</pre>\n<div>" + self.svg() + "</div>\n</body>"
        )
        style = page.part("graph.css")
        return page.document(f"{self.program or self.file}: live promises", body, style, "")


def read(document, name):
    """The Graph of a file's JSON."""
    nodes, edges, threads = (document.get(each, []) for each in ("nodes", "edges", "threads"))
    if not all(isinstance(each, list) for each in (nodes, edges, threads)):
        raise InputError(f"{name}: no live graph: nodes, edges and threads must be lists")
    found = Graph(name, str(document.get("program") or ""))
    try:
        for each in nodes:
            node = Node(each)
            found.nodes[node.id] = node
        for each in edges:
            edge = (str(each["from"]), str(each["to"]), str(each.get("kind") or "reads"))
            if edge[0] in found.nodes and edge[1] in found.nodes:
                found.edges.append(edge)
        for each in threads:
            found.threads.append((each.get("tid"), str(each["awaits"]), int(each.get("age_ns") or 0)))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{name}: no live graph: {type(error).__name__}: {error}") from error
    return found
