/* What must hold whenever no call of the library is running, and at the end. */
#include "world.h"

#include <string.h>

/* A reaction that is through, and whose context its executor has yet to destroy. */
static bool ends_elsewhere(int number) {
    const model_promise *self = &m.promises[number];
    const executor *at = &w.executors[self->executor];
    bool is_queue = at->kind == EXECUTOR_SERIAL || at->kind == EXECUTOR_LOOSE;
    return self->wait == WAITS_CONTEXT && is_queue && at->queued > 0;
}

/* G14, and G15 for what is told of every end. */
static void check_is_through(int number) {
    if (w.own_contexts[number] == 0) {
        return;
    }
    const context *self = &w.contexts[w.own_contexts[number] - 1];
    const model_promise *reaction = &m.promises[number];
    EXPECT(!self->busy, "promise %d is settled under its handler or destructor", number);
    EXPECT(!self->has_destroy || self->destroyed == 1,
           "promise %d is settled, and its context destroyed %d times", number, self->destroyed);
    EXPECT(!reaction->finally || !reaction->on_value || !reaction->on_error || self->runs == 1,
           "promise %d is settled, and its clean-up ran %d times", number, self->runs);
}

void check_is_pending(int number) {
    bool is_held = m.promises[number].holds > 0 && w.real[number] != NULL;
    EXPECT(!is_held || vow_promise_state(w.real[number]) == VOW_PENDING,
           "promise %d is settled before what its handler leaves is destroyed", number);
}

void check_state(int slot, bool strict) {
    int number = w.promise_models[slot];
    const model_promise *self = &m.promises[number];
    vow_state state = vow_promise_state(w.promises[slot]);
    /* In the midst of a call an outcome may still be on its way, but only from another promise. */
    bool exact = strict || w.depth == 0 || self->direct;
    EXPECT(state == self->state || (!exact && state == VOW_PENDING),
           "promise %d is in state %u instead of %u", number, state, self->state);
    if (state != VOW_PENDING) {
        check_is_through(number);
    }
}

static void check_promises(void) {
    for (int i = 0; i < SLOTS; i++) {
        if (w.promises[i] != NULL) {
            check_state(i, true);
        }
    }
    for (int i = 0; i < m.promise_count; i++) {
        const model_promise *self = &m.promises[i];
        EXPECT(self->wait != WAITS_THENABLE, "promise %d: its thenable was forgotten", i);
        EXPECT(self->wait != WAITS_CONTEXT || ends_elsewhere(i),
               "promise %d: its context was forgotten", i);
        if (self->state != VOW_PENDING) {
            check_is_through(i);
        }
        if (self->wait == WAITS_EXECUTOR) {
            executor_kind kind = w.executors[self->executor].kind;
            EXPECT(kind == EXECUTOR_SERIAL || kind == EXECUTOR_LOOSE,
                   "the handler of promise %d has not run", i);
            EXPECT(w.executors[self->executor].queued > 0, "the handler of promise %d is lost", i);
        }
    }
}

static void check_destroyed(void) {
    for (int i = 0; i < w.context_count; i++) {
        const context *self = &w.contexts[i];
        bool is_to_come = self->reaction >= 0 && ends_elsewhere(self->reaction);
        EXPECT(!self->has_destroy || self->destroyed == (m.context_done[i] && !is_to_come),
               "context %d is destroyed %d times", i, self->destroyed);
    }
    for (int i = 0; i < w.object_count; i++) {
        const object *self = &w.objects[i];
        EXPECT(!m.value_must[self->value] || self->destroyed == 0, "object %d is gone", i);
        EXPECT(m.value_may[self->value] || self->destroyed == 1, "object %d is left", i);
    }
}

