/* Tests that handles which are taken for ever, and never given back, end the process with a
 * sentence before a count is full. */
#include "child.h"

#include <signal.h>

static void take_for_ever(void) {
    vow_resolver *resolver;
    vow_promise_release(vow_promise_create(&resolver));
    for (;;) {
        (void)vow_resolver_retain(resolver);
    }
}

static void take_a_million(void) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    for (int i = 0; i < 1000000; i++) {
        CHECK(vow_resolver_retain(resolver) == resolver);
    }
    for (int i = 0; i < 1000000; i++) {
        vow_resolver_release(resolver);
    }
    CHECK(vow_promise_state(promise) == VOW_PENDING);
    CHECK(vow_resolve(resolver, vow_int(3)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), 3);
}

static const part parts[] = {{"for ever", take_for_ever}};

TEST("a resolver that is retained for ever ends the process with a sentence") {
    ended end = end_of("for ever");
    CHECK(WIFSIGNALED(end.status));
    CHECK_STR_HAS(end.said, "vow: a promise has more handles than can be counted");
}

TEST("a million handles of one resolver are in order") {
    take_a_million();
}

int main(int count, char **arguments) {
    return run_part_or_tests(parts, sizeof parts / sizeof *parts, count > 1 ? arguments[1] : NULL);
}
