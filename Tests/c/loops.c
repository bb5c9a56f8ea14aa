/* Tests loops: running them, waking them, their descriptors. */
#include "loop_tools.h"

TEST("a handler given to a loop runs in run_once, on that thread and no sooner") {
    vow_loop *loop = vow_loop_create();
    place seen = {0};
    CHECK(loop != NULL && vow_loop_executor(loop) != NULL && vow_loop_fd(loop) >= 0);
    CHECK(!is_readable(loop));
    vow_promise *promise = vow_async(vow_loop_executor(loop), look_around, &seen);
    CHECK_INT_EQ(atomic_load(&seen.runs), 0);
    CHECK(is_readable(loop));
    CHECK_INT_EQ(vow_loop_run_once(loop, 0), 1);
    CHECK_INT_EQ(atomic_load(&seen.runs), 1);
    CHECK(pthread_equal(seen.thread, pthread_self()) != 0);
    CHECK(seen.current == vow_loop_executor(loop));
    CHECK(!is_readable(loop));
    CHECK_INT_EQ(vow_loop_run_once(loop, 0), 0);
    vow_promise_release(promise);
    vow_loop_destroy(loop);
}

TEST("reactions that are made on the loop's thread run on the loop, until it is destroyed") {
    vow_executor *before = vow_executor_current();
    vow_loop *loop = vow_loop_create();
    CHECK(vow_executor_current() == vow_loop_executor(loop));
    place seen = {0};
    vow_promise *promise = vow_then(fulfilled_int(1), look_around, &seen);
    CHECK_INT_EQ(vow_loop_run_until(loop, promise, LONG_ENOUGH), VOW_FULFILLED);
    CHECK(seen.current == vow_loop_executor(loop));
    vow_promise_release(promise);
    vow_loop *inner = vow_loop_create();
    CHECK(vow_executor_current() == vow_loop_executor(inner));
    vow_loop_destroy(inner);
    CHECK(vow_executor_current() == vow_loop_executor(loop));
    vow_loop_destroy(loop);
    CHECK(vow_executor_current() == before);
}

/* NULL in a way that compilers do not refuse as an argument that must not be NULL. */
static vow_loop *no_loop;
static vow_promise *no_promise;

TEST("bad input") {
    vow_loop *loop = vow_loop_create();
    vow_promise *promise = fulfilled_int(1);
    CHECK(vow_loop_executor(no_loop) == NULL);
    CHECK_INT_EQ(vow_loop_fd(no_loop), VOW_EINVAL);
    CHECK_INT_EQ(vow_loop_run_once(no_loop, 0), VOW_EINVAL);
    CHECK_INT_EQ(vow_loop_run_once(loop, -2), VOW_EINVAL);
    CHECK_INT_EQ(vow_loop_run_until(no_loop, promise, 0), VOW_EINVAL);
    CHECK_INT_EQ(vow_loop_run_until(loop, no_promise, 0), VOW_EINVAL);
    CHECK_INT_EQ(vow_loop_run_until(loop, promise, -2), VOW_EINVAL);
    CHECK_INT_EQ(vow_loop_advance(no_loop, 1), VOW_EINVAL);
    CHECK_INT_EQ(vow_loop_advance(loop, 1), VOW_EINVAL);
    vow_loop_wake(NULL);
    vow_loop_destroy(NULL);
    vow_promise_release(promise);
    vow_loop_destroy(loop);
}

TEST("an idle loop's descriptor stays quiet, and its thread sleeps") {
    vow_loop *loop = vow_loop_create();
    struct pollfd one = {vow_loop_fd(loop), POLLIN, 0};
    CHECK_INT_EQ(poll(&one, 1, 100), 0);
    /* It sleeps, and in one piece: how often, is what the system counts. */
    struct rusage before;
    struct rusage after;
    getrusage(RUSAGE_THREAD, &before);
    int64_t start = now_ns();
    CHECK_INT_EQ(vow_loop_run_once(loop, 200 * MILLISECOND), 0);
    getrusage(RUSAGE_THREAD, &after);
    CHECK(now_ns() - start >= 200 * MILLISECOND);
    long sleeps = after.ru_nvcsw - before.ru_nvcsw;
    CHECK(sleeps >= 1 && sleeps <= 10 * slowness());
    vow_loop_destroy(loop);
}

TEST("one run has a bound, and the descriptor says that more is left") {
    vow_loop *loop = vow_loop_create();
    atomic_int left = 2000;
    vow_promise_release(vow_async(NULL, hand_on, &left));
    int runs = 0;
    int handlers = 0;
    while (atomic_load(&left) > 0 && runs < 100) {
        CHECK(is_readable(loop));
        handlers += vow_loop_run_once(loop, VOW_FOREVER);
        runs++;
    }
    CHECK(runs > 1);
    CHECK_INT_EQ(handlers, 2000);
    CHECK(!is_readable(loop));
    vow_loop_destroy(loop);
}

static void *wake_later(void *context) {
    usleep(20000);
    vow_loop_wake(context);
    return NULL;
}

TEST("a wake makes a waiting run return 0, or else the next one") {
    vow_loop *loop = vow_loop_create();
    pthread_t thread = start_thread(wake_later, loop);
    CHECK_INT_EQ(vow_loop_run_once(loop, LONG_ENOUGH), 0);
    pthread_join(thread, NULL);
    CHECK(!is_readable(loop));
    vow_loop_wake(loop);
    vow_loop_wake(loop);
    CHECK(is_readable(loop));
    CHECK_INT_EQ(vow_loop_run_once(loop, VOW_FOREVER), 0);
    CHECK(!is_readable(loop));
    CHECK_INT_EQ(vow_loop_run_once(loop, MILLISECOND), 0);
    vow_loop_destroy(loop);
}

