"""A panel per workload, a bar per peer: ns per item, on a logarithmic scale."""

import math
import re

import style
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

PLOTS = {
    "workloads": (("W1", 1000), ("W2", 100), ("W3", 1000), ("W4", 1000), ("W5", 1000)),
    "threads": (
        ("W6a", 100),
        ("W6b", 100),
        ("W6c", 1000),
        ("W8", 10_000),
        ("W10", 10_000),
        ("W12", 1000),
    ),
}


def rows_of(results, workload, size):
    """Those that were measured, fastest on top; a list of nodes (raw) is no peer of W2 and W4."""
    rows = [
        row
        for row in results["results"]
        if (row["workload"], row["n"]) == (workload, size)
        and row["status"] == "ok"
        and (row["peer"] != "raw" or workload not in ("W2", "W4"))
        and "ns_per_item" in row
    ]
    return sorted(rows, key=lambda row: row["ns_per_item"]["median"], reverse=True)


def panel(axes, results, workload, size, rows, limits):
    """One workload."""
    titles = {peer["name"]: peer["title"] for peer in results["peers"]}
    for place, row in enumerate(rows):
        times = row["ns_per_item"]
        vow = row["peer"] == "vow"
        axes.barh(place, times["median"], color=style.bar(row["peer"]), height=0.72)
        axes.plot([times["min"], times["max"]], [place, place], color="#333333", linewidth=0.8, alpha=0.7)
        label = f"{times['median']:,.0f} ns" if times["median"] >= 10 else f"{times['median']:.1f} ns"
        if "ratio" in row and not vow:
            label += f"  (×{row['ratio']:.1f})"
        axes.text(
            max(times["median"], times["max"]) * 1.07,
            place,
            label,
            va="center",
            size=8.5,
            weight="bold" if vow else "normal",
        )
    axes.set_yticks(range(len(rows)), [titles[row["peer"]] for row in rows])
    for tick, row in zip(axes.get_yticklabels(), rows):
        if row["peer"] == "vow":
            tick.set_color(style.VOW)
            tick.set_weight("bold")
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xscale("log")
    axes.set_xlim(*limits)
    axes.xaxis.set_major_locator(LogLocator(10))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x", color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    described = {each["name"]: each for each in results["workloads"]}[workload]
    title = re.sub(r"\bN\b", f"{size:,}", described["title"])
    axes.set_title(f"{workload}  {title}")
    axes.set_xlabel(f"ns per {described['item']}", size=9)


def draw(results, out):
    """Both plots, as far as there is something to draw."""
    return [name for name in PLOTS if draw_one(results, out, name)]


def draw_one(results, out, plot):
    """All panels of one below each other, on one scale; False if nothing was measured."""
    panels = [(name, size, rows_of(results, name, size)) for name, size in PLOTS[plot]]
    panels = [each for each in panels if each[2]]
    if not panels:
        return False
    medians = [row["ns_per_item"]["median"] for *_, rows in panels for row in rows]
    limits = (10 ** math.floor(math.log10(min(medians) / 1.5)), max(medians) * 12)
    lengths = [len(rows) for *_, rows in panels]
    figure, axes = style.pyplot.subplots(
        len(panels),
        1,
        figsize=(9, sum(lengths) * 0.28 + len(panels) * 0.9),
        gridspec_kw={"height_ratios": [length + 0.2 for length in lengths]},
        squeeze=False,
        layout="constrained",
    )
    for place, (name, size, rows) in zip(axes[:, 0], panels):
        panel(place, results, name, size, rows, limits)
    style.footer(figure, results)
    style.save(figure, out, plot)
    return True
