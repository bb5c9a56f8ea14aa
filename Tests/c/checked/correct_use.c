/* Tests that the checked build lets correct programs pass, and stops counting what it keeps. */
#include "../tools.h"

TEST("many promises and values come and go without a complaint or a leak") {
    for (int i = 0; i < 20000; i++) {
        vow_resolver *resolver;
        vow_promise *promise = vow_promise_create(&resolver);
        promise = then_inline(promise, counter_run, &(counter){0});
        CHECK(vow_resolve(resolver, vow_string("text", 4)));
        vow_resolver_release(resolver);
        vow_promise_release(promise);
    }
}

TEST("a handler that retains its input is in order") {
    counter seen = {0};
    vow_promise *promise = vow_promise_with(vow_string("kept", 4));
    vow_promise *end = then_inline(vow_promise_retain(promise), counter_run, &seen);
    vow_value out;
    CHECK_INT_EQ(vow_await(end, 0, &out), VOW_FULFILLED);
    vow_promise_release(promise);
    vow_promise_release(end);
    CHECK_STR_EQ(vow_string_bytes(out, NULL), "kept");
    vow_value_release(out);
}
