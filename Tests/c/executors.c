/* Tests chapter 6, where handlers run: the executors that need no queue of the program. */
#include "worker.h"

/* What a handler saw of the place where it ran. */
typedef struct place {
    atomic_int runs;
    pthread_t thread;
    vow_executor *current;
} place;

static vow_value look_around(vow_value input, void *context) {
    place *self = context;
    self->thread = pthread_self();
    self->current = vow_executor_current();
    atomic_fetch_add(&self->runs, 1);
    return vow_value_retain(input);
}

static bool here(const place *seen) {
    return pthread_equal(seen->thread, pthread_self()) != 0;
}

TEST("the built-in executors are always the same ones") {
    CHECK(vow_executor_inline() != NULL && vow_executor_inline() == vow_executor_inline());
    CHECK(vow_executor_pool() != NULL && vow_executor_pool() == vow_executor_pool());
    CHECK(vow_executor_main() != NULL && vow_executor_main() == vow_executor_main());
    CHECK(vow_executor_inline() != vow_executor_pool());
    CHECK(vow_executor_pool() != vow_executor_main());
}

TEST("built-in executors are immortal: retaining and releasing them changes nothing") {
    for (int i = 0; i < 10; i++) {
        vow_executor_release(vow_executor_inline());
        vow_executor_release(vow_executor_pool());
        vow_executor_release(vow_executor_main());
    }
    CHECK(vow_executor_retain(vow_executor_pool()) == vow_executor_pool());
    CHECK_INT_EQ(int_of(then_inline(fulfilled_int(1), add_one, NULL)), 2);
    CHECK_INT_EQ(int_of(then_on(vow_executor_pool(), fulfilled_int(1), add_one, NULL)), 2);
}

TEST("the inline executor runs on the settling or registering thread, before the call returns") {
    place seen = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise_release(then_inline(vow_promise_retain(promise), look_around, &seen));
    CHECK_INT_EQ(atomic_load(&seen.runs), 0);
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK_INT_EQ(atomic_load(&seen.runs), 1);
    CHECK(here(&seen) && seen.current == vow_executor_inline());
    vow_resolver_release(resolver);
    vow_promise_release(then_inline(promise, look_around, &seen));
    CHECK_INT_EQ(atomic_load(&seen.runs), 2);
}

TEST("the default is the pool, on threads of its own") {
    place seen = {0};
    CHECK(vow_executor_current() == vow_executor_pool());
    CHECK_INT_EQ(int_of(vow_then(fulfilled_int(1), look_around, &seen)), 1);
    CHECK(!here(&seen) && seen.current == vow_executor_pool());
}

static vow_value meet(vow_value input, void *context) {
    (void)input;
    atomic_fetch_add((atomic_int *)context, 1);
    return vow_bool(reaches(context, 2));
}

TEST("handlers on the pool run in parallel") {
    atomic_int met = 0;
    vow_promise *first = vow_async(vow_executor_pool(), meet, &met);
    vow_promise *second = vow_async(vow_executor_pool(), meet, &met);
    vow_value out;
    CHECK_INT_EQ(vow_await(first, LONG_ENOUGH, &out), VOW_FULFILLED);
    CHECK(out.as.boolean);
    CHECK_INT_EQ(vow_await(second, LONG_ENOUGH, &out), VOW_FULFILLED);
    CHECK(out.as.boolean);
    vow_promise_release(first);
    vow_promise_release(second);
}

static vow_value register_without_executor(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(vow_then(fulfilled_int(1), look_around, context));
}

TEST("inside a handler, reactions without an executor run on that handler's") {
    worker thread;
    worker_start(&thread);
    vow_executor *executors[4] = {vow_executor_inline(), vow_executor_pool(),
                                  vow_executor_serial(NULL),
                                  vow_executor_custom(&worker_class, &thread)};
    for (int i = 0; i < 4; i++) {
        place seen = {0};
        CHECK_INT_EQ(int_of(vow_async(executors[i], register_without_executor, &seen)), 1);
        CHECK(seen.current == executors[i]);
    }
    vow_executor_release(executors[2]);
    vow_executor_release(executors[3]);
    worker_stop(&thread);
}

TEST("the default can be changed, and NULL makes it the pool again") {
    place seen = {0};
    vow_executor *serial = vow_executor_serial("default");
    vow_executor_set_default(serial);
    CHECK(vow_executor_current() == serial);
    CHECK_INT_EQ(int_of(vow_then(fulfilled_int(1), look_around, &seen)), 1);
    CHECK(seen.current == serial);
    vow_executor_set_default(vow_executor_inline());
    CHECK_INT_EQ(int_of(vow_then(fulfilled_int(1), look_around, &seen)), 1);
    CHECK(here(&seen) && seen.current == vow_executor_inline());
    vow_executor_set_default(NULL);
    CHECK(vow_executor_current() == vow_executor_pool());
    vow_executor_release(serial);
}