static void check_counts(void) {
    uint64_t handlers = 0, must = 0, may = 0;
    for (int i = 0; i < m.promise_count; i++) {
        model_wait wait = m.promises[i].wait;
        handlers += wait == WAITS_UPSTREAM || wait == WAITS_EXECUTOR ||
                    (wait == WAITS_CONTEXT && !m.promises[i].begun);
        bool is_eye = m.promises[i].group >= 0 && m.groups[m.promises[i].group].promise != i;
        must += !is_eye && m.promises[i].must != 0;
        may += !is_eye && m.promises[i].may != 0;
        /* What it reads instead. */
        may += m.promises[i].cancelled && m.promises[i].state == VOW_PENDING;
    }
    for (int i = 0; i < m.source_count; i++) {
        may += m.sources[i].cancelled; /* what cancelled reactions read */
    }
    vow_statistics now = {.size = sizeof now};
    EXPECT(vow_stats(&now) == 0, "no statistics");
    EXPECT(now.handlers == handlers, "%llu reactions wait, not %llu",
           (unsigned long long)now.handlers, (unsigned long long)handlers);
    for (int i = 0; i < m.promise_count && (now.live < must || now.live > may); i++) {
        const model_promise *self = &m.promises[i];
        trace("    promise %d: wait %d, state %u, value %d, upstream %d, %d holds, must %d, may %d",
              i, self->wait, self->state, self->value, self->upstream, self->holds, self->must,
              self->may);
    }
    EXPECT(now.live >= must && now.live <= may, "%llu live promises, not %llu to %llu",
           (unsigned long long)now.live, (unsigned long long)must, (unsigned long long)may);
}

/* Each error that was certainly, and each that was possibly, left unhandled. */
static void check_reports(void) {
    static int least[MODEL_VALUES], most[MODEL_VALUES], own_least[16], own_most[16];
    memset(least, 0, sizeof least);
    memset(most, 0, sizeof most);
    memset(own_least, 0, sizeof own_least);
    memset(own_most, 0, sizeof own_most);
    for (int i = 0; i < m.promise_count; i++) {
        model_promise *self = &m.promises[i];
        self->gone = self->gone || !self->may;
        if (self->state != VOW_REJECTED || self->observed || self->must) {
            continue;
        }
        int64_t code = m.values[self->value].number;
        if (code == VOW_ECANCELLED) {
            continue;
        }
        int *low = code < 0 ? &own_least[-code] : &least[code - 1000];
        int *high = code < 0 ? &own_most[-code] : &most[code - 1000];
        *low += self->gone && !self->doubtful;
        *high += 1;
        trace("    promise %d: error %d, %s, %s report", i, (int)code,
              self->gone ? "gone" : "may live", self->doubtful ? "may" : "must");
    }
    for (int i = 0; i < w.next_code; i++) {
        EXPECT(w.reports[i] >= least[i] && w.reports[i] <= most[i],
               "error %d was reported %d times, not %d to %d", i + 1000, w.reports[i], least[i],
               most[i]);
    }
    for (int i = 0; i < 16; i++) {
        EXPECT(w.own_reports[i] >= own_least[i] && w.own_reports[i] <= own_most[i],
               "error %d was reported %d times, not %d to %d", -i, w.own_reports[i], own_least[i],
               own_most[i]);
    }
}

void check_quiet(void) {
    EXPECT(w.depth == 0, "a callback is running");
    for (int i = 0; i < m.promise_count; i++) {
        model_promise *self = &m.promises[i];
        self->is_kept = self->is_kept && w.executors[self->executor].queued > 0;
    }
    model_mark();
    check_promises();
    check_destroyed();
    check_counts();
    check_reports();
    check_current();
    check_carried();
    check_hooks();
}

void check_end(uint64_t bytes_before) {
    check_quiet();
    for (int i = 1; i < w.executor_count; i++) {
        EXPECT(w.executors[i].destroyed == 1, "executor %d is destroyed %d times", i,
               w.executors[i].destroyed);
    }
    for (int i = 0; i < w.object_count; i++) {
        EXPECT(w.objects[i].destroyed == 1, "object %d is left at the end", i);
    }
    for (int i = 0; i < m.hook_count; i++) {
        EXPECT(!w.hooks[i].has_destroy || w.hooks[i].destroyed == 1, "hook %d is left at the end",
               i);
    }
    vow_statistics now = {.size = sizeof now};
    vow_stats(&now);
    EXPECT(now.live == 0 && now.pending == 0 && now.handlers == 0, "%llu promises are left",
           (unsigned long long)now.live);
    EXPECT(now.created >= now.settled, "more promises settled than were made");
    EXPECT(now.bytes == bytes_before, "%lld bytes are left", (long long)(now.bytes - bytes_before));
}
