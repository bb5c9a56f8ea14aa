"""The tables that people read."""

HEAD = ("peer", "ns/item", "min–max", "× Vow", "allocs", "bytes", "resident")


def number(value, digits=3):
    """A number with so many significant digits, thousands parted by commas."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}" if abs(value) >= 1 else f"{value:.2f}"


def cells_of(row, title):
    """The columns of one row of the results."""
    if row["status"] == "unsupported":
        return [title, "–", row.get("reason", "")]
    if row["status"] == "crash":
        return [title, f"crashes at {row['failed_at']:,}", row.get("reason", "")]
    if row["status"] == "timeout":
        return [title, f"too slow at {row['failed_at']:,}", row.get("reason", "")]
    times = row.get("ns_per_item")
    span = f"{number(times['min'])}–{number(times['max'])}" if times else ""
    return [
        title,
        number(times["median"] if times else None),
        span,
        f"{row['ratio']:.2f}" if "ratio" in row else "",
        number(row.get("allocations_per_item")),
        number(row.get("bytes_per_item")),
        number(row.get("resident_per_item")),
        row.get("note", ""),
    ]


def lines_of(rows, titles):
    """The lines of one table, headed; numbers stand right, reasons run on."""
    table = [list(HEAD)] + [cells_of(row, titles[row["peer"]]) for row in rows]
    full = [line for line in table if len(line) >= len(HEAD)]
    widths = [max(len(line[i]) for line in full) for i in range(len(HEAD))]
    widths[0] = max(len(line[0]) for line in table)
    lines = []
    for line in table:
        if len(line) < len(HEAD):
            lines.append(f"  {line[0]:<{widths[0]}}  {line[1]}" + (f" ({line[2]})" if line[2] else ""))
            continue
        rest = "  ".join(f"{text:>{width}}" for text, width in zip(line[1:], widths[1:]))
        lines.append(f"  {line[0]:<{widths[0]}}  {rest}  {''.join(line[len(HEAD):])}".rstrip())
    return lines


def print_table(workload, size, rows, titles, write=print):
    """One table: a workload at one size."""
    write(f"\n{workload.name}  {workload.title}, N = {size:,}; per {workload.item}")
    for line in lines_of(rows, titles):
        write(line)


def short(row):
    """A row of the results in one word, for the growth table."""
    if row["status"] == "ok":
        return number(row["ns_per_item"]["median"]) if "ns_per_item" in row else ""
    return {"crash": "crash", "timeout": "too slow"}.get(row["status"], "–")


def crashes(rows):
    """At which N each peer of these rows begins to crash."""
    return {row["peer"]: row["failed_at"] for row in rows if row["status"] == "crash"}


def growth_lines(rows, titles):
    """A line per peer, a column per size; peers that do not offer the workload are left out."""
    sizes = sorted({row["n"] for row in rows})
    offered = [row for row in rows if row["status"] != "unsupported"]
    names = list(dict.fromkeys(row["peer"] for row in offered))
    lines = [["peer"] + [f"{size:,}" for size in sizes]]
    for name in names:
        mine = {row["n"]: short(row) for row in offered if row["peer"] == name}
        line = [titles[name]] + [mine.get(size, "") for size in sizes]
        if name in crashes(rows):
            line.append(f"crashes at about {crashes(rows)[name]:,}")
        lines.append(line)
    count = len(lines[0])
    widths = [max(len(line[i]) for line in lines) for i in range(count)]
    return [
        "  ".join(
            ["", f"{line[0]:<{widths[0]}}"]
            + [f"{text:>{width}}" for text, width in zip(line[1:], widths[1:])]
            + line[count:]
        )
        for line in lines
    ]


def print_growth(workload, rows, titles, write=print):
    """How the cost of one item changes with N."""
    write(f"\n{workload.name}  growth: ns per {workload.item} at each N")
    for line in growth_lines(rows, titles):
        write(line)


def print_absent(peers, write=print):
    """The peers that could not take part, each with its reason."""
    missing = [peer for peer in peers if peer.state != "present"]
    if missing:
        write("\nNot here")
    for peer in missing:
        write(f"  {peer.title}: {peer.state}: {peer.reason}")
