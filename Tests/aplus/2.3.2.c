/* Promises/A+ 2.3.2: a promise that is resolved with a promise takes its state. */
#include "offer.h"

static vow_value give_promise(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(vow_promise_retain(context));
}

static vow_value adopted(trial *self) {
    return vow_from_promise(vow_promise_retain(self->promise));
}

/* The ways in which a promise comes to follow the trial's. */
#define FOLLOWERS 6

static void follow(trial *self, vow_promise *followers[FOLLOWERS]) {
    vow_resolver *resolver;
    followers[0] = vow_promise_create(&resolver);
    CHECK(vow_resolve(resolver, adopted(self)));
    CHECK(!vow_resolve(resolver, vow_int(1)));
    CHECK(!vow_reject(resolver, vow_error("test", 2, NULL)));
    vow_resolver_release(resolver);
    followers[1] = then_on(self->executor, fulfilled_int(1), give_promise, self->promise);
    followers[2] =
        link_full(self->executor, rejected_code(1), NULL, give_promise, self->promise, NULL);
    followers[3] = vow_promise_with(adopted(self));
    followers[4] = vow_promise_create(&resolver);
    CHECK(vow_resolve(resolver, vow_from_promise(vow_promise_retain(followers[0]))));
    vow_resolver_release(resolver);
    followers[5] = vow_async(self->executor, give_promise, self->promise);
}

static void takes_its_outcome(trial *self) {
    vow_promise *followers[FOLLOWERS];
    follow(self, followers);
    trial_settle(self);
    for (int i = 0; i < FOLLOWERS; i++) {
        ENDS_AS_TRIAL(followers[i], self);
    }
}

/* Handlers of the follower wait as long as it does. */
static void waits_with_it(trial *self) {
    vow_promise *followers[FOLLOWERS];
    counter seen = {0};
    follow(self, followers);
    let_pass(self->executor);
    for (int i = 0; i < FOLLOWERS; i++) {
        followers[i] = either_on(self->executor, followers[i], counter_run, &seen);
        CHECK_INT_EQ(vow_promise_state(followers[i]), VOW_PENDING);
        CHECK_INT_EQ(vow_await(followers[i], MILLISECOND / 2, NULL), VOW_PENDING);
    }
    let_pass(self->executor);
    CHECK_INT_EQ(atomic_load(&seen.runs), 0);
    trial_settle(self);
    for (int i = 0; i < FOLLOWERS; i++) {
        ENDS_AS_TRIAL(followers[i], self);
    }
    CHECK_INT_EQ(atomic_load(&seen.runs), FOLLOWERS);
}

TEST("2.3.2.1: while the followed promise is pending, so is the one that follows") {
    for_each(waits_with_it, FULFILS | REJECTS, STILL_PENDING);
}

TEST("2.3.2.2: when the followed promise is fulfilled, so is the other, with the same value") {
    for_each(takes_its_outcome, FULFILS, EVERY_WAY);
}

TEST("2.3.2.3: when the followed promise is rejected, so is the other, with the same reason") {
    for_each(takes_its_outcome, REJECTS, EVERY_WAY);
}
