"""Durations as people read them."""

UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"))


def text(nanoseconds):
    """Three digits and a unit: 412 ns, 3.07 µs, 12.4 ms, 65.1 s."""
    for size, unit in UNITS:
        if nanoseconds >= size:
            number = nanoseconds / size
            digits = 2 if number < 10 else 1 if number < 100 else 0
            return f"{number:.{digits}f} {unit}"
    return f"{nanoseconds} ns"


def step(span, most):
    """The smallest 1, 2 or 5 times a power of ten that divides a span into at most so many parts."""
    size = 1
    while True:
        for factor in (1, 2, 5):
            if span <= size * factor * most:
                return size * factor
        size *= 10


def tick(nanoseconds, distance):
    """The text of an axis's mark, with as many decimals as the distance of its marks needs."""
    for size, unit in (*UNITS, (1, "ns")):
        if distance >= size or size == 1:
            return f"{nanoseconds / size:g} {unit}"
        if nanoseconds >= size and distance * 1000 > size:
            decimals = len(str(size // distance)) - 1 if distance < size else 0
            return f"{nanoseconds / size:.{max(decimals, 1)}f} {unit}"
    return f"{nanoseconds} ns"
