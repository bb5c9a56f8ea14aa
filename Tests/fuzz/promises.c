/* Operations on promises and resolvers, and the slots that hold both and values. */
#include "world.h"

/* The first slot that is in use, from one that the program names; -1: none. */
#define SOME(array, empty)                                                                         \
    unsigned from = next_below(SLOTS);                                                             \
    for (unsigned i = 0; i < SLOTS; i++) {                                                         \
        unsigned slot = (from + i) % SLOTS;                                                        \
        if ((array)[slot] != (empty)) {                                                            \
            return (int)slot;                                                                      \
        }                                                                                          \
    }                                                                                              \
    return -1

int some_promise(void) {
    SOME(w.promises, NULL);
}

int some_resolver(void) {
    SOME(w.resolvers, NULL);
}

int some_value(void) {
    SOME(w.value_models, -1);
}

void release_promise(int slot) {
    w.events++;
    vow_promise *promise = w.promises[slot];
    trace("release promise %d", w.promise_models[slot]);
    m.promises[w.promise_models[slot]].holds--;
    w.promises[slot] = NULL;
    model_pass_followers_on(w.promise_models[slot]);
    model_look_for_lost();
    vow_promise_release(promise);
}

void release_resolver(int slot) {
    w.events++;
    vow_resolver *resolver = w.resolvers[slot];
    trace("release resolver of promise %d", m.resolvers[w.resolver_models[slot]].promise);
    w.resolvers[slot] = NULL;
    model_resolver_drop(w.resolver_models[slot]);
    model_look_for_lost();
    vow_resolver_release(resolver);
}

void release_value(int slot) {
    w.events++;
    pair value = {w.values[slot], w.value_models[slot]};
    trace("release value");
    let_go(value);
    w.value_models[slot] = -1;
    drop_value(value);
}

/* Takes the program's reference, which counts as held from now on. */
void put_promise(vow_promise *real, int model) {
    int slot = (int)next_below(SLOTS);
    EXPECT(real != NULL, "NULL instead of a promise");
    w.real[model] = real;
    m.promises[model].holds++;
    for (int i = 0; i < SLOTS && w.promises[slot] != NULL; i++) {
        slot = (slot + 1) % SLOTS;
    }
    while (w.promises[slot] != NULL) {
        release_promise(slot);
    }
    w.promises[slot] = real;
    w.promise_models[slot] = model;
}

void put_resolver(vow_resolver *real, int model) {
    int slot = (int)next_below(SLOTS);
    while (w.resolvers[slot] != NULL) {
        release_resolver(slot);
    }
    w.resolvers[slot] = real;
    w.resolver_models[slot] = model;
}

static void create(void) {
    vow_resolver *resolver = NULL;
    vow_promise *promise = vow_promise_create(&resolver);
    int model = model_promise_new(WAITS_RESOLVER);
    int right = model_resolver_new(model);
    trace("create promise %d", model);
    put_promise(promise, model);
    put_resolver(resolver, right);
}

static void make_with(void) {
    pair value = usable_result(take_value());
    const model_value *self = &m.values[value.model];
    trace("promise_with kind %u, number %lld, is promise %d", self->kind, (long long)self->number,
          self->kind == VOW_PROMISE ? (int)self->number : m.promise_count);
    if (self->kind == VOW_PROMISE) {
        vow_promise *promise = vow_promise_with(value.real);
        EXPECT(promise == w.real[self->number], "not that promise itself");
        put_promise(promise, (int)self->number);
        return;
    }
    int model = model_promise_with(value.model);
    /* Held before the call: a thenable may be subscribed to inside it. */
    m.promises[model].holds++;
    vow_promise *promise = vow_promise_with(value.real);
    m.promises[model].holds--;
    put_promise(promise, model);
}

static void peek(int slot) {
    const model_promise *self = &m.promises[w.promise_models[slot]];
    vow_value out = vow_int(4711);
    trace("peek at promise %d", w.promise_models[slot]);
    check_state(slot, false);
    if (!vow_promise_peek(w.promises[slot], &out)) {
        EXPECT(out.kind == VOW_NONE, "the value of a pending promise");
        return;
    }
    compare(out, self->value);
    m.promises[w.promise_models[slot]].observed = true;
}

