/* Operations that cancel: promises, hooks of producers, sources and tokens. */
#include "world.h"

bool is_exact(vow_promise *real, int model) {
    return m.promises[model].state == VOW_PENDING || vow_promise_state(real) != VOW_PENDING;
}

static void cancel(int slot) {
    int model = w.promise_models[slot];
    vow_promise *promise = w.promises[slot];
    bool says_why = next_below(2);
    pair reason = {vow_none(), -1};
    m.promises[model].holds++;
    vow_promise_retain(promise);
    if (says_why) {
        reason = without_pending(take_value());
    }
    /* Where its outcome is on its way, but not there yet, it may still be cancelled. */
    if (is_exact(promise, model)) {
        trace("cancel promise %d", model);
        bool expected = model_cancel(model, model_cancellation(reason.model));
        model_look_for_lost();
        bool got = says_why ? vow_cancel_with(promise, reason.real) : vow_cancel(promise);
        EXPECT(got == expected, "cancelled: %d instead of %d", got, expected);
        EXPECT(!got || !w.cancelled[model], "promise %d is cancelled twice", model);
        w.cancelled[model] = w.cancelled[model] || got;
    } else {
        drop_value(reason);
    }
    m.promises[model].holds--;
    model_look_for_lost();
    vow_promise_release(promise);
}

/* Several are called in the order in which they were given. */
static void check_order(int number) {
    const model_hook *self = &m.hooks[number];
    for (int i = 0; self->resolver >= 0 && i < number; i++) {
        const model_hook *other = &m.hooks[i];
        EXPECT(other->resolver != self->resolver || other->due != HOOK_CALLED ||
                   w.hooks[i].called == 1,
               "hook %d was called before hook %d", number, i);
    }
}

void on_hook(void *context) {
    hook *self = context;
    int number = (int)(self - w.hooks);
    end_consumed();
    trace("hook %d is called", number);
    EXPECT(self->called == 0 && self->destroyed == 0, "hook %d is called again", number);
    if (m.hooks[number].due == HOOK_MAYBE) {
        int promise = m.resolvers[m.hooks[number].resolver].promise;
        m.promises[promise].lost = true;
        model_end_hooks(promise, HOOK_CALLED);
    }
    if (m.hooks[number].due == HOOK_UNSURE && m.sources[m.hooks[number].source].cancelled) {
        m.hooks[number].due = HOOK_CALLED;
    }
    EXPECT(m.hooks[number].due == HOOK_CALLED, "hook %d is called, due %d", number,
           m.hooks[number].due);
    check_order(number);
    m.hooks[number].begun = true;
    self->called++;
    push_frame(FRAME_CALLBACK, -1);
    unsigned ops = next_below(8);
    run_ops(ops > 5 ? ops - 5 : 0);
    pop_frame();
}

static void on_hook_destroy(void *context) {
    hook *self = context;
    int number = (int)(self - w.hooks);
    end_consumed();
    trace("hook %d is destroyed", number);
    EXPECT(self->destroyed == 0, "hook %d is destroyed again", number);
    if (m.hooks[number].due == HOOK_UNSURE) {
        m.hooks[number].due = HOOK_DROPPED;
    }
    EXPECT(self->called == 1 || m.hooks[number].due == HOOK_DROPPED, "hook %d is destroyed, due %d",
           number, m.hooks[number].due);
    self->destroyed++;
    push_frame(FRAME_CALLBACK, -1);
    run_ops(next_below(8) == 7);
    pop_frame();
}

void check_hooks(void) {
    for (int i = 0; i < m.hook_count; i++) {
        const hook *self = &w.hooks[i];
        hook_due due = m.hooks[i].due;
        bool ended = due == HOOK_CALLED || due == HOOK_DROPPED;
        EXPECT(self->called == (due == HOOK_CALLED), "hook %d, due %d, is called %d times", i, due,
               self->called);
        EXPECT(!self->has_destroy || self->destroyed == ended, "hook %d is destroyed %d times", i,
               self->destroyed);
    }
}

static void add_hook(vow_resolver *resolver, int right, vow_token *token, int source) {
    int number = model_add_hook(right, source, carried_here());
    hook *self = &w.hooks[number];
    self->has_destroy = next_below(8) != 0;
    void (*destroy)(void *) = self->has_destroy ? on_hook_destroy : NULL;
    trace("hook %d on %s %d", number, resolver ? "resolver of promise" : "token",
          resolver ? m.resolvers[right].promise : source);
    int answer = resolver ? vow_resolver_on_cancel(resolver, on_hook, self, destroy)
                          : vow_token_on_cancel(token, on_hook, self, destroy);
    EXPECT(answer == 0, "a hook: %d", answer);
}

static void hook_on_resolver(void) {
    int slot = some_resolver();
    if (slot < 0) {
        return;
    }
    vow_resolver *resolver = vow_resolver_retain(w.resolvers[slot]);
    int model = w.resolver_models[slot];
    m.resolvers[model].holds++;
    add_hook(resolver, model, NULL, -1);
    model_resolver_drop(model);
    vow_resolver_release(resolver);
}

static int some_source(void) {
    unsigned from = next_below(SLOTS);
    for (unsigned i = 0; i < SLOTS; i++) {
        if (w.sources[(from + i) % SLOTS] != NULL) {
            return (int)((from + i) % SLOTS);
        }
    }
    return -1;
}

