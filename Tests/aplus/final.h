/* Tries to change a settled promise, in every way that there is. */
#ifndef VOW_TEST_APLUS_FINAL_H
#define VOW_TEST_APLUS_FINAL_H

#include "offer.h"
#include "probe.h"

/* Each attempt is refused and takes what it was given. The resolver may be NULL. */
static inline void try_to_change(vow_resolver *resolver) {
    vow_resolver *other;
    vow_promise *pending = vow_promise_create(&other);
    offer thenable;
    offer_init(&thenable, THENABLE, false, false, 3);
    CHECK(!vow_resolve(resolver, vow_int(1)));
    CHECK(!vow_resolve(resolver, vow_string("another value", VOW_NUL_TERMINATED)));
    CHECK(!vow_reject(resolver, vow_error("test", 2, "another reason")));
    CHECK(!vow_resolve(resolver, vow_error("test", 3, "another reason")));
    CHECK(!vow_resolve(resolver, vow_from_promise(vow_promise_retain(pending))));
    CHECK(!vow_resolve(resolver, offer_value(&thenable)));
    offer_end(&thenable, 0);
    CHECK(vow_resolve(other, vow_int(4)));
    vow_resolver_release(other);
    vow_promise_release(pending);
}

static inline void *try_on_thread(void *resolver) {
    try_to_change(resolver);
    return NULL;
}

static inline vow_value try_in_handler(vow_value input, void *context) {
    try_to_change(((trial *)context)->resolver);
    return vow_value_retain(input);
}

/* Settled as the trial wants it; waits for that. */
static inline void still_so(trial *self) {
    vow_value out;
    ENDS_AS_TRIAL(vow_promise_retain(self->promise), self);
    CHECK_INT_EQ(vow_promise_state(self->promise), trial_state(self));
    CHECK(vow_promise_peek(self->promise, &out));
    CHECK(same(out, self->outcome));
}

/* Attempts by the settling thread, by others, by handlers, and by the last resolver's release. */
static inline void stays_as_it_is(trial *self) {
    vow_promise *links[3];
    probe early = {0};
    probe late = {0};
    links[0] = probe_link(&early, self);
    links[1] = either_on(self->executor, vow_promise_retain(self->promise), try_in_handler, self);
    trial_settle(self);
    ENDS_AS_TRIAL(links[1], self);
    still_so(self);
    try_to_change(self->resolver);
    still_so(self);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        threads[i] = start_thread(try_on_thread, self->resolver);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    still_so(self);
    if (self->threaded) {
        pthread_join(self->thread, NULL);
        self->threaded = false;
    }
    vow_resolver_release(self->resolver);
    self->resolver = NULL;
    still_so(self);
    links[2] = probe_link(&late, self);
    CHECK_INT_EQ(int_of(links[0]), 1);
    CHECK_INT_EQ(int_of(links[2]), 1);
    let_pass(self->executor);
    CHECK_INT_EQ(probe_calls(&early), 1);
    CHECK_INT_EQ(probe_calls(&late), 1);
}

/* Every reader sees the same one, before and after others tried to change it. */
static inline void carries_one_outcome(trial *self) {
    vow_promise *links[4];
    for (int i = 0; i < 4; i++) {
        links[i] = either_on(self->executor, vow_promise_retain(self->promise), pass_on, NULL);
        if (i == 1) {
            trial_settle(self);
            still_so(self);
        } else if (i == 2) {
            try_to_change(self->resolver);
        }
    }
    for (int i = 0; i < 4; i++) {
        ENDS_AS_TRIAL(links[i], self);
    }
    still_so(self);
}

#endif
