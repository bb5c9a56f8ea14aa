/* Handlers with a plan: what they do, and what the model makes of it. */
#include "plan.h"

vow_value run_plan(vow_value input, void *context) {
    plan *self = context;
    atomic_store(&self->place, atomic_fetch_add(&s.places, 1));
    if (atomic_fetch_add(&self->runs, 1) != 0) {
        differ("a handler ran twice", self->reaction);
    }
    switch (self->result) {
    case RETURNS_INPUT:
        return vow_value_retain(input);
    case RETURNS_NUMBER:
        return vow_int(self->number);
    case RETURNS_ERROR:
        return vow_error("fuzz", self->number, NULL);
    default:
        return vow_from_promise(vow_promise_retain(self->promise));
    }
}

void end_plan(void *context) {
    plan *self = context;
    vow_promise_release(self->promise);
    if (atomic_fetch_add(&self->destroyed, 1) != 0) {
        differ("a context was destroyed twice", self->reaction);
    }
}

static int foretold_result(const plan *self, int input) {
    switch (self->result) {
    case RETURNS_INPUT:
        return input;
    case RETURNS_NUMBER:
        return model_value_new(VOW_INT, self->number);
    case RETURNS_ERROR:
        return model_error_new(DOMAIN_FUZZ, self->number, TEXT_ANY, -1);
    default:
        return model_value_new(VOW_PROMISE, self->model);
    }
}

void on_thread_hook(void *context) {
    thread_hook *self = context;
    if (atomic_fetch_add(&self->called, 1) != 0 || atomic_load(&self->destroyed) != 0) {
        differ("a hook is called again", (int)(self - s.hooks));
    }
}

void on_thread_hook_destroy(void *context) {
    thread_hook *self = context;
    if (atomic_fetch_add(&self->destroyed, 1) != 0) {
        differ("a hook is destroyed again", (int)(self - s.hooks));
    }
}

/* The context of a plan holds its promise. */
static void drop_context(plan *self) {
    m.promises[self->reaction].context = -1;
    m.context_done[self - s.plans] = true;
    if (self->result == RETURNS_PROMISE) {
        m.promises[self->model].holds--;
    }
    model_look_for_lost();
}

void foretell(void) {
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < s.plan_count; i++) {
            plan *self = &s.plans[i];
            if (m.promises[self->reaction].wait == WAITS_CONTEXT) {
                again = true;
                drop_context(self);
                model_end(self->reaction);
                continue;
            }
            if (m.promises[self->reaction].wait != WAITS_EXECUTOR) {
                continue;
            }
            again = self->foretold = true;
            model_start(self->reaction, false);
            int input = model_input(self->reaction);
            int result = foretold_result(self, input);
            if (!model_is_waited_for(result)) {
                drop_context(self);
            }
            model_finish(self->reaction, result);
            model_look_for_lost();
        }
    }
}
