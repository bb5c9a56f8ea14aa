/* libFuzzer's entry: bytes become a program, run against the library and the model at once. */
#include "free/entry.h"
#include "world.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void reset(const uint8_t *data, size_t size) {
    static vow_executor *inline_executor;
    memset(m.promises, 0, (size_t)m.promise_count * sizeof m.promises[0]);
    memset(m.values, 0, (size_t)m.value_count * sizeof m.values[0]);
    memset(m.resolvers, 0, (size_t)m.resolver_count * sizeof m.resolvers[0]);
    memset(m.context_done, 0, sizeof m.context_done);
    m.promise_count = m.value_count = m.resolver_count = m.orders = m.epoch = 0;
    memset(w.executors, 0, (size_t)w.executor_count * sizeof w.executors[0]);
    memset(w.contexts, 0, (size_t)w.context_count * sizeof w.contexts[0]);
    memset(w.objects, 0, (size_t)w.object_count * sizeof w.objects[0]);
    memset(w.own_contexts, 0, sizeof w.own_contexts);
    memset(w.cancelled, 0, sizeof w.cancelled);
    memset(m.hooks, 0, sizeof m.hooks);
    memset(w.hooks, 0, sizeof w.hooks);
    m.hook_count = m.source_count = m.group_count = 0;
    w.carried[0] = -1;
    w.submits = 0;
    w.registering = w.left = w.consumed = -1;
    memset(w.reports, 0, (size_t)w.next_code * sizeof w.reports[0]);
    memset(w.own_reports, 0, sizeof w.own_reports);
    w.context_count = w.object_count = 0;
    w.next_code = 0;
    for (int i = 0; i < SLOTS; i++) {
        w.value_models[i] = -1;
    }
    inline_executor = vow_executor_inline();
    w.executors[0].real = inline_executor;
    w.executor_count = 1;
    w.default_executor = 0;
    program.data = data;
    program.left = size;
    w.depth = 0;
    w.frames[0] = FRAME_TOP;
}

/* Releases in an order that the program chose by what it put where. */
static void release_everything(void) {
    for (int i = 0; i < SLOTS; i++) {
        if (w.resolvers[i] != NULL) {
            release_resolver(i);
        }
        if (w.promises[i] != NULL) {
            release_promise(i);
        }
        if (w.value_models[i] >= 0) {
            release_value(i);
        }
        if (w.sources[i] != NULL) {
            release_source(i);
        }
        if (w.tokens[i] != NULL) {
            release_token(i);
        }
    }
}

static bool holds_something(void) {
    for (int i = 0; i < SLOTS; i++) {
        if (w.resolvers[i] != NULL || w.promises[i] != NULL || w.value_models[i] >= 0 ||
            w.sources[i] != NULL || w.tokens[i] != NULL) {
            return true;
        }
    }
    return false;
}

static void finish(void) {
    end_carried();
    w.carried[0] = -1;
    vow_context_set(vow_none());
    do {
        pump_all();
        release_everything();
        pump_all();
    } while (holds_something());
    for (int i = 1; i < w.executor_count; i++) {
        w.executors[i].here = false;
        release_executor(i);
    }
    w.default_executor = 0;
    vow_executor_set_default(vow_executor_inline());
    while (holds_something()) {
        release_everything();
        pump_all();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    reset(data, size);
    vow_executor_set_default(vow_executor_inline());
    vow_on_unhandled(on_unhandled, &w);
    vow_statistics before = {.size = sizeof before};
    vow_stats(&before);
    while (program.left > 0 && !model_is_full()) {
        m.epoch++;
        run_op();
        check_quiet();
    }
    program.left = 0;
    m.epoch++;
    finish();
    check_end(before.bytes);
    vow_on_unhandled(NULL, NULL);
    run_free(data, size);
    return 0;
}
