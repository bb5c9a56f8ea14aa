/* Tests threads whose stack is hardly larger than the smallest that the system allows. */
#include "../c/worker.h"
#include <limits.h>

/* Twice the smallest, as the loader takes some of it when it binds a function at its first call.
 * Sanitizers take more. */
static size_t small(void) {
    size_t size = (size_t)sysconf(_SC_THREAD_STACK_MIN);
    return size * (slowness() > 1 ? 16 : 2);
}

static vow_value pass_promise(vow_value input, void *context) {
    (void)context;
    return vow_from_promise(vow_promise_with(vow_value_retain(input)));
}

/* A long chain that settles at once, on this thread. */
static void *chain(void *unused) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    for (int i = 0; i < 2000; i++) {
        promise = then_inline(promise, i % 10 == 0 ? pass_promise : add_one, NULL);
    }
    vow_resolve(resolver, vow_int(0));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), 1800);
    return unused;
}

/* A long chain that is dropped, and a value nested deep. */
static void *drop(void *unused) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_value value = vow_none();
    for (int i = 0; i < 2000; i++) {
        promise = then_inline(promise, add_one, NULL);
        value = vow_list(&value, 1);
    }
    vow_promise_release(catch_inline(promise, give_code, NULL));
    vow_resolver_release(resolver);
    vow_value_release(value);
    return unused;
}

static vow_executor *serial;

/* Work elsewhere, waited for here; and a wait inside a handler. */
static vow_value wait_inside(vow_value input, void *context) {
    vow_promise *work = then_on(serial, fulfilled_int(input.as.integer), add_one, context);
    return vow_int(int_of(work));
}

static void *wait_here(void *unused) {
    vow_promise *promise = vow_async(vow_executor_pool(), add_one, NULL);
    promise = then_inline(promise, wait_inside, NULL);
    promise = then_on(serial, promise, add_one, NULL);
    CHECK_INT_EQ(int_of(promise), 3);
    CHECK_INT_EQ(int_of(then_inline(fulfilled_int(4), wait_inside, NULL)), 5);
    return unused;
}

/* Promises that adopt one another, a long row, from the outside and from the inside. */
static void *adopt(void *unused) {
    for (int inwards = 0; inwards < 2; inwards++) {
        enum { COUNT = 500 };
        static _Thread_local vow_promise *promises[COUNT];
        static _Thread_local vow_resolver *resolvers[COUNT];
        for (int i = 0; i < COUNT; i++) {
            promises[i] = vow_promise_create(&resolvers[i]);
        }
        for (int i = 0; i + 1 < COUNT; i++) {
            int outer = inwards ? i : COUNT - 2 - i;
            vow_resolve(resolvers[outer],
                        vow_from_promise(vow_promise_retain(promises[outer + 1])));
        }
        vow_resolve(resolvers[COUNT - 1], vow_int(6));
        for (int i = 0; i < COUNT; i++) {
            vow_resolver_release(resolvers[i]);
            CHECK_INT_EQ(int_of(promises[i]), 6);
        }
    }
    return unused;
}

static void on_small_stack(void *(*run)(void *)) {
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK_INT_EQ(pthread_attr_init(&attributes), 0);
    CHECK_INT_EQ(pthread_attr_setstacksize(&attributes, small()), 0);
    if (CHECK_INT_EQ(pthread_create(&thread, &attributes, run, NULL), 0)) {
        pthread_join(thread, NULL);
    }
    pthread_attr_destroy(&attributes);
}

TEST("a thread with a small stack runs a long chain") {
    on_small_stack(chain);
}

TEST("a thread with a small stack drops what is long and deep") {
    on_small_stack(drop);
}

TEST("a thread with a small stack waits") {
    serial = vow_executor_serial("elsewhere");
    on_small_stack(wait_here);
    vow_executor_release(serial);
}

TEST("a thread with a small stack adopts far") {
    on_small_stack(adopt);
}
