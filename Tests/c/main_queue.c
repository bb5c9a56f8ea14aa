/* Tests the main executor: the tests run on a thread beside a main queue that is served. Link with
 * -ldispatch, the same libdispatch that the library uses.
 *
 * The main thread is a run loop, not dispatch_main: that one lets the main thread exit, and waits
 * with a constant signal mask that valgrind writes to. */
#define HARNESS_OWN_MAIN
#include "dispatch.h"
#include "tools.h"
#include <poll.h>

static atomic_int inside;

static vow_value alone(vow_value input, void *context) {
    CHECK_INT_EQ(atomic_fetch_add(&inside, 1), 0);
    CHECK(vow_executor_current() == vow_executor_main());
    atomic_fetch_add(&((counter *)context)->runs, 1);
    usleep(200);
    atomic_fetch_sub(&inside, 1);
    return vow_value_retain(input);
}

TEST("handlers on the main executor run on the main queue, one at a time") {
    counter seen = {0};
    vow_promise *all[30];
    for (int i = 0; i < 30; i++) {
        all[i] = then_on(vow_executor_main(), fulfilled_int(i), alone, &seen);
    }
    for (int i = 0; i < 30; i++) {
        CHECK_INT_EQ(int_of(all[i]), i);
    }
    CHECK_INT_EQ(atomic_load(&seen.runs), 30);
}

static void own_work(void *context) {
    CHECK_INT_EQ(atomic_fetch_add(&inside, 1), 0);
    usleep(200);
    atomic_fetch_sub(&inside, 1);
    atomic_fetch_add((atomic_int *)context, 1);
}

TEST("the main executor shares the main queue with work of the program") {
    counter seen = {0};
    atomic_int done = 0;
    for (int i = 0; i < 20; i++) {
        dispatch_async_f(&_dispatch_main_q, &done, own_work);
        vow_promise_release(then_on(vow_executor_main(), fulfilled_int(i), alone, &seen));
    }
    CHECK(reaches(&done, 20));
    CHECK(reaches(&seen.runs, 20));
}

TEST("G2: on the main executor handlers start in the order of registration") {
    journal seen = {0};
    entry entries[30];
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    for (int i = 0; i < 30; i++) {
        entries[i] = (entry){&seen, i};
        if (i == 15) {
            CHECK(vow_resolve(resolver, vow_int(1)));
        }
        vow_promise_release(
            then_on(vow_executor_main(), vow_promise_retain(promise), entry_write, &entries[i]));
    }
    CHECK(reaches(&seen.count, 30));
    journal_counts_to(&seen, 30);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}

static vow_value name_thread(vow_value input, void *context) {
    (void)input;
    *(pthread_t *)context = pthread_self();
    return vow_none();
}

TEST("with a run loop the main executor is one thread, the same for every handler") {
    pthread_t first = pthread_self();
    pthread_t second = pthread_self();
    CHECK_INT_EQ(code_of(vow_async(vow_executor_main(), name_thread, &first)), 0);
    CHECK_INT_EQ(code_of(vow_async(vow_executor_main(), name_thread, &second)), 0);
    CHECK(pthread_equal(first, second) && !pthread_equal(first, pthread_self()));
}

static vow_value wait_for_main(vow_value input, void *context) {
    (void)input;
    (void)context;
    vow_promise *later = then_on(vow_executor_main(), fulfilled_int(1), add_one, NULL);
    int answer = vow_await(later, VOW_FOREVER, NULL);
    vow_promise_release(later);
    return vow_int(answer);
}

TEST("G11: a handler on the main queue may not wait for work that must run there") {
    CHECK_INT_EQ(int_of(vow_async(vow_executor_main(), wait_for_main, NULL)), VOW_EDEADLOCK);
    CHECK_INT_EQ(int_of(vow_async(vow_executor_pool(), wait_for_main, NULL)), VOW_FULFILLED);
}

static void wait_outside_of_handlers(void *context) {
    vow_value answer = wait_for_main(vow_none(), NULL);
    atomic_store((atomic_int *)context, 100 + (int)answer.as.integer);
}

TEST("G11: nor may the main thread wait for it outside of handlers") {
    atomic_int answer = 0;
    dispatch_async_f(&_dispatch_main_q, &answer, wait_outside_of_handlers);
    CHECK(reaches(&answer, 1));
    CHECK_INT_EQ(atomic_load(&answer), 100 + VOW_EDEADLOCK);
}

static void *run_tests(void *context) {
    exit(harness_main(context));
}

int main(int count, char **arguments) {
    struct pollfd queue = {_dispatch_get_main_queue_handle_4CF(), POLLIN, 0};
    pthread_detach(start_thread(run_tests, count > 1 ? arguments[1] : NULL));
    for (;;) {
        uint64_t wakes;
        if (poll(&queue, 1, -1) == 1 && read(queue.fd, &wakes, sizeof wakes) > 0) {
            _dispatch_main_queue_callback_4CF(NULL);
        }
    }
}