static vow_loop *interrupted;

static void on_signal(int number) {
    (void)number;
    int before = errno;
    errno = 77;
    vow_loop_wake(interrupted);
    if (errno != 77) {
        abort();
    }
    errno = before;
}

TEST("a wake from a signal handler") {
    struct sigaction action;
    struct sigaction before;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    interrupted = vow_loop_create();
    sigaction(SIGUSR1, &action, &before);
    struct itimerval soon = {{0, 0}, {0, 20000}};
    struct sigaction alarm_before;
    sigaction(SIGVTALRM, &action, &alarm_before);
    CHECK_INT_EQ(raise(SIGUSR1), 0);
    CHECK_INT_EQ(vow_loop_run_once(interrupted, VOW_FOREVER), 0);
    setitimer(ITIMER_VIRTUAL, &soon, NULL);
    while (!is_readable(interrupted)) {
    }
    CHECK_INT_EQ(vow_loop_run_once(interrupted, VOW_FOREVER), 0);
    sigaction(SIGUSR1, &before, NULL);
    sigaction(SIGVTALRM, &alarm_before, NULL);
    vow_loop_destroy(interrupted);
}

TEST("run_until waits for work of another thread, without spinning") {
    vow_loop *loop = vow_loop_create();
    vow_promise *promise = vow_async(vow_executor_pool(), sleep_a_bit, NULL);
    CHECK_INT_EQ(vow_loop_run_until(loop, promise, LONG_ENOUGH), VOW_FULFILLED);
    CHECK(!is_readable(loop));
    vow_promise_release(promise);
    for (int i = 0; i < 2000 / slowness(); i++) {
        CHECK_INT_EQ(int_of(then_on(vow_executor_pool(), fulfilled_int(i), add_one, NULL)), i + 1);
    }
    CHECK(!is_readable(loop));
    vow_loop_destroy(loop);
}

TEST("run_until: time-out, rejection, a promise that is settled already") {
    vow_loop *loop = vow_loop_create();
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK_INT_EQ(vow_loop_run_until(loop, promise, 0), VOW_PENDING);
    int64_t start = now_ns();
    CHECK_INT_EQ(vow_loop_run_until(loop, promise, 10 * MILLISECOND), VOW_PENDING);
    CHECK(now_ns() - start >= 10 * MILLISECOND);
    CHECK_INT_EQ(vow_await(promise, MILLISECOND, NULL), VOW_PENDING);
    vow_reject(resolver, vow_int(1));
    CHECK_INT_EQ(vow_loop_run_until(loop, promise, 0), VOW_REJECTED);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    vow_loop_destroy(loop);
}

TEST("vow_await runs the loop of its thread") {
    vow_loop *loop = vow_loop_create();
    vow_promise *promise = fulfilled_int(0);
    for (int i = 0; i < 1000; i++) {
        promise = vow_then(promise, add_one, NULL);
    }
    CHECK_INT_EQ(int_of(promise), 1000);
    vow_loop_destroy(loop);
}

static vow_value resolve_it(vow_value input, void *context) {
    vow_resolve(context, vow_value_retain(input));
    return vow_none();
}

TEST("inline handlers of the loop's work run before run_once returns") {
    vow_loop *loop = vow_loop_create();
    vow_resolver *resolver;
    place seen = {0};
    vow_promise *promise = then_inline(vow_promise_create(&resolver), look_around, &seen);
    vow_promise_release(vow_then(fulfilled_int(1), resolve_it, resolver));
    CHECK_INT_EQ(vow_loop_run_once(loop, VOW_FOREVER), 1);
    CHECK_INT_EQ(atomic_load(&seen.runs), 1);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    vow_loop_destroy(loop);
}

TEST("an executor as the default lets other threads reach the loop") {
    vow_loop *loop = vow_loop_create();
    place seen = {0};
    vow_executor_set_default(vow_loop_executor(loop));
    vow_promise *promise =
        vow_then(then_on(vow_executor_pool(), fulfilled_int(1), add_one, NULL), look_around, &seen);
    CHECK_INT_EQ(vow_loop_run_until(loop, promise, LONG_ENOUGH), VOW_FULFILLED);
    CHECK(pthread_equal(seen.thread, pthread_self()) != 0);
    vow_promise_release(promise);
    vow_executor_set_default(NULL);
    vow_loop_destroy(loop);
}

TEST(
    "what is cancelled in a loop's queue does not run, and its context goes with the loop's turn") {
    vow_loop *loop = vow_loop_create();
    counter context = {0};
    vow_promise *kept[3];
    for (int i = 0; i < 3; i++) {
        kept[i] = link_full(NULL, fulfilled_int(1), counter_run, NULL, &context, counter_end);
    }
    CHECK(vow_cancel(kept[1]));
    CHECK_INT_EQ(vow_promise_state(kept[1]), VOW_REJECTED);
    CHECK(vow_loop_run_once(loop, VOW_FOREVER) >= 2);
    CHECK_INT_EQ(atomic_load(&context.runs), 2);
    CHECK_INT_EQ(atomic_load(&context.ends), 3);
    CHECK_INT_EQ(code_of(kept[0]), 0);
    CHECK_INT_EQ(code_of(kept[1]), VOW_ECANCELLED);
    CHECK_INT_EQ(code_of(kept[2]), 0);
    kept[0] = link_full(NULL, fulfilled_int(1), counter_run, NULL, &context, counter_end);
    CHECK(vow_cancel(kept[0]));
    vow_loop_destroy(loop);
    CHECK_INT_EQ(atomic_load(&context.ends), 4);
    CHECK_INT_EQ(code_of(kept[0]), VOW_ECANCELLED);
}
