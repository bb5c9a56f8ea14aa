"""What a link costs in allocations and bytes, and what a pending promise holds."""

import style

PANELS = (
    ("W2", 100, "allocations_per_item", "W2  allocations per link"),
    ("W2", 100, "bytes_per_item", "W2  bytes per link"),
    ("W9", 1_000_000, "resident_per_item", "W9  resident bytes per pending promise with a handler"),
)


def values_of(results, workload, size, key):
    """(peer, value), the smallest last, which is on top."""
    found = [
        (row["peer"], row[key])
        for row in results["results"]
        if (row["workload"], row["n"]) == (workload, size) and key in row and row["peer"] != "raw"
    ]
    return sorted(found, key=lambda pair: pair[1], reverse=True)


def panel(axes, values, titles, title):
    """One number of each peer."""
    most = max(value for _, value in values) or 1
    for place, (name, value) in enumerate(values):
        vow = name == "vow"
        axes.barh(place, value, color=style.bar(name), height=0.72)
        text = f"{value:,.0f}" if value >= 10 or value == round(value) else f"{value:.1f}"
        axes.text(value + most * 0.02, place, text, va="center", size=8.5, weight="bold" if vow else "normal")
    axes.set_yticks(range(len(values)), [titles[name] for name, _ in values])
    for tick, (name, _) in zip(axes.get_yticklabels(), values):
        if name == "vow":
            tick.set_color(style.VOW)
            tick.set_weight("bold")
    axes.set_ylim(-0.6, len(values) - 0.4)
    axes.set_xlim(0, most * 1.15)
    axes.grid(axis="x", color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.set_title(title)


def draw(results, out):
    """The panels below each other."""
    titles = {peer["name"]: peer["title"] for peer in results["peers"]}
    panels = [(values_of(results, *where), title) for *where, title in PANELS]
    panels = [(values, title) for values, title in panels if values]
    if not panels:
        return []
    lengths = [len(values) for values, _ in panels]
    figure, axes = style.pyplot.subplots(
        len(panels),
        1,
        figsize=(9, sum(lengths) * 0.28 + len(panels) * 0.75),
        gridspec_kw={"height_ratios": [length + 0.2 for length in lengths]},
        squeeze=False,
        layout="constrained",
    )
    for place, (values, title) in zip(axes[:, 0], panels):
        panel(place, values, titles, title)
    style.footer(figure, results)
    style.save(figure, out, "memory")
    return ["memory"]
