"""Where exactly a peer begins to crash, between a size that went well and one that did not."""


def search(good, bad, survives, precision=0.02):
    """Halves until both are within the precision; returns (largest that went well, smallest that did not)."""
    while bad - good > 1 and (bad - good) / bad > precision:
        middle = (good + bad) // 2
        if survives(middle):
            good = middle
        else:
            bad = middle
    return good, bad


def refine(cells, survives):
    """Narrows `failed_at` of all cells that crashed; survives(peer, workload, size) tries one size."""
    groups = {}
    for cell in cells:
        groups.setdefault((cell.peer, cell.workload), []).append(cell)
    for (peer, workload), group in groups.items():
        crashed = [cell for cell in group if cell.status == "crash"]
        good = max((cell.size for cell in group if cell.status == "ok"), default=0)
        if not crashed or good == 0:
            continue
        first = min(cell.failed_at for cell in crashed)
        _, failed_at = search(good, first, lambda size: survives(peer, workload, size))
        for cell in crashed:
            cell.failed_at = failed_at
