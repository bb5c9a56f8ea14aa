/* Tests chapter 3, promises and resolvers: two capabilities, one settlement. */
#include "tools.h"

TEST("G1: the first settlement counts, later ones answer false and lose their values") {
    counter winner = {0};
    counter losers = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(vow_resolve(resolver, vow_object(&winner, &counter_class)));
    CHECK(!vow_resolve(resolver, vow_object(&losers, &counter_class)));
    CHECK_INT_EQ(atomic_load(&losers.ends), 1);
    CHECK(!vow_reject(resolver,
                      vow_error_wrap("test", 1, "late", vow_object(&losers, &counter_class))));
    CHECK_INT_EQ(atomic_load(&losers.ends), 2);
    CHECK(!vow_resolve(resolver, vow_from_promise(fulfilled_int(1))));
    CHECK_INT_EQ(vow_promise_state(promise), VOW_FULFILLED);
    CHECK_INT_EQ(atomic_load(&winner.ends), 0);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&winner.ends), 1);
}

TEST("a resolver works after every promise handle is gone") {
    counter object = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise_release(promise);
    CHECK(vow_resolve(resolver, vow_object(&object, &counter_class)));
    CHECK(!vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(atomic_load(&object.ends), 1);
}

TEST("a peeked value lives as long as the promise, an awaited one longer") {
    vow_promise *promise = vow_promise_with(vow_string("mine", 4));
    vow_value peeked;
    vow_value awaited;
    CHECK(vow_promise_peek(promise, &peeked));
    CHECK_INT_EQ(vow_await(promise, 0, &awaited), VOW_FULFILLED);
    CHECK_STR_EQ(vow_string_bytes(peeked, NULL), "mine");
    vow_promise_release(promise);
    CHECK_STR_EQ(vow_string_bytes(awaited, NULL), "mine");
    vow_value_release(awaited);
}

typedef struct race {
    vow_resolver *resolver;
    atomic_int *started;
    bool won;
} race;

static void *resolve_in_race(void *context) {
    race *self = context;
    atomic_fetch_add(self->started, 1);
    while (atomic_load(self->started) < 2) {
    }
    self->won = vow_resolve(self->resolver, vow_string("value", 5));
    return NULL;
}

TEST("G1: of two threads that resolve, exactly one wins") {
    for (int round = 0; round < 200; round++) {
        vow_resolver *resolver;
        vow_promise *promise = vow_promise_create(&resolver);
        atomic_int started = 0;
        race first = {resolver, &started, false};
        race second = {resolver, &started, false};
        pthread_t thread = start_thread(resolve_in_race, &first);
        resolve_in_race(&second);
        pthread_join(thread, NULL);
        CHECK_INT_EQ(first.won + second.won, 1);
        CHECK_INT_EQ(vow_promise_state(promise), VOW_FULFILLED);
        vow_resolver_release(resolver);
        vow_promise_release(promise);
    }
}

TEST("the counters of chapter 14 follow a promise through its life") {
    vow_statistics start = harness_stats();
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_statistics now = harness_stats();
    CHECK_INT_EQ(now.created - start.created, 1);
    CHECK_INT_EQ(now.live - start.live, 1);
    CHECK_INT_EQ(now.pending - start.pending, 1);
    CHECK(now.bytes > start.bytes);
    counter seen = {0};
    promise = then_inline(promise, counter_run, &seen);
    now = harness_stats();
    CHECK_INT_EQ(now.handlers - start.handlers, 1);
    CHECK_INT_EQ(now.created - start.created, 2);
    CHECK(vow_resolve(resolver, vow_int(1)));
    now = harness_stats();
    CHECK_INT_EQ(now.settled - start.settled, 2);
    CHECK_INT_EQ(now.handlers, start.handlers);
    CHECK_INT_EQ(now.pending, start.pending);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    CHECK_INT_EQ(harness_stats().live, start.live);
}
