"""The summary for a terminal."""

import re

from . import ranking, times

# What moves the cursor or speaks to the terminal, turns the direction of writing, breaks lines, or is no character.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]")

LONGEST = 500


def escaped(match):
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def on_one_line(value):
    """Somebody's text with control characters as escapes."""
    return CONTROL.sub(escaped, str(value))


def clean(value, width=60):
    """The same, and no more than so long."""
    value = on_one_line(str(value)[: width + 1])
    return value if len(value) <= width else value[: width - 1] + "…"


def counted(number, word, words=None):
    return f"{number:,} {word if number == 1 else words or word + 's'}"


def place(promise):
    return f"   {clean(promise.site, 70)}" if promise.site else ""


def head(analysis):
    trace = analysis.trace
    yield (
        f"{clean(trace.program or analysis.name)}: {times.text(trace.duration)}, "
        f"{counted(len(trace.promises), 'promise')}, {counted(len(trace.threads), 'thread')}, "
        f"{counted(trace.events, 'event')}"
    )
    if trace.dropped:
        yield f"{counted(trace.dropped, 'event was', 'events were')} dropped: who read the trace was slow."
    for each in trace.notes:
        yield clean(each, LONGEST)
    outcomes = [f"{number:,} {name}" for name, number in analysis.outcomes.items() if number]
    yield "  " + ", ".join(outcomes or ["no promise"])
    retried = f"{counted(analysis.retried, 'retry', 'retries')} of {counted(len(analysis.retries), 'promise')}"
    yield f"  {retried}, {counted(len(analysis.time_outs), 'time-out')}"


def groups(analysis):
    if not analysis.groups:
        return
    yield ""
    yield "Promises by name                     number  at once  not fulfilled"
    for each in analysis.groups[:20]:
        bad = sum(promise.outcome not in ("fulfilled", "pending") for promise in each.promises)
        name = clean(each.name if each.labelled else f"({each.name})", 34)
        yield f"  {name:<34} {len(each.promises):>6,}  {each.lanes:>7,}  {bad:>13,}"
    if len(analysis.groups) > 20:
        yield f"  and {len(analysis.groups) - 20} more names"


def threads(analysis):
    trace = analysis.trace
    if not trace.threads:
        return
    yield ""
    yield "Threads                              handlers  busy"
    shown = [each for each in trace.threads.values() if each.slices][:20]
    for each in shown:
        number = sum(1 for one in each.slices if one.what == "handler")
        share = 100 * ranking.busy(each) / trace.duration if trace.duration else 0
        yield f"  {clean(f'{each.name} {each.tid}'.strip(), 34):<34} {number:>8,}  {share:.1f} %"
    if len(trace.threads) > len(shown):
        yield f"  and {len(trace.threads) - len(shown)} more"


def path(analysis, most=40):
    """The critical path; of a long one its beginning and its end."""
    if not analysis.path:
        return
    whole = analysis.path[-1].end - analysis.path[0].begin
    yield ""
    yield f"Critical path to {clean(analysis.title(analysis.end_of_path.id))}: {times.text(whole)}"
    parts = [f"{name} {times.text(value)}" for name, value in analysis.path_sums.items()]
    yield "  " + ", ".join(parts)
    shown = list(enumerate(analysis.path))
    if len(shown) > most:
        shown = [*shown[: most // 2], None, *shown[-most // 2 :]]
    for each in shown:
        if each is None:
            yield f"  … {len(analysis.path) - most} more …"
            continue
        segment = each[1]
        about = analysis.title(segment.promise) if segment.promise else ""
        yield (
            f"  {times.text(segment.begin):>9}  {segment.category:<8} {times.text(segment.end - segment.begin):>9}"
            f"  {clean(segment.text, 30):<24}  {clean(about)}"
        ).rstrip()


def longest(analysis):
    if analysis.pending:
        yield ""
        yield "Longest pending"
        for each in analysis.pending:
            took = times.text(ranking.pending_time(analysis.trace, each))
            yield f"  {took:>9}  {clean(analysis.title(each.id))}  {each.outcome}{place(each)}"
    if analysis.queued:
        yield ""
        yield "Longest between settling and handler"
        for delay, run in analysis.queued:
            yield f"  {times.text(delay):>9}  {clean(analysis.title(run.promise))}"
    if analysis.runs:
        yield ""
        yield "Longest handlers"
        for run in analysis.runs:
            yield f"  {times.text(run.end - run.begin):>9}  {clean(analysis.title(run.promise))}"


def never(analysis):
    if not analysis.never:
        return
    yield ""
    yield f"Never settled: {counted(len(analysis.never), 'promise')}"
    for each in analysis.never[:20]:
        last = analysis.ends.of(each)
        waits = f"  waits for {clean(analysis.title(last.id))}" if last is not each else ""
        took = times.text(ranking.pending_time(analysis.trace, each))
        yield f"  {took:>9}  {clean(analysis.title(each.id))}{waits}{place(each)}"
    if len(analysis.never) > 20:
        yield f"  and {len(analysis.never) - 20} more"


def summary(analysis):
    """All of it, as one text."""
    lines = []
    for part in (head, groups, threads, path, longest, never):
        lines += part(analysis)
    return "\n".join(lines) + "\n"
