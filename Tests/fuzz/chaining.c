/* Operations that register handlers. */
#include "world.h"

int new_context(bool has_destroy) {
    context *self = &w.contexts[w.context_count];
    self->has_destroy = has_destroy;
    self->reaction = self->returned = self->refused = -1;
    return w.context_count++;
}

/* A reaction before the call that registers it: its handler may run inside. */
int expect_reaction(int promise, int number, model_reaction reaction) {
    reaction.context = w.contexts[number].has_destroy ? number : -1;
    if (reaction.executor < 0) {
        reaction.executor = current_executor();
    }
    /* The library has the reaction first, then calls handlers; so the model. */
    w.contexts[number].reaction = m.promise_count;
    w.own_contexts[m.promise_count] = number + 1;
    w.real[m.promise_count] = NULL;
    reaction.carried = carried_here() + 1;
    int made = promise < 0 ? model_async(reaction) : model_react(promise, reaction);
    m.promises[made].holds++;
    model_look_for_lost();
    return made;
}

void have(vow_promise *real, int model) {
    m.promises[model].holds--;
    put_promise(real, model);
}

/* The promise to chain on: taken from its slot, or one more reference. */
vow_promise *consumed_promise(int *model) {
    int slot = some_promise();
    if (slot < 0) {
        return NULL;
    }
    vow_promise *promise = w.promises[slot];
    *model = w.promise_models[slot];
    if (next_below(2) == 0) {
        return vow_promise_retain(promise);
    }
    m.promises[*model].holds--;
    w.promises[slot] = NULL;
    return promise;
}

void end_consumed(void) {
    if (w.consumed >= 0 && w.submits == 0) {
        m.promises[w.consumed].holds--;
        w.consumed = -1;
        model_look_for_lost();
    }
}

/* Without an executor the default counts, which destructors may not rely on. */
static int executor_for_call(void) {
    int executor = any_executor();
    return executor < 0 && top_frame() == FRAME_CALLBACK ? 0 : executor;
}

static void long_form(void);

static void short_form(unsigned which) {
    int upstream = -1;
    if (top_frame() == FRAME_CALLBACK) {
        return;
    }
    if (carried_here() >= 0) {
        long_form();
        return;
    }
    vow_promise *promise = consumed_promise(&upstream);
    if (promise == NULL) {
        return;
    }
    int number = new_context(false);
    context *self = &w.contexts[number];
    model_reaction reaction = {which != 1, which != 0, which == 2, -1, -1, 0, 0};
    int made = expect_reaction(upstream, number, reaction);
    trace("%s promise %d -> %d",
          which == 0   ? "then"
          : which == 1 ? "catch"
                       : "finally",
          upstream, made);
    vow_promise *real = which == 0   ? vow_then(promise, on_value, self)
                        : which == 1 ? vow_catch(promise, on_error, self)
                                     : vow_finally(promise, on_either, self);
    have(real, made);
}

static void long_form(void) {
    int upstream = -1;
    vow_promise *promise = consumed_promise(&upstream);
    if (promise == NULL) {
        return;
    }
    unsigned form = next_byte();
    model_reaction expected = {form & 1, form & 2, form & 4, executor_for_call(), -1, 0, 0};
    /* It is passed over later than the short forms are, which its destructor shows. */
    int number = new_context(true);
    vow_reaction reaction = {.size = sizeof reaction};
    reaction.on_fulfilled = expected.on_value ? on_value : NULL;
    reaction.on_rejected = expected.on_error ? on_error : NULL;
    reaction.context = &w.contexts[number];
    reaction.destroy = on_destroy;
    reaction.executor = executor_handle(expected.executor);
    reaction.flags = expected.finally ? VOW_FINALLY : 0;
    if ((form & 104) == 104 && w.submits == 0) {
        expected.token = some_token(&reaction.token) + 1;
    }
    reaction.label = form & 16 ? "a label" : NULL;
    /* One with a cancelled token does not read it, and an executor hears of that one first. */
    bool leaves = expected.token > 0 && m.sources[expected.token - 1].cancelled && w.consumed < 0;
    if (leaves) {
        m.promises[upstream].holds++;
        w.consumed = upstream;
    }
    int made = expect_reaction(upstream, number, expected);
    trace("then_with promise %d -> %d, form %u, executor %d, token %d", upstream, made, form & 15,
          expected.executor, expected.token - 1);
    int outer = w.registering;
    w.registering = made;
    vow_promise *real = vow_then_with(promise, &reaction);
    w.registering = outer;
    if (leaves) {
        end_consumed();
    }
    have(real, made);
}

/* A fiber that does not wait is work like any other. */
static void async(bool as_fiber) {
    /* A fiber's own memory waits for its executor, as a context with a destructor does. */
    vow_fiber_options options = {.size = sizeof options, .destroy = on_destroy};
    int number = new_context(as_fiber);
    int executor = executor_for_call();
    int made =
        expect_reaction(-1, number, (model_reaction){true, false, false, executor, -1, 0, 0});
    trace("%s -> %d, executor %d", as_fiber ? "fiber" : "async", made, executor);
    vow_executor *named = executor_handle(executor);
    have(as_fiber ? vow_fiber(named, on_fiber, &w.contexts[number], &options)
                  : vow_async(named, on_value, &w.contexts[number]),
         made);
}

void chaining_op(unsigned which) {
    if (which < 3) {
        short_form(which);
    } else if (which < 6) {
        long_form();
    } else {
        async(which == 7);
    }
}
