/* Tests vow_detach: what leads to a promise goes on although nobody reads it, and a rejection is
 * told. */
#include "tools.h"

typedef struct reports {
    atomic_int count;
    int64_t code;
} reports;

static void note(vow_value error, void *context) {
    reports *self = context;
    self->code = vow_error_code(error);
    atomic_fetch_add(&self->count, 1);
}

static void count_one(void *context) {
    atomic_fetch_add((atomic_int *)context, 1);
}

/* A pending promise whose producer counts in `stops` when it is told that nobody is left. */
static vow_promise *told(vow_resolver **resolver, atomic_int *stops) {
    vow_promise *promise = vow_promise_create(resolver);
    CHECK_INT_EQ(vow_resolver_on_cancel(*resolver, count_one, stops, NULL), 0);
    return promise;
}

TEST("the producer of a detached promise is not told that nobody is left, and of a released one "
     "is") {
    atomic_int stops = 0;
    vow_resolver *resolver;
    vow_detach(told(&resolver, &stops));
    CHECK_INT_EQ(atomic_load(&stops), 0);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(atomic_load(&stops), 0);

    vow_promise_release(told(&resolver, &stops));
    CHECK_INT_EQ(atomic_load(&stops), 1);
    vow_resolver_release(resolver);
}

TEST("a detached promise that is rejected later, or is already, is reported once") {
    reports seen = {0};
    atomic_int stops = 0;
    vow_resolver *resolver;
    vow_on_unhandled(note, &seen);
    vow_detach(told(&resolver, &stops));
    CHECK_INT_EQ(atomic_load(&seen.count), 0);
    CHECK(vow_reject(resolver, vow_error("test", 8, NULL)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(atomic_load(&seen.count), 1);
    CHECK_INT_EQ(seen.code, 8);
    vow_detach(rejected_code(9));
    CHECK_INT_EQ(atomic_load(&seen.count), 2);
    CHECK_INT_EQ(seen.code, 9);
    vow_on_unhandled(NULL, NULL);
    CHECK_INT_EQ(atomic_load(&stops), 0);
}

TEST("a detached promise that its last resolver breaks is reported") {
    reports seen = {0};
    vow_resolver *resolver;
    vow_on_unhandled(note, &seen);
    vow_detach(vow_promise_create(&resolver));
    vow_resolver_release(resolver);
    vow_on_unhandled(NULL, NULL);
    CHECK_INT_EQ(atomic_load(&seen.count), 1);
    CHECK_INT_EQ(seen.code, VOW_EBROKEN);
}

TEST("a detached promise that is cancelled by another handle is nothing to report") {
    reports seen = {0};
    atomic_int stops = 0;
    vow_resolver *resolver;
    vow_on_unhandled(note, &seen);
    vow_promise *promise = told(&resolver, &stops);
    vow_detach(vow_promise_retain(promise));
    CHECK(vow_cancel(promise));
    CHECK_INT_EQ(atomic_load(&stops), 1);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
    vow_on_unhandled(NULL, NULL);
    CHECK_INT_EQ(atomic_load(&seen.count), 0);
}

TEST("a rejection that another reader handles is not reported for who detached") {
    reports seen = {0};
    vow_resolver *resolver;
    vow_on_unhandled(note, &seen);
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise *handled = catch_inline(vow_promise_retain(promise), add_one, NULL);
    vow_detach(promise);
    CHECK(vow_reject(resolver, vow_error("test", 8, NULL)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(vow_promise_state(handled), VOW_FULFILLED);
    vow_promise_release(handled);
    vow_on_unhandled(NULL, NULL);
    CHECK_INT_EQ(atomic_load(&seen.count), 0);
}

TEST("a detached chain runs to its end, and its last link is reported") {
    reports seen = {0};
    counter runs = {0};
    vow_resolver *resolver;
    vow_on_unhandled(note, &seen);
    vow_detach(then_inline(vow_promise_create(&resolver), counter_run, &runs));
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(atomic_load(&runs.runs), 1);
    vow_detach(then_inline(vow_promise_create(&resolver), counter_run, &runs));
    CHECK(vow_reject(resolver, vow_error("test", 7, NULL)));
    vow_resolver_release(resolver);
    vow_on_unhandled(NULL, NULL);
    CHECK_INT_EQ(atomic_load(&runs.runs), 1);
    CHECK_INT_EQ(atomic_load(&seen.count), 1);
    CHECK_INT_EQ(seen.code, 7);
}

TEST("the timer of a detached delay stays, and that of a released one goes") {
    vow_loop *loop = vow_loop_create_virtual();
    vow_statistics before = harness_stats();
    vow_promise_release(vow_delay(VOW_SECOND));
    CHECK_INT_EQ(harness_stats().pending, before.pending);
    vow_detach(vow_delay(VOW_SECOND));
    CHECK(harness_stats().pending > before.pending);
    CHECK(vow_loop_advance(loop, VOW_SECOND - VOW_NS) >= 0);
    CHECK(harness_stats().pending > before.pending);
    CHECK(vow_loop_advance(loop, VOW_NS) >= 0);
    CHECK_INT_EQ(harness_stats().pending, before.pending);
    vow_loop_destroy(loop);
}

TEST("the members of a detached combined promise stay") {
    atomic_int stops = 0;
    vow_resolver *resolvers[2];
    vow_promise *members[2] = {told(&resolvers[0], &stops), told(&resolvers[1], &stops)};
    vow_detach(vow_all(members, 2));
    CHECK_INT_EQ(atomic_load(&stops), 0);
    CHECK(vow_resolve(resolvers[0], vow_int(1)));
    CHECK(vow_resolve(resolvers[1], vow_int(2)));
    CHECK_INT_EQ(atomic_load(&stops), 0);
    vow_resolver_release(resolvers[0]);
    vow_resolver_release(resolvers[1]);
}

TEST("a promise that follows another one goes on following it") {
    atomic_int stops = 0;
    vow_resolver *outer, *inner;
    vow_promise *promise = vow_promise_create(&outer);
    CHECK(vow_resolve(outer, vow_from_promise(told(&inner, &stops))));
    vow_resolver_release(outer);
    vow_detach(promise);
    CHECK_INT_EQ(atomic_load(&stops), 0);
    CHECK(vow_resolve(inner, vow_int(1)));
    vow_resolver_release(inner);
    CHECK_INT_EQ(atomic_load(&stops), 0);
}

static vow_value never(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(vow_promise_retain(context));
}

TEST("a link whose handler returned a pending promise goes on, and its rejection is reported") {
    reports seen = {0};
    atomic_int stops = 0;
    vow_resolver *resolver;
    vow_on_unhandled(note, &seen);
    vow_promise *inner = told(&resolver, &stops);
    vow_promise *link = then_inline(fulfilled_int(1), never, inner);
    vow_promise_release(inner);
    vow_detach(link);
    CHECK_INT_EQ(atomic_load(&stops), 0);
    CHECK(vow_reject(resolver, vow_error("test", 6, NULL)));
    vow_resolver_release(resolver);
    vow_on_unhandled(NULL, NULL);
    CHECK_INT_EQ(atomic_load(&seen.count), 1);
}

TEST("to detach what is fulfilled, or nothing, is to release it") {
    vow_detach(fulfilled_int(1));
    vow_detach(NULL);
}
