"""A live graph: what a program's promises wait for at one moment."""

from . import graph_drawing, page, svg, times
from .errors import Fault
from .fields import name_of_thread, needed, number, text
from .text import LONGEST, clean, counted


class Node:
    """One promise."""

    def __init__(self, source):
        self.id = needed(source, "id")
        self.kind = text(source, "kind") or "promise"
        self.label = text(source, "label")
        self.state = text(source, "state") or "pending"
        self.age = int(number(source, "age_ns", 0))
        self.executor = text(source, "executor")
        self.site = text(source, "site")
        self.handlers = int(number(source, "handlers", 0))
        self.progress = None if source.get("progress") is None else float(number(source, "progress"))

    @property
    def name(self):
        return self.label or self.kind


class Graph:
    """Nodes by id, edges (from, to, kind) of which the first waits for the second, and blocked threads."""

    def __init__(self, name):
        self.file = name
        self.program = ""
        self.lacks = []
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

    def notes(self):
        return self.lacks

    def summary(self):
        states = {}
        for each in self.nodes.values():
            states[each.state] = states.get(each.state, 0) + 1
        lines = [f"{clean(self.program or self.file)}: {counted(len(self.nodes), 'live promise')}"]
        lines.append("  " + (", ".join(f"{value:,} {clean(name)}" for name, value in sorted(states.items())) or "none"))
        lines += [clean(each, LONGEST) for each in self.lacks]
        if self.threads:
            lines += ["", "Blocked threads"]
            for thread in self.threads:
                lines.append(f"  {times.text(thread[2]):>9}  {clean(thread[0])}  awaits {clean(self.title(thread[1]))}")
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
            "notes": self.lacks,
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
        """(what it leaves out, the page)."""
        title = f"{self.program or self.file}: live promises"
        body = (
            f"<body>\n<h1>{svg.quoted(title)}</h1>\n<pre>{svg.quoted(self.summary())}</pre>\n"
            f"<div>{self.svg()}</div>\n</body>"
        )
        return graph_drawing.left_out(self), page.document(title, body, page.part("graph.css"), "")

    def take(self, name, source):
        """One element of a list; a Fault where it is wrong."""
        if name == "nodes":
            node = Node(source)
            if node.id in self.nodes:
                raise Fault(f"{node.id} stands there twice", "id")
            self.nodes[node.id] = node
        elif name == "edges":
            self.edges.append((needed(source, "from"), needed(source, "to"), text(source, "kind") or "reads"))
        elif name == "threads":
            tid, age = name_of_thread(source, None), int(number(source, "age_ns", 0))
            self.threads.append((tid, needed(source, "awaits"), age))

    def finish(self):
        """Each edge once, and only of promises that are alive: the ends of others may be known no longer."""
        known = [each for each in self.edges if each[0] in self.nodes and each[1] in self.nodes]
        lost = len(self.edges) - len(known)
        if lost:
            self.lacks.append(f"{counted(lost, 'edge')} of promises that are not in the graph {'is' if lost == 1 else 'are'} left out.")
        self.edges = list(dict.fromkeys(known))


def read(document, name):
    """The Graph of a file."""
    found = Graph(name)
    for key, value in document.items():
        try:
            if document.number:
                found.take(key, value)
            elif key == "program":
                found.program = text({key: value}, key) or ""
            elif key in document.lists:
                raise Fault("no list", key)
        except Fault as fault:
            document.fault(fault)
    found.lacks = document.notes()
    found.finish()
    return found
