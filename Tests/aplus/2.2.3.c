/* Promises/A+ 2.2.3: when on_rejected is called, and how often. */
#include "probe.h"

TEST("2.2.3.1: on_rejected is called after the promise is rejected, with its reason") {
    for_each(called_with_outcome, REJECTS, EVERY_WAY);
}

TEST("2.2.3.2: on_rejected is not called before the promise is rejected") {
    for_each(not_called_before, REJECTS, STILL_PENDING);
}

TEST("2.2.3.3: on_rejected is called once, whenever it was registered") {
    for_each(called_once, REJECTS, EVERY_WAY);
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

TEST("2.2.3.3: on_rejected is called once although its own promise was released") {
    for_each(nobody_keeps_the_link, REJECTS, EVERY_WAY);
}
