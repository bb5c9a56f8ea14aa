/* Promises/A+ 2.1.1: a pending promise, and what it may become. */
#include "aplus.h"

static void is_pending(trial *self) {
    vow_value out = vow_int(1);
    CHECK_INT_EQ(vow_promise_state(self->promise), VOW_PENDING);
    CHECK(!vow_promise_peek(self->promise, &out));
    CHECK_INT_EQ(out.kind, VOW_NONE);
    CHECK_INT_EQ(vow_await(self->promise, 0, &out), VOW_PENDING);
    CHECK_INT_EQ(out.kind, VOW_NONE);
}

static void becomes_its_outcome(trial *self) {
    is_pending(self);
    trial_settle(self);
    ENDS_AS_TRIAL(vow_promise_retain(self->promise), self);
    CHECK_INT_EQ(vow_promise_state(self->promise), trial_state(self));
}

TEST("2.1.1: a promise that nobody settled is pending, for every reader") {
    for_each(is_pending, FULFILS | REJECTS, STILL_PENDING);
}

TEST("2.1.1.1: a pending promise may become fulfilled") {
    for_each(becomes_its_outcome, FULFILS, STILL_PENDING);
}

TEST("2.1.1.1: a pending promise may become rejected") {
    for_each(becomes_its_outcome, REJECTS, STILL_PENDING);
}

static void derived_becomes_either(trial *self) {
    vow_promise *same_way =
        either_on(self->executor, vow_promise_retain(self->promise), pass_on, NULL);
    vow_promise *to_value =
        either_on(self->executor, vow_promise_retain(self->promise), give_code, NULL);
    vow_promise *to_error =
        either_on(self->executor, vow_promise_retain(self->promise), fail_with_7, NULL);
    CHECK_INT_EQ(vow_promise_state(same_way), VOW_PENDING);
    CHECK_INT_EQ(vow_promise_state(to_value), VOW_PENDING);
    CHECK_INT_EQ(vow_promise_state(to_error), VOW_PENDING);
    trial_settle(self);
    ENDS_AS_TRIAL(same_way, self);
    CHECK_INT_EQ(int_of(to_value), self->rejects ? 42 : 0);
    CHECK_INT_EQ(code_of(to_error), 7);
}

TEST("2.1.1.1: a pending promise that a handler decides may become either") {
    for_each(derived_becomes_either, FULFILS | REJECTS, STILL_PENDING);
}
