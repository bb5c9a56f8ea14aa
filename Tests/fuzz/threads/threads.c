/* libFuzzer's entry for the executors with threads: pool, serial and inline ones, with a full wait
 * after each operation, and against the same model as far as the order of threads does not matter.
 */
#include "../bytes.h"
#include "errands.h"
#include "plan.h"

#include <pthread.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

stage s;

static int used_slot(void) {
    int from = next_byte();
    for (int i = 0; i < THREAD_SLOTS; i++) {
        if (s.promises[(from + i) % THREAD_SLOTS] != NULL) {
            return (from + i) % THREAD_SLOTS;
        }
    }
    return -1;
}

static void release_promise(int slot) {
    if (s.promises[slot] != NULL) {
        trace("release promise %d", s.promise_models[slot]);
        m.promises[s.promise_models[slot]].holds--;
        model_pass_followers_on(s.promise_models[slot]);
        model_look_for_lost();
        vow_promise_release(s.promises[slot]);
        s.promises[slot] = NULL;
    }
}

static void release_resolver(int slot) {
    if (s.resolvers[slot] != NULL) {
        trace("release the resolver of promise %d", m.resolvers[s.resolver_models[slot]].promise);
        model_resolver_drop(s.resolver_models[slot]);
        model_look_for_lost();
        vow_resolver_release(s.resolvers[slot]);
        s.resolvers[slot] = NULL;
    }
}

static void put_promise(vow_promise *promise, int model) {
    int slot = next_byte() % THREAD_SLOTS;
    m.promises[model].holds++;
    release_promise(slot);
    s.promises[slot] = promise;
    s.promise_models[slot] = model;
}

/* A promise whose resolver goes into a slot. */
static vow_promise *create(int *model, bool plain) {
    int slot = next_byte() % THREAD_SLOTS;
    vow_resolver *resolver;
    release_resolver(slot);
    vow_promise *promise = vow_promise_create(&resolver);
    *model = model_promise_new(WAITS_RESOLVER);
    trace("create promise %d", *model);
    s.resolvers[slot] = resolver;
    s.resolver_models[slot] = model_resolver_new(*model);
    s.plain[slot] = plain;
    return promise;
}

