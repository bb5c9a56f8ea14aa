/* Promises/A+ 2.2.1: both handlers of a reaction are optional. */
#include "probe.h"

typedef struct heard {
    probe seen;
    atomic_int ends;
} heard;

static void heard_end(void *context) {
    atomic_fetch_add(&((heard *)context)->ends, 1);
}

/* A link with the handlers that are wanted; its context is destroyed once, whatever happens. */
static void with_handlers(trial *self, bool on_value, bool on_error) {
    heard link;
    memset(&link, 0, sizeof link);
    link.seen.of = self;
    vow_promise *derived =
        link_full(self->executor, vow_promise_retain(self->promise), on_value ? probe_value : NULL,
                  on_error ? probe_error : NULL, &link, heard_end);
    trial_settle(self);
    bool runs = self->rejects ? on_error : on_value;
    if (runs) {
        CHECK_INT_EQ(int_of(derived), 1);
    } else {
        ENDS_AS_TRIAL(derived, self);
    }
    CHECK(reaches(&link.ends, 1));
    CHECK_INT_EQ(probe_calls(&link.seen), runs);
    CHECK_INT_EQ(atomic_load(&link.ends), 1);
}

static void without_both(trial *self) {
    with_handlers(self, false, false);
}

static void without_on_fulfilled(trial *self) {
    with_handlers(self, false, true);
}

static void without_on_rejected(trial *self) {
    with_handlers(self, true, false);
}

TEST("2.2.1: a reaction may have both handlers or neither") {
    for_each(without_both, FULFILS | REJECTS, EVERY_WAY);
    for_each(called_with_outcome, FULFILS | REJECTS, EVERY_WAY);
}

TEST("2.2.1.1: a reaction without on_fulfilled ignores a value and handles an error") {
    for_each(without_on_fulfilled, FULFILS | REJECTS, EVERY_WAY);
}

TEST("2.2.1.2: a reaction without on_rejected ignores an error and handles a value") {
    for_each(without_on_rejected, FULFILS | REJECTS, EVERY_WAY);
}

/* The handler that is there runs on what a link without one passed through. */
static void later_link(trial *self) {
    probe seen = {.of = self};
    vow_promise *first =
        link_full(self->executor, vow_promise_retain(self->promise), NULL, NULL, NULL, NULL);
    vow_promise *second = link_full(self->executor, first, probe_value, probe_error, &seen, NULL);
    trial_settle(self);
    CHECK_INT_EQ(int_of(second), 1);
    CHECK_INT_EQ(probe_calls(&seen), 1);
}

TEST("2.2.1: a handler behind a link without handlers is not ignored") {
    for_each(later_link, FULFILS | REJECTS, EVERY_WAY);
}