TEST("the default is kept: it may be released by who set it") {
    place seen = {0};
    vow_executor *serial = vow_executor_serial("default");
    vow_executor_set_default(serial);
    vow_executor_release(serial);
    CHECK_INT_EQ(int_of(vow_then(fulfilled_int(1), look_around, &seen)), 1);
    CHECK(seen.current == serial);
    vow_executor_set_default(NULL);
}

TEST("work runs although its executor was released") {
    counter seen = {0};
    vow_executor *serial = vow_executor_serial(NULL);
    vow_resolver *resolver;
    vow_promise *promise = then_on(serial, vow_promise_create(&resolver), counter_run, &seen);
    vow_executor_release(serial);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), 1);
    CHECK_INT_EQ(atomic_load(&seen.runs), 1);
}

TEST("a custom executor gets one piece of work per run and is destroyed once, at the end") {
    worker thread;
    worker_start(&thread);
    place seen = {0};
    vow_executor *executor = vow_executor_custom(&worker_class, &thread);
    CHECK_INT_EQ(int_of(vow_async(executor, look_around, &seen)), INT64_MIN);
    CHECK(pthread_equal(seen.thread, thread.thread));
    CHECK(seen.current == executor);
    vow_promise *last = vow_async(executor, look_around, &seen);
    vow_executor_release(executor);
    CHECK_INT_EQ(code_of(last), 0);
    CHECK(reaches(&thread.destroyed, 1));
    CHECK_INT_EQ(atomic_load(&seen.runs), 2);
    worker_stop(&thread);
    CHECK_INT_EQ(atomic_load(&thread.destroyed), 1);
}

/* Registers without an executor from outside of any handler, on the worker's own thread. */
typedef struct visit {
    place seen;
    vow_executor *current;
    atomic_int done;
} visit;

static void visit_run(void *work) {
    visit *self = work;
    self->current = vow_executor_current();
    vow_promise_release(vow_then(fulfilled_int(1), look_around, &self->seen));
    atomic_store(&self->done, 1);
}

TEST("a thread that current claims is on its executor, outside of handlers too") {
    worker threads[2];
    vow_executor *executors[2];
    for (int i = 0; i < 2; i++) {
        worker_start(&threads[i]);
        executors[i] = vow_executor_custom(&worker_class, &threads[i]);
    }
    for (int i = 0; i < 2; i++) {
        visit all;
        memset(&all, 0, sizeof all);
        place handler = {0};
        vow_promise *first = vow_async(executors[i], look_around, &handler);
        CHECK_INT_EQ(code_of(first), 0);
        worker_submit(&threads[i], visit_run, &all);
        CHECK(reaches(&all.done, 1));
        CHECK(reaches(&all.seen.runs, 1));
        CHECK(handler.current == executors[i]);
        CHECK(all.current == executors[i]);
        CHECK(all.seen.current == executors[i]);
    }
    for (int i = 0; i < 2; i++) {
        vow_executor_release(executors[i]);
        worker_stop(&threads[i]);
    }
}

static void run_at_once(void *context, void (*run)(void *work), void *work) {
    atomic_fetch_add((atomic_int *)context, 1);
    run(work);
}

TEST("an executor may run its work inside submit, and chains on it work") {
    static const vow_executor_class at_once = {sizeof(vow_executor_class), run_at_once, NULL, NULL,
                                               VOW_SERIAL};
    atomic_int submitted = 0;
    vow_executor *executor = vow_executor_custom(&at_once, &submitted);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    for (int i = 0; i < 10; i++) {
        promise = then_on(executor, promise, add_one, NULL);
    }
    CHECK(vow_resolve(resolver, vow_int(0)));
    CHECK_INT_EQ(vow_promise_state(promise), VOW_FULFILLED);
    CHECK_INT_EQ(int_of(promise), 10);
    CHECK(atomic_load(&submitted) > 0);
    vow_resolver_release(resolver);
    vow_executor_release(executor);
}

static vow_value async_again(vow_value input, void *context) {
    (void)input;
    int *left = context;
    if (--*left == 0) {
        return vow_int(5);
    }
    return vow_from_promise(vow_async(NULL, async_again, left));
}

TEST("async in async a thousand times stays on its executor and ends") {
    int left = 1000;
    vow_executor *serial = vow_executor_serial("again");
    CHECK_INT_EQ(int_of(vow_async(serial, async_again, &left)), 5);
    vow_executor_release(serial);
}
