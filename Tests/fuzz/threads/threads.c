/* libFuzzer's entry for the executors with threads: pool, serial and inline ones, with a full wait
 * after each operation, and against the same model as far as the order of threads does not matter.
 */
#include "plan.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

stage s;

uint8_t take(void) {
    if (s.left == 0) {
        return 0;
    }
    s.left--;
    return *s.data++;
}

static int used_slot(void) {
    int from = take();
    for (int i = 0; i < THREAD_SLOTS; i++) {
        if (s.promises[(from + i) % THREAD_SLOTS] != NULL) {
            return (from + i) % THREAD_SLOTS;
        }
    }
    return -1;
}

static void release_promise(int slot) {
    if (s.promises[slot] != NULL) {
        m.promises[s.promise_models[slot]].holds--;
        vow_promise_release(s.promises[slot]);
        s.promises[slot] = NULL;
    }
}

static void release_resolver(int slot) {
    if (s.resolvers[slot] != NULL) {
        model_resolver_drop(s.resolver_models[slot]);
        vow_resolver_release(s.resolvers[slot]);
        s.resolvers[slot] = NULL;
    }
}

static void put_promise(vow_promise *promise, int model) {
    int slot = take() % THREAD_SLOTS;
    m.promises[model].holds++;
    release_promise(slot);
    s.promises[slot] = promise;
    s.promise_models[slot] = model;
}

/* A promise whose resolver goes into a slot. */
static vow_promise *create(int *model, bool plain) {
    int slot = take() % THREAD_SLOTS;
    vow_resolver *resolver;
    release_resolver(slot);
    vow_promise *promise = vow_promise_create(&resolver);
    *model = model_promise_new(WAITS_RESOLVER);
    s.resolvers[slot] = resolver;
    s.resolver_models[slot] = model_resolver_new(*model);
    s.plain[slot] = plain;
    return promise;
}

static void resolve(void) {
    int slot = take() % THREAD_SLOTS;
    int other = used_slot();
    unsigned kind = take() % 3;
    if (s.resolvers[slot] == NULL) {
        return;
    }
    int right = s.resolver_models[slot];
    vow_value real = vow_int(take());
    int value = model_value_new(VOW_INT, real.as.integer);
    if (kind == 1) {
        value = model_error_new(DOMAIN_FUZZ, real.as.integer, TEXT_ANY, -1);
        real = vow_error("fuzz", real.as.integer, NULL);
    } else if (kind == 2 && other >= 0 && !s.plain[slot]) {
        value = model_value_new(VOW_PROMISE, s.promise_models[other]);
        real = vow_from_promise(vow_promise_retain(s.promises[other]));
    }
    if (vow_resolve(s.resolvers[slot], real) != model_resolve(right, value)) {
        differ("resolved or not", slot);
    }
}

static vow_executor *executor_of(int number) {
    if (number < SERIALS) {
        return s.serials[number];
    }
    return number == SERIALS ? vow_executor_inline() : vow_executor_pool();
}

static void react(void) {
    int slot = used_slot();
    unsigned form = take();
    if (s.plan_count == PLANS || (slot < 0 && (form & 7) != 7)) {
        return;
    }
    int number = s.plan_count++;
    plan *self = &s.plans[number];
    self->result = take() % 4;
    self->number = take();
    self->executor = take() % (SERIALS + 3);
    if (self->result == RETURNS_PROMISE) {
        self->promise = create(&self->model, true);
        m.promises[self->model].holds++;
    }
    bool is_async = (form & 7) == 7;
    model_reaction expected = {form & 1, form & 2, form & 4, self->executor, number, 0, 0};
    self->upstream = is_async ? -1 : s.promise_models[slot];
    vow_reaction reaction = {.size = sizeof reaction, .context = self, .destroy = end_plan};
    reaction.on_fulfilled = form & 1 ? run_plan : NULL;
    reaction.on_rejected = form & 2 ? run_plan : NULL;
    reaction.executor = executor_of(self->executor);
    reaction.flags = form & 4 ? VOW_FINALLY : 0;
    vow_promise *promise =
        is_async ? vow_promise_with(vow_none()) : vow_promise_retain(s.promises[slot]);
    if (is_async) {
        self->upstream = model_promise_with(model_value_new(VOW_NONE, 0));
    }
    self->reaction = model_react(self->upstream, expected);
    put_promise(vow_then_with(promise, &reaction), self->reaction);
}

static void step(void) {
    int model;
    switch (take() % 16) {
    case 0:
    case 1:
    case 2: {
        vow_promise *promise = create(&model, false);
        put_promise(promise, model);
        break;
    }
    case 3:
        release_promise(take() % THREAD_SLOTS);
        break;
    case 4:
        release_resolver(take() % THREAD_SLOTS);
        break;
    case 5:
    case 6:
    case 7:
    case 8:
        resolve();
        break;
    default:
        react();
    }
}

static void ignore(vow_value error, void *context) {
    (void)error;
    (void)context;
}

static void finish(void) {
    for (int i = 0; i < THREAD_SLOTS; i++) {
        release_resolver(i);
        settle_down();
    }
    for (int i = 0; i < THREAD_SLOTS; i++) {
        release_promise(i);
    }
    for (int i = 0; i < SERIALS; i++) {
        vow_executor_release(s.serials[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    memset(&m, 0, sizeof m);
    memset(&s, 0, sizeof s);
    s.data = data;
    s.left = size;
    vow_on_unhandled(ignore, NULL);
    vow_statistics before = {.size = sizeof before};
    vow_stats(&before);
    for (int i = 0; i < SERIALS; i++) {
        s.serials[i] = vow_executor_serial("fuzz");
    }
    while (s.left > 0 && !model_is_full()) {
        step();
        settle_down();
    }
    s.left = 0;
    finish();
    wait_for_the_end(before.bytes);
    return 0;
}
