/* Tests chapter 5, waiting: time-outs, waking up, and the waits that are refused (G11). */
#include "tools.h"

/* Whether a wait (promise borrowed) of so many nanoseconds took that long, and not a thousand times
 * as long. */
static void check_time_out(vow_promise *promise, int64_t timeout) {
    vow_value out = vow_int(1);
    int64_t start = now_ns();
    CHECK_INT_EQ(vow_await(promise, timeout, &out), VOW_PENDING);
    int64_t took = now_ns() - start;
    CHECK(took >= timeout);
    CHECK(took < LONG_ENOUGH);
    CHECK_INT_EQ(out.kind, VOW_NONE);
}

TEST("G11: a wait ends when its time is up, and not before") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    check_time_out(promise, 0);
    check_time_out(promise, 1);
    check_time_out(promise, 3 * MILLISECOND);
    check_time_out(promise, 60 * MILLISECOND);
    check_time_out(promise, SECOND + 50 * MILLISECOND);
    vow_promise_release(promise);
    CHECK(vow_resolve(resolver, vow_none()));
    vow_resolver_release(resolver);
}

typedef struct settler {
    vow_resolver *resolver;
    vow_value value;
    int after_ms;
} settler;

static void *settle_after(void *context) {
    settler *self = context;
    usleep((useconds_t)self->after_ms * 1000);
    if (self->value.kind != VOW_POINTER) {
        CHECK(vow_resolve(self->resolver, self->value));
    }
    vow_resolver_release(self->resolver);
    return NULL;
}

/* Waits on a promise that another thread settles: the answer's kind. */
static void check_wakes(vow_value value, int64_t timeout, int state) {
    settler other = {NULL, value, 30};
    vow_promise *promise = vow_promise_create(&other.resolver);
    vow_value out;
    pthread_t thread = start_thread(settle_after, &other);
    CHECK_INT_EQ(vow_await(promise, timeout, &out), state);
    vow_value_release(out);
    pthread_join(thread, NULL);
    vow_promise_release(promise);
}

TEST("G11: a wait is woken by settling, by rejecting and by a broken promise") {
    check_wakes(vow_int(1), VOW_FOREVER, VOW_FULFILLED);
    check_wakes(vow_string("text", 4), 60 * SECOND, VOW_FULFILLED);
    check_wakes(vow_int(1), INT64_MAX, VOW_FULFILLED);
    check_wakes(vow_error("test", 1, NULL), VOW_FOREVER, VOW_REJECTED);
    check_wakes(vow_pointer(NULL), VOW_FOREVER, VOW_REJECTED);
}

typedef struct waiter {
    vow_promise *promise;
    atomic_int *woken;
} waiter;

static void *wait_and_count(void *context) {
    waiter *self = context;
    CHECK_INT_EQ(vow_await(self->promise, LONG_ENOUGH, NULL), VOW_FULFILLED);
    atomic_fetch_add(self->woken, 1);
    return NULL;
}

TEST("G11: all threads that wait for one promise are woken") {
    atomic_int woken = 0;
    vow_resolver *resolver;
    waiter shared = {vow_promise_create(&resolver), &woken};
    pthread_t threads[16];
    for (int i = 0; i < 16; i++) {
        threads[i] = start_thread(wait_and_count, &shared);
    }
    usleep(30000);
    CHECK_INT_EQ(atomic_load(&woken), 0);
    CHECK(vow_resolve(resolver, vow_int(1)));
    for (int i = 0; i < 16; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK_INT_EQ(atomic_load(&woken), 16);
    vow_resolver_release(resolver);
    vow_promise_release(shared.promise);
}

TEST("a wait that timed out leaves nothing behind on the promise") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_statistics before = harness_stats();
    for (int i = 0; i < 200; i++) {
        CHECK_INT_EQ(vow_await(promise, 1000, NULL), VOW_PENDING);
    }
    CHECK_INT_EQ(harness_stats().bytes, before.bytes);
    CHECK_INT_EQ(harness_stats().handlers, before.handlers);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), 1);
}

/* What a handler that waits for a promise got; it gives the answer of vow_await. */
static vow_value await_promise(vow_value input, void *context) {
    (void)input;
    return vow_int(vow_await(*(vow_promise **)context, VOW_FOREVER, NULL));
}

/* Registers work on the executor that the context is, and waits for it. */
static vow_value await_direct(vow_value input, void *context) {
    (void)input;
    vow_promise *later = then_on(context, fulfilled_int(1), add_one, NULL);
    vow_value out = vow_int(9);
    int answer = vow_await(later, VOW_FOREVER, &out);
    CHECK(answer >= 0 || out.kind == VOW_NONE);
    vow_promise_release(later);
    return vow_int(answer);
}

TEST("G11: a serial executor may not wait for work that must run there") {
    vow_executor *serial = vow_executor_serial("deadlock");
    CHECK_INT_EQ(int_of(vow_async(serial, await_direct, serial)), VOW_EDEADLOCK);
    CHECK_INT_EQ(int_of(then_on(serial, fulfilled_int(1), await_direct, serial)), VOW_EDEADLOCK);
    vow_executor_release(serial);
}

TEST("G11: a handler may not wait for its own result, on any executor") {
    vow_executor *executors[3] = {vow_executor_inline(), vow_executor_pool(),
                                  vow_executor_serial("own")};
    for (int i = 0; i < 3; i++) {
        vow_resolver *resolver;
        vow_promise *own = NULL;
        own = then_on(executors[i], vow_promise_create(&resolver), await_promise, &own);
        CHECK(vow_resolve(resolver, vow_int(1)));
        vow_resolver_release(resolver);
        CHECK_INT_EQ(int_of(own), VOW_EDEADLOCK);
    }
    vow_executor_release(executors[2]);
}

TEST("G11: nor for a promise that is made from its own result") {
    vow_resolver *resolver;
    vow_promise *after = NULL;
    vow_promise *own =
        then_on(vow_executor_pool(), vow_promise_create(&resolver), await_promise, &after);
    after = then_on(vow_executor_pool(), vow_promise_retain(own), add_one, NULL);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(own), VOW_EDEADLOCK);
    CHECK_INT_EQ(int_of(after), VOW_EDEADLOCK + 1);
}

TEST("inline handlers that only the waiting thread could run are run by it") {
    CHECK_INT_EQ(int_of(vow_async(vow_executor_inline(), await_direct, vow_executor_inline())),
                 VOW_FULFILLED);
    CHECK_INT_EQ(int_of(vow_async(vow_executor_pool(), await_direct, vow_executor_inline())),
                 VOW_FULFILLED);
}

TEST("an inline handler may wait for what another thread settles") {
    settler other = {NULL, vow_int(1), 30};
    vow_promise *promise = vow_promise_create(&other.resolver);
    pthread_t thread = start_thread(settle_after, &other);
    CHECK_INT_EQ(int_of(vow_async(vow_executor_inline(), await_promise, &promise)), VOW_FULFILLED);
    pthread_join(thread, NULL);
    vow_promise_release(promise);
}
