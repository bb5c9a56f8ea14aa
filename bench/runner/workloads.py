"""What is measured, and at which sizes."""

from dataclasses import dataclass

GROWTH = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)


@dataclass(frozen=True)
class Workload:
    """One row of the benchmark's list."""

    name: str
    title: str
    item: str
    sizes: tuple
    grows: bool = False

    def all_sizes(self, largest):
        """The sizes of the table, and those of the growth curve up to `largest`; 0: no curve."""
        growth = [n for n in GROWTH if n <= largest] if self.grows else []
        return sorted(set(self.sizes) | set(growth))


WORKLOADS = (
    Workload("R1", "raw: malloc and free of 112 bytes", "pair", (1_000,)),
    Workload("R2", "raw: one uncontended atomic exchange", "exchange", (1_000,)),
    Workload("R3", "raw: a call through a pointer", "call", (1_000,)),
    Workload("R4", "raw: dispatch_async_f onto one serial queue, run there", "call", (1_000,)),
    Workload("W1", "create, resolve, release", "promise", (1_000,)),
    Workload("W2", "chain of N links, built, run and freed", "link", (100, 1_000_000), True),
    Workload("W3", "then on a settled promise", "then", (1_000,)),
    Workload("W4", "one promise with N handlers", "handler", (1_000,), True),
    Workload("W5", "all of N promises", "promise", (1_000,), True),
    Workload("W6a", "chain of N links, each hops to one serial queue", "link", (100,)),
    Workload("W6b", "chain of N links, each hops to the pool", "link", (100,)),
    Workload("W6c", "N handlers onto one serial queue", "handler", (1_000,)),
    Workload("W7", "recursion N deep through returned promises", "level", (1_000_000,), True),
    Workload("W8", "await across threads and back", "round trip", (10_000,)),
    Workload("W9", "a pending promise with one handler, held", "promise", (1_000_000,)),
    Workload("W10", "one thread registers, the other settles", "promise", (10_000,)),
    Workload("W11", "cancel N pending promises with one link each", "promise", (1_000_000,), True),
    Workload("W12", "submitted by a thread, run on a loop", "item", (1_000,)),
)


def chosen(names):
    """The workloads with these names (none: all), in the order of the list; ValueError for others."""
    known = {workload.name for workload in WORKLOADS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"no workload {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return [workload for workload in WORKLOADS if not names or workload.name in names]
