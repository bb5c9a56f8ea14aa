/* Scenes of progress and tracing: what cannot be told or written is left out, and nothing else. */
#ifndef VOW_TEST_SCENES_WATCHING_H
#define VOW_TEST_SCENES_WATCHING_H

#include "cast.h"

#include <fcntl.h>

static void hears(double fraction, const char *note, void *context) {
    (void)note;
    CHECK(fraction >= 0 && fraction <= 1);
    CHECK_INT_EQ(atomic_load(&((counter *)context)->ends), 0);
}

/* Its context ends whatever the answer is. */
static void cast_ear(cast *self, vow_promise *promise, int64_t interval) {
    counter *context = next_of(self->objects, &self->given_objects);
    int answer = vow_on_progress(promise, interval, hears, context, counter_end);
    is_code(answer, 0);
    CHECK(answer == 0 || atomic_load(&context->ends) == 1);
}

/* Reports `steps` steps of the work for a promise, and ends it. */
static void work_for(vow_promise *promise, vow_resolver *resolver, int steps) {
    for (int i = 1; i <= steps; i++) {
        CHECK_INT_EQ(vow_promise_set_progress(promise, i / (steps + 1.0), "a note"), 0);
        usleep(200);
    }
    CHECK_INT_EQ(vow_resolver_set_progress(resolver, 1, NULL), 0);
    resolve_last(resolver, vow_int(1));
    settles(promise, 0);
}

static void scene_progress(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    cast_ear(self, promise, 0);
    cast_ear(self, promise, MILLISECOND);
    cast_ear(self, promise, 3600 * SECOND);
    work_for(promise, resolver, 10);
}

static void scene_progress_inline(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_executor_set_default(vow_executor_inline());
    cast_ear(self, promise, 0);
    cast_ear(self, promise, 3600 * SECOND);
    vow_executor_set_default(NULL);
    work_for(promise, resolver, 3);
}

static void scene_progress_on_loop(cast *self) {
    vow_loop *loop = vow_loop_create_virtual();
    if (is_made(loop)) {
        vow_resolver *resolver;
        vow_promise *promise = vow_promise_create(&resolver);
        cast_ear(self, promise, SECOND);
        cast_ear(self, promise, 0);
        for (int i = 1; i < 5; i++) {
            vow_promise_set_progress(promise, i / 10.0, NULL);
            vow_loop_run_once(loop, 0);
        }
        vow_loop_advance(loop, SECOND);
        vow_promise_set_progress(promise, 0.75, NULL);
        vow_loop_run_once(loop, 0);
        work_for(promise, resolver, 1);
        vow_loop_destroy(loop);
    }
}

static void scene_shares(cast *self) {
    vow_promise *members[3] = {vow_delay(MILLISECOND), vow_delay(2 * MILLISECOND),
                               vow_delay(3 * MILLISECOND)};
    vow_promise *all = vow_all(members, 3);
    cast_ear(self, all, 0);
    settles(all, 0);
}

/* What is traced, and drawn; as much as there is memory for. */
static void some_work(cast *self) {
    int nowhere = open("/dev/null", O_WRONLY);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise_set_label(promise, "some work");
    vow_promise *members[2] = {cast_link(self, vow_executor_pool(), promise, pass_on, NULL),
                               vow_delay(MILLISECOND)};
    vow_promise *all = vow_all(members, 2);
    vow_promise_set_label(all, "all of it");
    vow_promise_set_label(all, "all");
    is_code(vow_graph_write(nowhere, VOW_GRAPH_DOT), 0);
    is_code(vow_graph_write(nowhere, VOW_GRAPH_JSON), 0);
    resolve_last(resolver, vow_int(1));
    settles(all, 0);
    close(nowhere);
}

/* With the environment's trace, this one is in its place. */
static void scene_tracing(cast *self) {
    vow_trace_stop();
    int answer = vow_trace_start("/dev/null");
    is_code(answer, 0);
    if (answer == 0) {
        some_work(self);
        int missing = vow_trace_stop();
        CHECK(missing == 0 || (missing > 0 && errno == ENOMEM && lacked_memory()));
    }
}

static void scene_tracking(cast *self) {
    vow_trace_stop();
    int answer = vow_trace_start(NULL);
    is_code(answer, 0);
    if (answer == 0) {
        some_work(self);
        CHECK_INT_EQ(vow_trace_stop(), 0);
    }
}

/* More than the table begins with. What fails before it grows, the other scenes show. */
static void scene_many_traced(cast *self) {
    enum { few = 760, many = 800 };
    static vow_promise *all[many];
    (void)self;
    vow_trace_stop();
    CHECK_INT_EQ(vow_trace_start(NULL), 0);
    plan planned = pause_plan();
    for (int i = 0; i < many; i++) {
        if (i == few) {
            resume_plan(planned);
        }
        all[i] = vow_promise_with(vow_int(i));
    }
    for (int i = 0; i < many; i++) {
        settles(all[i], 0);
    }
    CHECK_INT_EQ(vow_trace_stop(), 0);
}

#define SCENES_WATCHING                                                                            \
    {"progress", scene_progress}, {"progress, inline", scene_progress_inline},                     \
        {"progress on a loop", scene_progress_on_loop}, {"shares", scene_shares},                  \
        {"a history", scene_tracing}, {"a live graph", scene_tracking}, {                          \
        "a table that grows", scene_many_traced                                                    \
    }

#endif
