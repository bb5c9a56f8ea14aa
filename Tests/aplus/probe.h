/* Handlers that look whether they are called rightly: once, with the outcome, not too early. */
#ifndef VOW_TEST_APLUS_PROBE_H
#define VOW_TEST_APLUS_PROBE_H

#include "aplus.h"

/* A call counts when it ends, so that nobody looks at the trial any more. */
typedef struct probe {
    trial *of;
    atomic_int fulfilled; /* calls of the handler for a value */
    atomic_int rejected;  /* calls of the handler for an error */
} probe;

static inline void probe_look(probe *self, vow_value input) {
    CHECK(atomic_load(&self->of->begun));
    CHECK(same(input, self->of->outcome));
    CHECK_INT_EQ(vow_promise_state(self->of->promise), trial_state(self->of));
}

static inline vow_value probe_value(vow_value input, void *context) {
    probe *self = context;
    probe_look(self, input);
    atomic_fetch_add(&self->fulfilled, 1);
    return vow_int(1);
}

static inline vow_value probe_error(vow_value input, void *context) {
    probe *self = context;
    probe_look(self, input);
    atomic_fetch_add(&self->rejected, 1);
    return vow_int(1);
}

/* A link with both handlers on the trial's promise (owned). */
static inline vow_promise *probe_link(probe *self, trial *of) {
    self->of = of;
    return link_full(of->executor, vow_promise_retain(of->promise), probe_value, probe_error, self,
                     NULL);
}

/* How often the handler for the trial's outcome was called, and that the other was not. */
static inline int probe_calls(probe *self) {
    CHECK_INT_EQ(atomic_load(self->of->rejects ? &self->fulfilled : &self->rejected), 0);
    return atomic_load(self->of->rejects ? &self->rejected : &self->fulfilled);
}

/* The handler is called with the outcome, after it is there. */
static inline void called_with_outcome(trial *self) {
    probe seen = {0};
    vow_promise *link = probe_link(&seen, self);
    trial_settle(self);
    CHECK_INT_EQ(int_of(link), 1);
    CHECK_INT_EQ(probe_calls(&seen), 1);
}

/* Nothing is called while the promise is pending, however long that is. */
static inline void not_called_before(trial *self) {
    probe seen[3];
    vow_promise *links[3];
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < 3; i++) {
        links[i] = probe_link(&seen[i], self);
    }
    let_pass(self->executor);
    for (int i = 0; i < 3; i++) {
        CHECK_INT_EQ(probe_calls(&seen[i]), 0);
        CHECK_INT_EQ(vow_await(links[i], MILLISECOND, NULL), VOW_PENDING);
    }
    trial_settle(self);
    for (int i = 0; i < 3; i++) {
        CHECK_INT_EQ(int_of(links[i]), 1);
        CHECK_INT_EQ(probe_calls(&seen[i]), 1);
    }
}

/* Handlers registered before, while and after it settles are called once each, although others
 * try to settle it again. */
static inline void called_once(trial *self) {
    probe seen[9];
    vow_promise *links[9];
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < 9; i++) {
        if (i == 3) {
            trial_settle(self);
        } else if (i == 6) {
            ENDS_AS_TRIAL(vow_promise_retain(self->promise), self);
            CHECK(!vow_resolve(self->resolver, vow_int(2)));
            CHECK(!vow_reject(self->resolver, vow_error("test", 3, NULL)));
        }
        links[i] = probe_link(&seen[i], self);
    }
    for (int i = 0; i < 9; i++) {
        CHECK_INT_EQ(int_of(links[i]), 1);
    }
    CHECK(!vow_resolve(self->resolver, vow_int(4)));
    let_pass(self->executor);
    for (int i = 0; i < 9; i++) {
        CHECK_INT_EQ(probe_calls(&seen[i]), 1);
    }
}

#endif
