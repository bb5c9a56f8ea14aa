"""All that is found out about a trace, once: for the summary, the page, the picture and tools."""

from . import ranking
from .causes import critical_path, sums
from .lanes import groups_of


class Analysis:
    """A trace with its groups, its critical path and its longest waits."""

    def __init__(self, trace, name, chosen=None, count=10):
        self.trace = trace
        self.name = name
        self.groups = groups_of(trace)
        self.end_of_path, self.path = critical_path(trace, chosen)
        self.path_sums = sums(self.path)
        self.outcomes = ranking.by_outcome(trace)
        self.retries = list(ranking.retries(trace))
        self.retried = sum(len(moments) for _, moments in self.retries)
        self.time_outs = ranking.time_outs(trace)
        self.never = ranking.never_settled(trace)
        self.ends = ranking.Ends(trace)
        self.pending = ranking.longest_pending(trace, count)
        self.queued = ranking.longest_queued(trace, count)
        self.runs = ranking.longest_runs(trace, count)
        self.awaits = [each for each in trace.slices() if each.what == "await"]

    def title(self, identity):
        """A promise's name and id; also of one that the file has lost."""
        promise = self.trace.promises.get(identity)
        return f"{promise.name} {identity}" if promise else str(identity)


def promise_json(promise):
    return {
        "id": promise.id,
        "kind": promise.kind,
        "label": promise.label,
        "site": promise.site,
        "made_ns": promise.made,
        "settled_ns": promise.settled,
        "outcome": promise.outcome,
        "error": promise.error,
    }


def run_json(run):
    return {
        "promise": run.promise,
        "reads": run.reads,
        "name": run.name,
        "executor": run.executor,
        "thread": run.tid,
        "begin_ns": run.begin,
        "end_ns": run.end,
    }


def segment_json(segment):
    return {
        "category": segment.category,
        "begin_ns": segment.begin,
        "end_ns": segment.end,
        "promise": segment.promise,
        "thread": segment.tid,
        "text": segment.text,
    }


def as_json(analysis):
    """For other tools: plain numbers, nanoseconds since the trace's beginning."""
    trace = analysis.trace
    return {
        "file": analysis.name,
        "program": trace.program,
        "events": trace.events,
        "skipped": trace.skipped,
        "dropped": trace.dropped,
        "complete": trace.complete,
        "notes": trace.notes,
        "duration_ns": trace.duration,
        "promises": len(trace.promises),
        "outcomes": analysis.outcomes,
        "retries": analysis.retried,
        "time_outs": len(analysis.time_outs),
        "groups": [
            {"name": each.name, "labelled": each.labelled, "promises": len(each.promises), "lanes": each.lanes}
            for each in analysis.groups
        ],
        "threads": [
            {"tid": each.tid, "name": each.name, "busy_ns": ranking.busy(each)} for each in trace.threads.values()
        ],
        "critical_path": {
            "promise": analysis.end_of_path.id if analysis.end_of_path else None,
            "sums_ns": analysis.path_sums,
            "segments": [segment_json(each) for each in analysis.path],
        },
        "longest_pending": [promise_json(each) for each in analysis.pending],
        "longest_queued": [{"delay_ns": delay, **run_json(run)} for delay, run in analysis.queued],
        "longest_handlers": [run_json(each) for each in analysis.runs],
        "retried": [
            {**promise_json(promise), "again_ns": moments} for promise, moments in analysis.retries
        ],
        "timed_out": [promise_json(each) for each in analysis.time_outs],
        "never_settled": [
            {**promise_json(each), "hangs_on": analysis.ends.of(each).id} for each in analysis.never
        ],
    }
