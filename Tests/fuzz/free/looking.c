/* Statistics, labels and tracing: may be asked for at any time, and change nothing. */
#include "free.h"

static void check_statistics(void) {
    vow_statistics now = {.size = sizeof now};
    EXPECT(vow_stats(&now) == 0, "no statistics");
    EXPECT(now.live >= now.pending && now.created >= now.settled, "more pending than live");
    EXPECT(now.created - now.settled >= now.pending, "more pending than are not settled");
    EXPECT(vow_set_allocator(NULL) == VOW_EINVAL, "another allocator, too late");
    EXPECT(vow_version() == VOW_VERSION, "another version");
}

static void switch_tracing(void) {
    if (f.traced) {
        end_tracing();
    } else {
        EXPECT(vow_trace_start(NULL) == 0, "no tracing");
        EXPECT(vow_trace_start(NULL) == VOW_EINVAL, "traced twice");
        f.traced = true;
    }
}

void end_tracing(void) {
    if (f.traced) {
        EXPECT(vow_trace_stop() == 0, "tracing does not end");
        f.traced = false;
    }
}

static void label(void) {
    int place = some_place();
    if (place >= 0) {
        vow_promise_set_label(f.records[f.promises[place]].real, next_below(2) ? "a label" : NULL);
    }
}

static void draw(void) {
    uint32_t format = next_below(3);
    int answer = vow_graph_write(f.descriptors[2], format);
    EXPECT(answer == (f.traced && format < 2 ? 0 : VOW_EINVAL), "a graph: %d", answer);
}

void look_step(unsigned which) {
    if (which == 0) {
        check_statistics();
    } else if (which == 1) {
        switch_tracing();
    } else if (which == 2) {
        label();
    } else {
        draw();
    }
}