/* Inside a handler, or on a thread that belongs to an executor, a wait may be one for itself. */
static bool may_be_deadlock(int promise) {
    bool blocks = false;
    for (int i = 1; i <= w.depth; i++) {
        blocks = blocks || w.frames[i] == FRAME_HANDLER;
    }
    for (int i = 1; i < w.executor_count; i++) {
        blocks = blocks || w.executors[i].here;
    }
    return blocks && m.promises[promise].state == VOW_PENDING;
}

static void await(int slot) {
    int model = w.promise_models[slot];
    vow_value out = vow_int(4711);
    unsigned how = next_below(8);
    bool wanted = how % 4 != 0;
    /* 0 looks; 1 gives up soon, but begins to wait, which would suspend a fiber */
    int64_t timeout = w.depth > 0 && w.depth == w.fiber_depth ? 0 : how / 4;
    trace("await promise %d", model);
    if (top_frame() == FRAME_CALLBACK) {
        return;
    }
    /* Handlers may run inside: keep the promise. */
    vow_promise *promise = vow_promise_retain(w.promises[slot]);
    m.promises[model].holds++;
    push_frame(FRAME_AWAIT, -1);
    int state = vow_await(promise, timeout, wanted ? &out : NULL);
    pop_frame();
    if (state == VOW_FULFILLED || state == VOW_REJECTED) {
        EXPECT((vow_state)state == m.promises[model].state, "await: %d", state);
        if (wanted) {
            compare(out, m.promises[model].value);
            vow_value_release(out);
        }
        m.promises[model].observed = true;
    } else {
        EXPECT(state == VOW_PENDING || (state == VOW_EDEADLOCK && may_be_deadlock(model)),
               "await: %d", state);
        EXPECT(!wanted || out.kind == VOW_NONE, "await: a value with %d", state);
        EXPECT(w.depth > 0 || m.promises[model].state == VOW_PENDING, "await: not settled");
    }
    m.promises[model].holds--;
    model_look_for_lost();
    vow_promise_release(promise);
}

void promise_op(unsigned which) {
    int slot = which < 2 ? -1 : some_promise();
    if (which == 0) {
        create();
    } else if (which == 1) {
        make_with();
    } else if (slot < 0) {
        return;
    } else if (which == 2) {
        vow_promise *again = vow_promise_retain(w.promises[slot]);
        EXPECT(again == w.promises[slot], "retain: another promise");
        put_promise(again, w.promise_models[slot]);
    } else if (which == 3) {
        release_promise(slot);
    } else if (which == 4) {
        peek(slot);
    } else if (which == 5) {
        await(slot);
    } else {
        check_state(slot, false);
    }
}

static void settle(int slot, bool rejects) {
    int model = w.resolver_models[slot];
    vow_resolver *resolver = w.resolvers[slot];
    m.resolvers[model].holds++;
    vow_resolver_retain(resolver);
    pair value = usable_for(m.resolvers[model].promise, take_value());
    const model_value *self = &m.values[value.model];
    /* As a payload, a pending promise could close a circle of references. */
    bool pending = self->kind == VOW_PROMISE && m.promises[self->number].state == VOW_PENDING;
    rejects = rejects && !pending;
    trace("%s promise %d with kind %u, number %lld", rejects ? "reject" : "resolve",
          m.resolvers[model].promise, self->kind, (long long)self->number);
    bool expected = rejects ? model_reject(model, value.model) : model_resolve(model, value.model);
    if (expected) {
        model_call_hooks_off(m.resolvers[model].promise);
    }
    model_look_for_lost();
    bool got = rejects ? vow_reject(resolver, value.real) : vow_resolve(resolver, value.real);
    EXPECT(got == expected, "resolved: %d instead of %d", got, expected);
    model_resolver_drop(model);
    vow_resolver_release(resolver);
}

void resolver_op(unsigned which) {
    int slot = some_resolver();
    if (slot < 0) {
        return;
    }
    if (which < 2) {
        settle(slot, which == 1);
    } else if (which == 2) {
        m.resolvers[w.resolver_models[slot]].holds++;
        vow_resolver *again = vow_resolver_retain(w.resolvers[slot]);
        EXPECT(again == w.resolvers[slot], "retain: another resolver");
        put_resolver(again, w.resolver_models[slot]);
    } else {
        release_resolver(slot);
    }
}
