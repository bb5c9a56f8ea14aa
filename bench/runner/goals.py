"""What Vow is to reach, as ratios within one run; what was not measured is said to be so."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """One measured thing over another: (workload, size, peer), and the key of what is compared."""

    text: str
    what: tuple
    base: tuple
    most: float = None
    least: float = None
    key: str = "ns_per_item"

    def met(self, ratio):
        """Whether a ratio is good enough."""
        return ratio <= self.most if self.most is not None else ratio >= self.least


VOW = {
    name: (name, size, "vow")
    for name, size in (
        *(("W1", 1000), ("W2", 100), ("W3", 1000), ("W4", 1000), ("W5", 1000)),
        *(("W6a", 100), ("W6c", 1000), ("W8", 10_000), ("W9", 1_000_000)),
    )
}
MALLOC = ("R1", 1000, "raw")


def of(peer, name):
    """The same workload and size of another peer."""
    return (*VOW[name][:2], peer)


GOALS = (
    Goal("W1 to malloc and free", VOW["W1"], MALLOC, most=4),
    Goal("W2 to malloc and free", VOW["W2"], MALLOC, most=6),
    Goal("W2 to folly", VOW["W2"], of("folly", "W2"), most=1 / 3),
    Goal("W6a to W2", VOW["W6a"], VOW["W2"], most=2),
    Goal("W6c to single dispatches", VOW["W6c"], ("R4", 1000, "raw"), most=0.5),
    Goal("W8 to a bare futex", VOW["W8"], of("raw", "W8"), most=1.1),
    Goal("queue per promise to Vow, W1", of("literal", "W1"), VOW["W1"], least=4),
    Goal("queue per promise to Vow, W2", of("literal", "W2"), VOW["W2"], least=4),
    Goal(
        "queue per promise to Vow, W9 resident",
        of("literal", "W9"),
        VOW["W9"],
        least=4,
        key="resident_per_item",
    ),
    *(
        Goal(f"{name} to Node", VOW[name], of("node", name), most=1.1)
        for name in ("W2", "W3", "W4", "W5")
    ),
)
FLAT = 1.2  # the most over the least of a growth curve from 10^3 on


def value(rows, where, key):
    """The number at a place, medians for times; None if it was not measured."""
    for row in rows:
        if (row["workload"], row["n"], row["peer"]) == where and row["status"] == "ok":
            found = row.get(key)
            return found["median"] if isinstance(found, dict) else found
    return None


def flatness(rows, workload):
    """The most over the least of Vow's curve; None with fewer than two sizes."""
    times = [
        row["ns_per_item"]["median"]
        for row in rows
        if (row["workload"], row["peer"], row["status"]) == (workload, "vow", "ok") and row["n"] >= 1000
    ]
    return max(times) / min(times) if len(times) > 1 else None


def judge(rows, growing):
    """One dictionary per goal; `ratio` and `met` are None where something was not measured."""
    result = []
    for goal in GOALS:
        top, base = value(rows, goal.what, goal.key), value(rows, goal.base, goal.key)
        ratio = top / base if top is not None and base else None
        bound = f"≤ {goal.most:.2f}" if goal.most is not None else f"≥ {goal.least:.2f}"
        result.append(line(goal.text, bound, ratio, None if ratio is None else goal.met(ratio)))
    for workload in growing:
        ratio = flatness(rows, workload)
        met = None if ratio is None else ratio <= FLAT
        result.append(line(f"{workload} growth, most to least", f"≤ {FLAT:.2f}", ratio, met))
    return result


def line(text, bound, ratio, met):
    """One judged goal."""
    return {"goal": text, "bound": bound, "ratio": ratio, "met": met}


def print_goals(judged, write=print):
    """Those that were measured; nothing if there are none."""
    measured = [each for each in judged if each["ratio"] is not None]
    if measured:
        write("\nGoals, as ratios in this run")
    for each in measured:
        mark = "met" if each["met"] else "missed"
        write(f"  {each['goal']:<40} {each['ratio']:>7.2f}  {each['bound']:<7} {mark}")