static void resolve(void) {
    int slot = next_byte() % THREAD_SLOTS;
    int other = used_slot();
    unsigned kind = next_byte() % 3;
    if (s.resolvers[slot] == NULL) {
        return;
    }
    int right = s.resolver_models[slot];
    vow_value real = vow_int(next_byte());
    int value = model_value_new(VOW_INT, real.as.integer);
    if (kind == 1) {
        value = model_error_new(DOMAIN_FUZZ, real.as.integer, TEXT_ANY, -1);
        real = vow_error("fuzz", real.as.integer, NULL);
    } else if (kind == 2 && other >= 0 && !s.plain[slot]) {
        value = model_value_new(VOW_PROMISE, s.promise_models[other]);
        real = vow_from_promise(vow_promise_retain(s.promises[other]));
    }
    int target = m.resolvers[right].promise;
    int with = value;
    if (m.values[with].kind == VOW_PROMISE &&
        !model_waits_for((int)m.values[with].number, target) &&
        model_waits_at_all((int)m.values[with].number, target)) {
        vow_value_release(real);
        return; /* a ring by way of a combinator */
    }
    trace("resolve promise %d with kind %u, number %lld", target, real.kind,
          (long long)m.values[with].number);
    bool expected = model_resolve(right, value);
    model_look_for_lost();
    if (vow_resolve(s.resolvers[slot], real) != expected) {
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
    unsigned form = next_byte();
    if (s.plan_count == PLANS || (slot < 0 && (form & 7) != 7)) {
        return;
    }
    int number = s.plan_count++;
    plan *self = &s.plans[number];
    self->result = next_byte() % 4;
    self->number = next_byte();
    self->executor = next_byte() % (SERIALS + 3);
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
    if ((form & 96) == 96 && s.source != NULL) {
        reaction.token = vow_cancel_source_token(s.source);
        expected.token = s.source_model + 1;
    }
    vow_promise *promise =
        is_async ? vow_promise_with(vow_none()) : vow_promise_retain(s.promises[slot]);
    if (is_async) {
        self->upstream = model_promise_with(model_value_new(VOW_NONE, 0));
    }
    self->reaction = model_react(self->upstream, expected);
    const char *token = expected.token ? ", with the token" : "";
    const char *result[] = {"its input", "a number", "an error", "promise"};
    trace("promise %d reacts to %d, form %u, on executor %d%s, and returns %s %d", self->reaction,
          self->upstream, form & 7, self->executor, token, result[self->result], self->model);
    put_promise(vow_then_with(promise, &reaction), self->reaction);
}

static void cancel(int slot) {
    if (slot < 0) {
        return;
    }
    trace("cancel promise %d", s.promise_models[slot]);
    bool expected = model_cancel(s.promise_models[slot], model_cancellation(-1));
    model_look_for_lost();
    if (vow_cancel(s.promises[slot]) != expected) {
        differ("cancelled or not", slot);
    }
}

typedef struct rival {
    vow_resolver *resolver;
    bool won;
} rival;

static void *resolve_elsewhere(void *argument) {
    rival *self = argument;
    self->won = vow_resolve(self->resolver, vow_int(7));
    return NULL;
}

/* Two threads decide about one promise: one wins, and the model is told which. */
static void cancel_against_resolve(int slot) {
    int promise = -1;
    for (int i = 0; i < THREAD_SLOTS && s.resolvers[slot] != NULL; i++) {
        bool same = s.promises[i] != NULL &&
                    s.promise_models[i] == m.resolvers[s.resolver_models[slot]].promise;
        promise = same ? i : promise;
    }
    if (promise < 0) {
        return;
    }
    rival other = {s.resolvers[slot], false};
    pthread_t thread;
    pthread_create(&thread, NULL, resolve_elsewhere, &other);
    bool cancelled = vow_cancel(s.promises[promise]);
    pthread_join(thread, NULL);
    trace("cancel promise %d, and another thread resolves it: %d, %d", s.promise_models[promise],
          cancelled, other.won);
    int value = model_value_new(VOW_INT, 7);
    int error = model_cancellation(-1);
    bool expected_cancelled, expected_resolved;
    if (other.won) {
        expected_resolved = model_resolve(s.resolver_models[slot], value);
        expected_cancelled = model_cancel(s.promise_models[promise], error);
    } else {
        expected_cancelled = model_cancel(s.promise_models[promise], error);
        expected_resolved = model_resolve(s.resolver_models[slot], value);
    }
    model_look_for_lost();
    if (cancelled != expected_cancelled || other.won != expected_resolved) {
        differ("not one of both has won", slot);
    }
}

static void add_hook(int slot) {
    if (s.resolvers[slot] != NULL && m.hook_count < MODEL_HOOKS) {
        trace("hook on promise %d", m.resolvers[s.resolver_models[slot]].promise);
        thread_hook *self = &s.hooks[model_add_hook(s.resolver_models[slot], -1, -1)];
        vow_resolver_on_cancel(s.resolvers[slot], on_thread_hook, self, on_thread_hook_destroy);
    }
}

static void drop_source(void) {
    if (s.source != NULL) {
        model_source_drop(s.source_model);
        vow_cancel_source_release(s.source);
        s.source = NULL;
    }
}

static void source_op(unsigned which) {
    if (which == 0) {
        trace("a source");
        drop_source();
        s.source = vow_cancel_source_create();
        s.source_model = model_source_new(NULL, 0);
    } else if (s.source != NULL) {
        trace("cancel the source");
        bool expected = model_source_cancel(s.source_model, -1);
        model_look_for_lost();
        if (vow_cancel_source_cancel(s.source) != expected) {
            differ("a source is cancelled or not", s.source_model);
        }
    }
}

/* The kind that does not depend on an order. */
static void combine(void) {
    vow_promise *promises[MODEL_ITEMS];
    int models[MODEL_ITEMS];
    int count = 0;
    for (int i = next_byte() % (MODEL_ITEMS + 1); i > 0; i--) {
        int slot = used_slot();
        if (slot >= 0) {
            models[count] = s.promise_models[slot];
            m.promises[models[count]].holds++;
            promises[count++] = vow_promise_retain(s.promises[slot]);
        }
    }
    int made = model_combine(GROUP_ALL_SETTLED, models, count, 0);
    trace("promise %d is all_settled of %d, from promise %d on", made, count,
          count ? models[0] : -1);
    put_promise(vow_all_settled(count ? promises : NULL, (size_t)count), made);
}

static void new_step(unsigned which) {
    if (which == 0) {
        crowd_step();
    } else if (which < 3) {
        cancel(used_slot());
    } else if (which < 6) {
        cancel_against_resolve(next_byte() % THREAD_SLOTS);
    } else if (which < 9) {
        add_hook(next_byte() % THREAD_SLOTS);
    } else if (which < 12) {
        source_op(which % 3);
    } else if (which < 15) {
        combine();
    } else {
        errands_step();
    }
}

static void step(void) {
    int model;
    unsigned op = next_byte();
    if (op >= 192) {
        new_step(op % 16);
        return;
    }
    switch (op % 16) {
    case 0:
    case 1:
    case 2: {
        vow_promise *promise = create(&model, false);
        put_promise(promise, model);
        break;
    }
    case 3:
        release_promise(next_byte() % THREAD_SLOTS);
        break;
    case 4:
        release_resolver(next_byte() % THREAD_SLOTS);
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
    drop_source();
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
    program.data = data;
    program.left = size;
    vow_on_unhandled(ignore, NULL);
    vow_statistics before = {.size = sizeof before};
    vow_stats(&before);
    for (int i = 0; i < SERIALS; i++) {
        s.serials[i] = vow_executor_serial("fuzz");
    }
    while (program.left > 0 && !model_is_full()) {
        step();
        settle_down();
    }
    program.left = 0;
    finish();
    wait_for_the_end(before.bytes);
    return 0;
}
