"""Changes a trace or a graph a little: its bytes, lines, words of JSON, values and shape. The same choice each time."""

import gzip
import json
import re

TEXTS = [
    "", " ", "0x1", "0x2", "0x9999", "VOW_ETIMEDOUT", "VOW_ECANCELLED", "rejected", "retry", "map", "delay", "promise", "X", "b", "e",
    "n", "handler", "await", "waits", "progress", "traceEvents", "nodes", "page 17", "1" * 50, "x" * 5_000, "\x1b[31m\x07", "\0",
    "\x7f\x9b", "\ufffe", "\uffff", "\ud800", "\ufdd0", "\U0001fffe", "\u2028", "\u202e", "</script><img src=x>", "]]>", "&amp;\"'",
    "a\nb", "a\tb", "\ufeff", "%s{}", "../../x", "app+0xfffffffffffffffff", "app+0x1 (" * 20, "\u0661\u0662", "\U0001f600",
]  # fmt: skip
NUMBERS = [
    "0", "-0", "-1", "1", "0.0001", "-5.5", "1e9", "1e18", "1e300", "1e999", "-1e999", "NaN", "Infinity", "-Infinity", "9223372036854775807",
    "9223372036854775808", "18446744073709551616", "9223372036854775.807", "5000000.001", "9" * 400, "9" * 5_000, "1." + "0" * 400, "00", "1.", ".5",
    "0x10", "1e", "--1", "+1",
]  # fmt: skip
VALUES = [
    None, True, False, 0, -1, 1, 2, 7, 0.5, -0.5, 1e300, 2**53, 2**63, 2**64, float("nan"), float("inf"), [], {}, [[]], {"a": 1}, [1, 2], *TEXTS,
]  # fmt: skip
BYTES = [
    b"\0", b"\xff", b"\xc3", b"\xef\xbf\xbe", b"\xed\xa0\x80", b"\x1b", b"\x07", b"\r", b"\n", b",", b":", b"{", b"}", b"[", b"]", b'"',
    b"\\", b"\\u", b"\\ud800", b"\xef\xbb\xbf", b"]}\n", b"\x1f\x8b\x08", b"{}", b"null", b" ",
]  # fmt: skip
WORD = re.compile(rb'"(?:[^"\\\n]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null|[\[\]{},:]')
DEEP = (3, 40, 900, 3_000, 60_000)


def span(random, data, most=40):
    begin = random.randrange(len(data) + 1)
    return begin, min(begin + random.randrange(1, most), len(data))


def byte(random, data):
    begin, end = span(random, data)
    kind = random.randrange(6)
    if kind == 0 and begin < len(data):
        return data[:begin] + bytes([data[begin] ^ 1 << random.randrange(8)]) + data[begin + 1 :]
    if kind == 1:
        return data[:begin] + data[end:]
    if kind == 2:
        return data[:begin] + data[begin:end] * random.randrange(2, 4) + data[end:]
    if kind == 3:
        return data[:begin] + bytes(random.randrange(256) for _ in range(end - begin)) + data[end:]
    return data[:begin] + random.choice(BYTES) + data[begin if kind == 4 else end :]


def cut(random, data):
    return data[: random.randrange(len(data) + 1)]


def line(random, data):
    lines = data.split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    kind = random.randrange(6)
    if kind == 0:
        del lines[one]
    elif kind == 1:
        lines.insert(other, lines[one])
    elif kind == 2:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 3:
        lines[one : one + 2] = [b"".join(lines[one : one + 2])]
    elif kind == 4:
        at = random.randrange(len(lines[one]) + 1)
        lines[one : one + 1] = [lines[one][:at], lines[one][at:]]
    else:
        lines[one] = lines[one][: random.randrange(len(lines[one]) + 1)]
    return b"\n".join(lines)


def word(random, data):
    """A string, a number, a sign: another of its kind, or of any."""
    found = list(WORD.finditer(data))
    if not found:
        return data
    one, other = random.choice(found), random.choice(found)
    begin, end = one.span()
    kind = random.randrange(5)
    if kind == 0:
        new = other[0]
    elif kind == 1:
        new = b""
    elif kind == 2:
        new = random.choice(NUMBERS).encode()
    elif kind == 3:
        new = json.dumps(random.choice(TEXTS), ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass")
    else:
        new = one[0] + one[0]
    return data[:begin] + new + data[end:]


def inner(random, value):
    """Somewhere inside a value: what has it, and by which key."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = random.choice(keys)
        if not isinstance(value[key], (dict, list)) or not value[key] or random.random() < 0.3:
            return value, key
        value = value[key]


def value(random, data):
    """One value of one line, as JSON has it."""
    lines = data.split(b"\n")
    place = random.randrange(len(lines))
    text = lines[place].strip().rstrip(b",")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return word(random, data)
    if not isinstance(found, (dict, list)) or not found:
        return word(random, data)
    holder, key = inner(random, found)
    kind = random.randrange(6)
    if kind == 0 and isinstance(holder, dict):
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[random.choice(TEXTS)] = holder.pop(key)
    elif kind == 2 and isinstance(holder[key], (int, float)):
        holder[key] = holder[key] * random.choice([-1, 0, 0.5, 2, 1e6, 1e300]) if abs(holder[key]) < 1e300 else 0
    elif kind == 3:
        holder[key] = [holder[key]]
    else:
        holder[key] = random.choice(VALUES)
    lines[place] = json.dumps(found, ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass") + b","
    return b"\n".join(lines)


def swap(random, data):
    """Ids, numbers or texts of the same kind change places, so that events speak of others: rings, twins, wrong order."""
    pattern = random.choice([rb'"0x[0-9a-f]+"', rb'(?<="ts":) ?[0-9.]+', rb'(?<="dur":) ?[0-9.]+', rb'(?<="tid":) ?[0-9]+'])
    found = [each.span() for each in re.finditer(pattern, data)]
    if len(found) < 2:
        return byte(random, data)
    (one, after), (other, end) = sorted(random.sample(found, 2))
    if random.random() < 0.5:
        return data[:one] + data[other:end] + data[after:]
    return data[:one] + data[other:end] + data[after:other] + data[one:after] + data[end:]


def nest(random, data):
    depth = random.choice(DEEP)
    begin, _ = random.choice([each.span() for each in WORD.finditer(data)] or [(0, 0)])
    opening, closing = random.choice([(b"[", b"]"), (b'{"a":', b"}"), (b'[{"args":', b"}]")])
    inside = opening * depth + (b"1" + closing * depth if random.random() < 0.7 else b"")
    return data[:begin] + inside + data[begin:]


KINDS = (byte, byte, cut, line, line, word, word, value, value, value, value, swap, swap)


def mutated(random, samples):
    """One of the samples, or what two of them make, changed once or a few times."""
    data = random.choice(samples)
    packed = data[:2] == b"\x1f\x8b"
    if packed and random.random() < 0.7:
        data = gzip.decompress(data)
    if random.random() < 0.05:
        other = random.choice(samples)
        data = data[: random.randrange(len(data) + 1)] + other[random.randrange(len(other) + 1) :]
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5))):
        data = random.choice(KINDS)(random, data)
    if random.random() < 0.02:
        data = nest(random, data)
    if packed and data[:2] != b"\x1f\x8b":
        data = gzip.compress(data, 1, mtime=0)
        if random.random() < 0.3:
            data = byte(random, data)
        if random.random() < 0.3:
            data = cut(random, data)
    return data
