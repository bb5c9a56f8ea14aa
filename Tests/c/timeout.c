/* Tests of vow_timeout. */
#include "meter.h"
#include "small_stack.h"

static void note_stop(void *context) {
    atomic_fetch_add((atomic_int *)context, 1);
}

TEST("a promise that settles in time passes, and its timer is gone") {
    vow_resolver *resolver;
    vow_promise *promise = vow_timeout(vow_promise_create(&resolver), 3600 * SECOND);
    vow_resolve(resolver, vow_string("in time", 7));
    vow_value out = vow_none();
    CHECK_INT_EQ(vow_await(promise, LONG_ENOUGH, &out), VOW_FULFILLED);
    CHECK_STR_EQ(vow_string_bytes(out, NULL), "in time");
    vow_value_release(out);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
    promise = vow_timeout(vow_promise_create(&resolver), 3600 * SECOND);
    vow_reject(resolver, vow_error("test", 4, "four"));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(code_of(promise), 4);
    CHECK_INT_EQ(int_of(vow_timeout(fulfilled_int(4), 0)), 4);
    CHECK_INT_EQ(code_of(vow_timeout(rejected_code(4), 5)), 4);
}

TEST("when the time is up the promise is rejected, and what it waited for cancelled") {
    for (int kept = 0; kept < 2; kept++) {
        atomic_int stopped = 0;
        vow_resolver *resolver;
        vow_promise *slow = vow_promise_create(&resolver);
        vow_resolver_on_cancel(resolver, note_stop, &stopped, NULL);
        if (kept) {
            vow_promise_retain(slow);
        }
        int64_t begin = vow_now();
        CHECK_INT_EQ(code_of(vow_timeout(slow, 5 * MILLISECOND)), VOW_ETIMEDOUT);
        CHECK(vow_now() - begin >= 5 * MILLISECOND);
        if (kept) {
            CHECK_INT_EQ(vow_promise_state(slow), VOW_PENDING);
            vow_promise_release(slow);
        }
        CHECK(reaches(&stopped, 1));
        vow_resolver_release(resolver);
    }
}

TEST("no limit, and wrong arguments") {
    vow_promise *promise = fulfilled_int(3);
    CHECK(vow_timeout(promise, VOW_FOREVER) == promise);
    CHECK_INT_EQ(code_of(vow_timeout(promise, -2)), VOW_EINVAL);
    vow_promise *no_promise = NULL;
    CHECK_INT_EQ(code_of(vow_timeout(no_promise, 1)), VOW_EINVAL);
    CHECK_INT_EQ(code_of(vow_timeout(no_promise, VOW_FOREVER)), VOW_EINVAL);
    vow_resolver *resolver;
    promise = vow_timeout(vow_promise_create(&resolver), INT64_MAX);
    vow_resolve(resolver, vow_int(3));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), 3);
}

TEST("a cancelled time-out cancels; a released one lets go") {
    for (int released = 0; released < 2; released++) {
        atomic_int stopped = 0;
        vow_resolver *resolver;
        vow_promise *slow = vow_promise_create(&resolver);
        vow_resolver_on_cancel(resolver, note_stop, &stopped, NULL);
        vow_promise *promise = vow_timeout(slow, 3600 * SECOND);
        if (!released) {
            CHECK(vow_cancel(promise));
            CHECK_INT_EQ(atomic_load(&stopped), 1);
        }
        vow_promise_release(promise);
        CHECK_INT_EQ(atomic_load(&stopped), 1);
        vow_resolver_release(resolver);
    }
}

TEST("on a loop the loop's clock counts") {
    vow_loop *loop = vow_loop_create_virtual();
    vow_promise *slow = vow_delay(10 * SECOND);
    vow_promise *promise = vow_timeout(slow, 3600 * SECOND);
    vow_promise *hasty = vow_timeout(vow_delay(10 * SECOND), 9 * SECOND);
    CHECK(vow_loop_advance(loop, 9 * SECOND) >= 1);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    CHECK_INT_EQ(vow_promise_state(hasty), VOW_REJECTED);
    CHECK_INT_EQ(code_of(hasty), VOW_ETIMEDOUT);
    CHECK(vow_loop_advance(loop, 2 * SECOND) >= 1);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_FULFILLED);
    vow_promise_release(promise);
    promise = vow_timeout(vow_delay(10 * SECOND), 9 * SECOND);
    vow_loop_destroy(loop);
    CHECK_INT_EQ(code_of(promise), VOW_ESHUTDOWN);
}

static void *nest(void *context) {
    int depth = depth_of(100000);
    for (int end = 0; end < 3; end++) {
        vow_resolver *resolver;
        vow_promise *promise = vow_promise_create(&resolver);
        for (int level = 0; level < depth; level++) {
            promise = vow_timeout(promise, 3600 * SECOND);
        }
        if (end == 0) {
            vow_resolve(resolver, vow_none());
            CHECK_INT_EQ(vow_promise_state(promise), VOW_FULFILLED);
        } else if (end == 1) {
            CHECK(vow_cancel(promise));
        }
        vow_promise_release(promise);
        vow_resolver_release(resolver);
    }
    (void)context;
    return NULL;
}

TEST("time-outs nested deep settle, are cancelled and freed with constant stack") {
    on_small_stack(nest, NULL);
}

TEST("the time is up while the promise settles") {
    for (int round = 0; round < 2000; round++) {
        vow_resolver *resolver;
        vow_promise *promise = vow_timeout(vow_promise_create(&resolver), (round % 50) * 1000);
        if (round % 3 == 0) {
            vow_resolve(resolver, vow_string("in time?", 8));
        }
        int64_t until = vow_now() + (round % 40) * 1000;
        while (vow_now() < until) {
        }
        if (round % 3 == 1) {
            vow_resolve(resolver, vow_string("in time?", 8));
        }
        vow_resolver_release(resolver);
        int64_t code = code_of(promise);
        CHECK(code == 0 || code == VOW_ETIMEDOUT || code == VOW_EBROKEN);
    }
}

TEST("without memory the promise is rejected and nothing is lost") {
    for (int nth = 1;; nth++) {
        atomic_store(&counts.failed, 0);
        atomic_store(&counts.countdown, nth);
        vow_resolver *resolver;
        vow_promise *promise = vow_timeout(vow_promise_create(&resolver), SECOND);
        vow_resolve(resolver, vow_none());
        vow_resolver_release(resolver);
        int64_t code = code_of(promise);
        CHECK(code == 0 || code == VOW_ENOMEM);
        atomic_store(&counts.countdown, 0);
        if (atomic_load(&counts.failed) == 0) {
            break;
        }
    }
}
