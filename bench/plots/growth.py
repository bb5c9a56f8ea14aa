"""A panel per workload: ns per item against N. Flat is good; a cross is where a peer died."""

import style
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

PANELS = ("W2", "W4", "W5", "W7", "W11")


def curves_of(results, workload):
    """For each peer its (N, ns) and the N at which it died, if it did; only those with several sizes."""
    curves = {}
    for row in results["results"]:
        if row["workload"] != workload or row["status"] == "unsupported":
            continue
        points, deaths = curves.setdefault(row["peer"], ([], []))
        if row["status"] == "ok" and "ns_per_item" in row:
            points.append((row["n"], row["ns_per_item"]["median"]))
        elif row["status"] == "crash":
            deaths.append(row["failed_at"])
    return {
        name: (sorted(points), min(deaths, default=None))
        for name, (points, deaths) in curves.items()
        if len(points) > 1
    }


def magnitude(value, _):
    """1,000 as 10³ reads better on an axis."""
    power = len(str(int(value))) - 1
    return "10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(power))


def panel(axes, curves, colours):
    """One workload: lines, and crosses beyond the last point of those that died."""
    for name, (points, death) in curves.items():
        vow = name == "vow"
        sizes, times = zip(*points)
        axes.plot(
            sizes,
            times,
            color=colours[name],
            linewidth=2.6 if vow else 1.4,
            linestyle="--" if name == "raw" else "-",
            marker="o",
            markersize=4.5 if vow else 3,
            zorder=3 if vow else 2,
        )
        if death is not None:
            axes.plot([sizes[-1], death], [times[-1]] * 2, ":", color=colours[name], linewidth=1.2)
            axes.plot(death, times[-1], "X", color=colours[name], markersize=8, zorder=4)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(LogLocator(10))
    axes.xaxis.set_major_formatter(FuncFormatter(magnitude))
    axes.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5), numticks=20))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)


def legend(axes, results, seen, colours):
    """In the free panel: every peer that has a curve, and what the cross means."""
    lines = style.matplotlib.lines
    handles = [
        lines.Line2D(
            [], [], color=colours[peer["name"]], label=peer["title"], marker="o", markersize=4,
            linewidth=2.6 if peer["name"] == "vow" else 1.4,
            linestyle="--" if peer["name"] == "raw" else "-",
        )
        for peer in results["peers"]
        if peer["name"] in seen
    ]  # fmt: skip
    handles.append(
        lines.Line2D([], [], color="#333333", marker="X", linestyle=":", markersize=8, label="crashes there")
    )
    axes.axis("off")
    columns = 1 if len(handles) < 12 else 2
    axes.legend(handles=handles, loc="center left", frameon=False, ncols=columns, fontsize=9)


def draw(results, out):
    """A grid of panels, the last one for the legend."""
    described = {each["name"]: each for each in results["workloads"]}
    colours = style.colours(results["peers"])
    panels = [(name, curves_of(results, name)) for name in PANELS]
    panels = [(name, curves) for name, curves in panels if curves]
    if not panels:
        return []
    columns = min(3, len(panels) + 1)
    rows = -(-(len(panels) + 1) // columns)
    figure, grid = style.pyplot.subplots(
        rows, columns, figsize=(4.3 * columns, 3.3 * rows), squeeze=False, layout="constrained"
    )
    places = list(grid.flat)
    for axes, (name, curves) in zip(places, panels):
        panel(axes, curves, colours)
        axes.set_title(f"{name}  {described[name]['title']}", size=9.5)
        axes.set_xlabel("N", size=9)
        axes.set_ylabel(f"ns per {described[name]['item']}", size=9)
    legend(places[len(panels)], results, {name for _, curves in panels for name in curves}, colours)
    for axes in places[len(panels) + 1 :]:
        axes.axis("off")
    style.footer(figure, results)
    style.save(figure, out, "growth")
    return ["growth"]
