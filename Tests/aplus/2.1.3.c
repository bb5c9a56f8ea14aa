/* Promises/A+ 2.1.3: a rejected promise stays rejected, with one reason. */
#include "final.h"

TEST("2.1.3: a promise that settles this way is rejected for every reader") {
    for_each(called_with_outcome, REJECTS, EVERY_WAY);
}

TEST("2.1.3.1: a rejected promise never changes its state, whoever tries") {
    for_each(stays_as_it_is, REJECTS, EVERY_WAY);
}

TEST("2.1.3.2: a rejected promise has a reason, the same one for ever") {
    for_each(carries_one_outcome, REJECTS, EVERY_WAY);
}

TEST("2.1.3.2: a reason that is no error is kept inside one") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_value reason = vow_string("why", 3);
    CHECK(vow_reject(resolver, vow_value_retain(reason)));
    vow_resolver_release(resolver);
    for (int i = 0; i < 2; i++) {
        vow_value out;
        CHECK(vow_promise_peek(promise, &out));
        CHECK_INT_EQ(vow_error_code(out), VOW_EREASON);
        CHECK(same(vow_error_payload(out), reason));
    }
    vow_value_release(reason);
    vow_promise_release(promise);
}
