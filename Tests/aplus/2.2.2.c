/* Promises/A+ 2.2.2: when on_fulfilled is called, and how often. */
#include "probe.h"

TEST("2.2.2.1: on_fulfilled is called after the promise is fulfilled, with its value") {
    for_each(called_with_outcome, FULFILS, EVERY_WAY);
}

TEST("2.2.2.2: on_fulfilled is not called before the promise is fulfilled") {
    for_each(not_called_before, FULFILS, STILL_PENDING);
}

TEST("2.2.2.3: on_fulfilled is called once, whenever it was registered") {
    for_each(called_once, FULFILS, EVERY_WAY);
}

static void nobody_keeps_the_link(trial *self) {
    probe seen[4];
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < 4; i++) {
        if (i == 2) {
            trial_settle(self);
        }
        vow_promise_release(probe_link(&seen[i], self));
    }
    for (int i = 0; i < 4; i++) {
        CHECK(reaches(self->rejects ? &seen[i].rejected : &seen[i].fulfilled, 1));
    }
    let_pass(self->executor);
    for (int i = 0; i < 4; i++) {
        CHECK_INT_EQ(probe_calls(&seen[i]), 1);
    }
}

TEST("2.2.2.3: on_fulfilled is called once although its own promise was released") {
    for_each(nobody_keeps_the_link, FULFILS, EVERY_WAY);
}
