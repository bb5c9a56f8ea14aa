"""The order of the runs: A B C A B C, so that what disturbs the machine disturbs all alike."""

from dataclasses import dataclass, field


@dataclass
class Cell:
    """All answers of one peer to one workload at one size."""

    peer: str
    workload: str
    size: int
    status: str = "ok"
    reason: str = ""
    failed_at: int = 0  # the size at which it first crashed or was too slow
    times: list = field(default_factory=list)
    values: dict = field(default_factory=dict)  # counts, notes and the like, from the last answers

    def take(self, answer):
        """Adds an answer of a timed run; what is no time ends the cell."""
        self.values.update(answer.values)
        if answer.status == "ok" and "ns_per_item" in answer.values:
            self.times.append(answer.values["ns_per_item"])
        elif answer.status != "ok":
            self.status, self.reason = answer.status, answer.reason
            self.failed_at = self.size

    def take_counts(self, answer):
        """Adds what a run that counted said; its time is not used."""
        for key, value in answer.values.items():
            if key.endswith("_per_item") and key not in ("ns_per_item", "resident_per_item"):
                self.values[key] = value
            self.values.setdefault(key, value)


def known(peer, workload, size, cells):
    """The cell of a run that is not worth starting: the reason is known before. Else None."""
    if workload in peer.without:
        return Cell(peer.name, workload, size, "unsupported", peer.without[workload])
    for cell in cells:
        if (cell.peer, cell.workload) == (peer.name, workload) and cell.size < size:
            if cell.status in ("crash", "timeout"):
                at = cell.failed_at
                return Cell(peer.name, workload, size, cell.status, cell.reason, at)
            if cell.status == "unsupported":
                return Cell(peer.name, workload, size, cell.status, cell.reason)
    return None


def alternate(peers, workload, size, rounds, cells, time_run, count_run):
    """Measures one workload at one size: each round asks every peer once. Returns the new cells.

    time_run(peer, workload, size) and count_run(...) start a process each and give its answer.
    """
    here = []
    for peer in peers:
        here.append((peer, known(peer, workload, size, cells)))
    measured = [(peer, Cell(peer.name, workload, size)) for peer, cell in here if cell is None]
    for _ in range(rounds):
        for peer, cell in measured:
            if cell.status == "ok":
                cell.take(time_run(peer, workload, size))
    for peer, cell in measured:
        if cell.status == "ok" and peer.counts == "preload":
            cell.take_counts(count_run(peer, workload, size))
    done = {cell.peer: cell for _, cell in measured}
    return [cell or done[peer.name] for peer, cell in here]
