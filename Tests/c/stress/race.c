/* A million races of a short promise against the same long-lived one: nothing piles up. */
#include "stress.h"

static void check_flat(const vow_statistics *before, long round, int64_t spare) {
    vow_statistics now = harness_stats();
    if (now.live != before->live || now.handlers != before->handlers ||
        now.bytes > before->bytes + (uint64_t)spare) {
        printf("# after %ld: %lld live, %lld handlers, %lld bytes more than before\n", round,
               (long long)(now.live - before->live), (long long)(now.handlers - before->handlers),
               (long long)(now.bytes - before->bytes));
        CHECK(!"what lives stays the same");
    }
}

static void races(int way, long count) {
    vow_resolver *of_long;
    vow_promise *long_lived = vow_promise_create(&of_long);
    vow_statistics before = harness_stats();
    for (long round = 1; round <= count; round++) {
        vow_resolver *resolver;
        vow_promise *promises[2] = {vow_promise_create(&resolver),
                                    vow_promise_retain(long_lived)};
        vow_promise *race = way == 0 ? vow_race(promises, 2)
                                     : way == 1 ? vow_any(promises, 2) : vow_all(promises, 2);
        if (way == 2) {
            vow_cancel(race);
        } else {
            vow_resolve(resolver, vow_int(round));
        }
        vow_resolver_release(resolver);
        CHECK(vow_promise_state(race) != VOW_PENDING);
        vow_promise_release(race);
        if (round % 1000 == 0) {
            check_flat(&before, round, 0);
        }
    }
    vow_promise_release(long_lived);
    vow_resolver_release(of_long);
}

TEST("races against one long-lived promise leave nothing behind") {
    races(0, size_of_run("RACES", 1000000) / slowness());
}

TEST("neither do vow_any and a cancelled vow_all") {
    races(1, size_of_run("RACES", 200000) / slowness());
    races(2, size_of_run("RACES", 200000) / slowness());
}

enum { OPEN = 1000 };

TEST("a thousand races at a time, decided in any order") {
    vow_resolver *of_long;
    vow_promise *long_lived = vow_promise_create(&of_long);
    vow_statistics before = harness_stats();
    vow_promise *open[OPEN];
    vow_resolver *resolvers[OPEN];
    uint64_t state = random_seed(1);
    memset(open, 0, sizeof open);
    memset(resolvers, 0, sizeof resolvers);
    long count = size_of_run("RACES", 1000000) / slowness();
    for (long round = 0; round < count; round++) {
        size_t at = random_next(&state) % OPEN;
        if (open[at] != NULL) {
            vow_resolve(resolvers[at], vow_int(1));
            CHECK_INT_EQ(vow_promise_state(open[at]), VOW_FULFILLED);
            vow_resolver_release(resolvers[at]);
            vow_promise_release(open[at]);
        }
        vow_promise *promises[2] = {vow_promise_retain(long_lived),
                                    vow_promise_create(&resolvers[at])};
        open[at] = vow_race(promises, 2);
    }
    vow_resolve(of_long, vow_int(2));
    vow_resolver_release(of_long);
    vow_promise_release(long_lived);
    for (int at = 0; at < OPEN; at++) {
        if (open[at] != NULL) {
            CHECK_INT_EQ(vow_promise_state(open[at]), VOW_FULFILLED);
            vow_promise_release(open[at]);
            vow_resolver_release(resolvers[at]);
        }
    }
    CHECK_INT_EQ(harness_stats().live, before.live - 1);
}
