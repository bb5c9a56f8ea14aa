/* Promises/A+ 2.3.3.2: asking an object fails at once, the getter that throws of C. */
#include "asked.h"

static bool act_fail(asked *self, vow_resolver *resolver) {
    CHECK(vow_reject(resolver, vow_value_retain(self->gives)));
    vow_resolver_release(resolver);
    return true;
}

static void has_the_error(asked *self, vow_promise *promise) {
    ENDS_AS(vow_promise_retain(promise), VOW_REJECTED, self->gives);
}

static void has_the_payload(asked *self, vow_promise *promise) {
    vow_value out = vow_none();
    CHECK_INT_EQ(vow_await(promise, LONG_ENOUGH, &out), VOW_REJECTED);
    CHECK_STR_EQ(vow_error_domain(out), "vow");
    CHECK_INT_EQ(vow_error_code(out), VOW_EREASON);
    CHECK(same(vow_error_payload(out), self->gives));
    vow_value_release(out);
}

TEST("2.3.3.2: an object whose first act is to reject rejects with that very error") {
    vow_value errors[3] = {
        vow_error("test", 1, "plain"),
        vow_error_wrap("test", 2, NULL, vow_string("payload", 7)),
        vow_list(NULL, 1),
    };
    for (int i = 0; i < 3; i++) {
        in_each_place(act_fail, errors[i], has_the_error);
        vow_value_release(errors[i]);
    }
}

TEST("2.3.3.2: a reason that is no error arrives inside one") {
    vow_value reasons[5] = {vow_none(), vow_bool(false), vow_int(0), vow_string("why", 3),
                            vow_list(NULL, 0)};
    for (int i = 0; i < 5; i++) {
        in_each_place(act_fail, reasons[i], has_the_payload);
        vow_value_release(reasons[i]);
    }
}

static bool act_drop(asked *self, vow_resolver *resolver) {
    (void)self;
    vow_resolver_release(resolver);
    return true;
}

static void is_broken(asked *self, vow_promise *promise) {
    (void)self;
    REJECTED_WITH(promise, VOW_EBROKEN);
}

TEST("2.3.3.2: an object that only lets go of its resolver rejects with VOW_EBROKEN") {
    in_each_place(act_drop, vow_none(), is_broken);
}
