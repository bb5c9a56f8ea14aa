"""Medians, spreads and ratios."""

import statistics


def spread(times):
    """Median, least and most; None without a time."""
    if not times:
        return None
    return {"median": statistics.median(times), "min": min(times), "max": max(times)}


def summarise(cells, baseline="vow"):
    """One dictionary per cell, as the JSON has them; `ratio` is to the baseline's median, same run."""
    base = {
        (cell.workload, cell.size): statistics.median(cell.times)
        for cell in cells
        if cell.peer == baseline and cell.times
    }
    return [row(cell, base.get((cell.workload, cell.size))) for cell in cells]


def row(cell, base):
    """The dictionary of one cell."""
    result = {"workload": cell.workload, "n": cell.size, "peer": cell.peer, "status": cell.status}
    if cell.reason:
        result["reason"] = cell.reason
    if cell.failed_at:
        result["failed_at"] = cell.failed_at
    times = spread(cell.times)
    if cell.status == "ok" and times:
        result["ns_per_item"] = times
        result["runs"] = cell.times
        if base:
            result["ratio"] = times["median"] / base
    dropped = {"workload", "n", "ns_per_item", "compiler", "flags", "version", "unsupported"}
    result.update({key: value for key, value in cell.values.items() if key not in dropped})
    return result
