/* Tests chapter 3, promises and resolvers: two capabilities, one settlement. */
#include "tools.h"

TEST("a promise is pending, then fulfilled with its value") {
    vow_resolver *resolver = NULL;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_value out = vow_int(1);
    CHECK(promise != NULL && resolver != NULL);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    CHECK(!vow_promise_peek(promise, &out));
    CHECK_INT_EQ(out.kind, VOW_NONE);
    CHECK(vow_resolve(resolver, vow_int(42)));
    CHECK_INT_EQ(vow_promise_state(promise), VOW_FULFILLED);
    CHECK(vow_promise_peek(promise, &out));
    CHECK_INT_EQ(out.as.integer, 42);
    CHECK(vow_promise_peek(promise, NULL));
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}

TEST("a promise is pending, then rejected with its error") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(vow_reject(resolver, vow_error("test", 4, "four")));
    CHECK_INT_EQ(vow_promise_state(promise), VOW_REJECTED);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(code_of(promise), 4);
}

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

TEST("G1: a rejected promise stays rejected") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(vow_reject(resolver, vow_error("test", 1, "first")));
    CHECK(!vow_resolve(resolver, vow_int(2)));
    CHECK(!vow_reject(resolver, vow_error("test", 3, "third")));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(code_of(promise), 1);
}

TEST("G1: resolved is not settled") {
    vow_resolver *outer_resolver;
    vow_resolver *inner_resolver;
    vow_promise *outer = vow_promise_create(&outer_resolver);
    vow_promise *inner = vow_promise_create(&inner_resolver);
    CHECK(vow_resolve(outer_resolver, vow_from_promise(inner)));
    CHECK(!vow_resolve(outer_resolver, vow_int(1)));
    CHECK_INT_EQ(vow_promise_state(outer), VOW_PENDING);
    vow_resolver_release(outer_resolver);
    CHECK_INT_EQ(vow_promise_state(outer), VOW_PENDING);
    CHECK(vow_resolve(inner_resolver, vow_int(2)));
    vow_resolver_release(inner_resolver);
    CHECK_INT_EQ(int_of(outer), 2);
}

TEST("a promise of a value is settled at once, by the kind of the value") {
    CHECK_INT_EQ(int_of(fulfilled_int(9)), 9);
    CHECK_INT_EQ(code_of(rejected_code(9)), 9);
    vow_promise *promise = vow_promise_with(vow_string("text", 4));
    vow_value out;
    CHECK(vow_promise_peek(promise, &out));
    CHECK_STR_EQ(vow_string_bytes(out, NULL), "text");
    vow_promise_release(promise);
    promise = vow_promise_with(vow_none());
    CHECK_INT_EQ(vow_promise_state(promise), VOW_FULFILLED);
    vow_promise_release(promise);
}

TEST("both handles are counted on their own") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(vow_promise_retain(promise) == promise);
    CHECK(vow_resolver_retain(resolver) == resolver);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    CHECK(vow_resolve(resolver, vow_int(5)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), 5);
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

TEST("a reaction keeps its promise alive without any handle") {
    counter seen = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise_release(then_inline(promise, counter_run, &seen));
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK_INT_EQ(atomic_load(&seen.runs), 1);
    vow_resolver_release(resolver);
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

TEST("the library that runs is the one of the header") {
    CHECK_INT_EQ(vow_version(), VOW_VERSION);
    CHECK_STR_EQ(VOW_VERSION_STRING, "0.1.0");
}