int some_token(vow_token **token) {
    unsigned from = 0;
    bool any = false;
    for (int i = 0; i < SLOTS; i++) {
        any = any || w.sources[i] != NULL || w.tokens[i] != NULL;
    }
    if (any) {
        from = next_below(2 * SLOTS);
    }
    for (unsigned i = 0; any && i < 2 * SLOTS; i++) {
        unsigned slot = (from + i) % (2 * SLOTS);
        if (slot < SLOTS && w.tokens[slot] != NULL) {
            *token = w.tokens[slot];
            return w.token_models[slot];
        }
        if (slot >= SLOTS && w.sources[slot - SLOTS] != NULL) {
            *token = vow_cancel_source_token(w.sources[slot - SLOTS]);
            return w.source_models[slot - SLOTS];
        }
    }
    return -1;
}

void release_source(int slot) {
    vow_cancel_source *source = w.sources[slot];
    trace("release source %d", w.source_models[slot]);
    w.sources[slot] = NULL;
    model_source_drop(w.source_models[slot]);
    vow_cancel_source_release(source);
}

void release_token(int slot) {
    vow_token *token = w.tokens[slot];
    w.tokens[slot] = NULL;
    model_token_drop(w.token_models[slot]);
    vow_token_release(token);
}

static void put_source(vow_cancel_source *real, int model) {
    int slot = (int)next_below(SLOTS);
    while (w.sources[slot] != NULL) {
        release_source(slot);
    }
    w.sources[slot] = real;
    w.source_models[slot] = model;
}

static void create_source(void) {
    vow_token *tokens[MODEL_PARENTS + 1] = {NULL};
    int parents[MODEL_PARENTS], count = 0;
    unsigned links = next_below(6);
    for (unsigned i = 0; links > 3 && i < links - 3; i++) {
        vow_token *token = NULL;
        int parent = some_token(&token);
        if (parent >= 0) {
            tokens[i] = token;
            parents[count++] = parent;
        }
    }
    int model = model_source_new(parents, count);
    trace("source %d with %d parents", model, count);
    vow_cancel_source *source = links <= 3
                                    ? vow_cancel_source_create()
                                    : vow_cancel_source_create_linked(tokens, MODEL_PARENTS + 1);
    EXPECT(source != NULL, "no source");
    put_source(source, model);
}

/* Nothing that counts objects: a source keeps it, for longer than the model knows. */
static pair simple_reason(void) {
    return make_value(next_below(2) ? 14 : 0);
}

static void cancel_source(int slot) {
    if (w.depth > 0) {
        return;
    }
    int model = w.source_models[slot];
    vow_cancel_source *source = vow_cancel_source_retain(w.sources[slot]);
    bool says_why = next_below(2);
    pair reason = says_why ? simple_reason() : (pair){vow_none(), -1};
    m.sources[model].holds++;
    trace("cancel source %d", model);
    bool expected = model_source_cancel(model, reason.model);
    model_look_for_lost();
    bool got = says_why ? vow_cancel_source_cancel_with(source, reason.real)
                        : vow_cancel_source_cancel(source);
    EXPECT(got == expected, "cancelled source: %d instead of %d", got, expected);
    model_source_drop(model);
    vow_cancel_source_release(source);
}

static void look_at_token(void) {
    vow_token *token = NULL;
    int model = some_token(&token);
    if (model < 0) {
        return;
    }
    const model_source *self = &m.sources[model];
    EXPECT(vow_token_is_cancelled(token) == self->cancelled, "token %d cancelled or not", model);
    vow_value reason = vow_token_reason(token);
    if (self->reason >= 0) {
        compare(reason, self->reason);
    } else {
        EXPECT(reason.kind == VOW_NONE, "a reason that nobody gave");
    }
    vow_value_release(reason);
}

static void keep_token(void) {
    vow_token *token = NULL;
    int model = some_token(&token);
    if (model < 0) {
        return;
    }
    vow_token_retain(token);
    m.sources[model].tokens++;
    int slot = (int)next_below(SLOTS);
    while (w.tokens[slot] != NULL) {
        release_token(slot);
    }
    w.tokens[slot] = token;
    w.token_models[slot] = model;
}

static void hook_on_token(void) {
    vow_token *token = NULL;
    int model = some_token(&token);
    if (model < 0) {
        return;
    }
    vow_token_retain(token);
    m.sources[model].tokens++;
    add_hook(NULL, -1, token, model);
    model_token_drop(model);
    vow_token_release(token);
}

void cancelling_op(unsigned which) {
    if (w.submits > 0) {
        return;
    }
    int slot;
    switch (which) {
    default:
        slot = some_promise();
        /* In a callback of a handler that has returned it would win over the result, which the
         * model has taken then. */
        if (slot >= 0 && w.depth == 0) {
            cancel(slot);
        }
        break;
    case 4:
    case 5:
    case 6:
        hook_on_resolver();
        break;
    case 7:
    case 8:
        create_source();
        break;
    case 9:
    case 10:
        slot = some_source();
        if (slot >= 0) {
            cancel_source(slot);
        }
        break;
    case 11:
        slot = some_source();
        if (slot >= 0) {
            release_source(slot);
        }
        break;
    case 12:
        keep_token();
        break;
    case 13:
        slot = (int)next_below(SLOTS);
        if (w.tokens[slot] != NULL) {
            release_token(slot);
        }
        look_at_token();
        break;
    case 14:
        hook_on_token();
        break;
    case 15:
        slot = some_source();
        if (slot >= 0) {
            m.sources[w.source_models[slot]].holds++;
            put_source(vow_cancel_source_retain(w.sources[slot]), w.source_models[slot]);
        }
    }
}
