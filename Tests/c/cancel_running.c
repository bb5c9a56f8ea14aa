/* Tests cancelling what runs, waits for its executor, or is waited for. */
#include "cancel_tools.h"

static vow_value give_promise(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(context);
}

TEST("a chain that nobody holds runs to its end, and so does what its handlers begin") {
    vow_resolver *first, *second;
    hook told = {0};
    vow_promise *inner = hooked(&second, &told);
    vow_promise_release(then_inline(vow_promise_create(&first), give_promise, inner));
    CHECK(vow_resolve(first, vow_none()));
    hook_is(&told, 0, 0);
    CHECK(vow_resolve(second, vow_int(1)));
    hook_is(&told, 0, 1);
    vow_resolver_release(first);
    vow_resolver_release(second);
}

/* A handler that cancels its own promise, or another one, while it runs. */
typedef struct self_cancel {
    vow_promise *promise;
    bool answer;
} self_cancel;

static vow_value cancel_it(vow_value input, void *context) {
    self_cancel *self = context;
    self->answer = vow_cancel(self->promise);
    return vow_value_retain(input);
}

TEST("a handler may cancel a sibling that has been handed over and not begun") {
    vow_resolver *resolver;
    self_cancel self = {0};
    counter sibling = {0};
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise *first = then_inline(vow_promise_retain(promise), cancel_it, &self);
    self.promise = counted(vow_executor_inline(), vow_promise_retain(promise), &sibling);
    vow_promise *third = then_inline(promise, add_one, NULL);
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK(self.answer);
    is_cancelled(self.promise);
    hook_is(&sibling, 0, 1);
    CHECK_INT_EQ(int_of(third), 2);
    vow_resolver_release(resolver);
    vow_promise_release(first);
    vow_promise_release(self.promise);
}

typedef struct gate {
    atomic_int entered;
    atomic_int open;
} gate;

static vow_value wait_at_gate(vow_value input, void *context) {
    gate *self = context;
    atomic_store(&self->entered, 1);
    CHECK(reaches(&self->open, 1));
    return vow_value_retain(input);
}

/* Waits until the handlers that the test let go of have ended: so many promises are alive. */
static bool are_alive(uint64_t wanted) {
    vow_statistics now;
    int64_t limit = now_ns() + LONG_ENOUGH;
    now.size = sizeof now;
    do {
        CHECK_INT_EQ(vow_stats(&now), 0);
        usleep(200);
    } while (now.live != wanted && now_ns() < limit);
    return CHECK_INT_EQ(now.live, wanted);
}

TEST("G14: a handler that runs elsewhere ends first, and its promise is rejected then") {
    vow_executor *executors[2] = {vow_executor_pool(), vow_executor_serial("cancel")};
    static gate gates[2];
    for (int i = 0; i < 2; i++) {
        vow_promise *promise = then_on(executors[i], fulfilled_int(1), wait_at_gate, &gates[i]);
        CHECK(reaches(&gates[i].entered, 1));
        CHECK(vow_cancel(promise));
        CHECK(!vow_cancel(promise));
        CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
        atomic_store(&gates[i].open, 1);
        CHECK_INT_EQ(vow_await(promise, VOW_FOREVER, NULL), VOW_REJECTED);
        is_cancelled(promise);
        vow_promise_release(promise);
        are_alive(0);
    }
    vow_executor_release(executors[1]);
}

TEST("what waits for its executor is rejected there, and its context is destroyed before") {
    worker thread;
    vow_executor *executors[2] = {vow_executor_serial("busy"), NULL};
    worker_start(&thread);
    executors[1] = vow_executor_custom(&worker_class, &thread);
    for (int i = 0; i < 2; i++) {
        gate at = {0};
        counter late = {0};
        vow_promise *busy = then_on(executors[i], fulfilled_int(1), wait_at_gate, &at);
        CHECK(reaches(&at.entered, 1));
        vow_promise *promise = counted(executors[i], fulfilled_int(1), &late);
        vow_promise *after = then_on(executors[i], fulfilled_int(1), add_one, NULL);
        CHECK(vow_cancel(promise));
        CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
        hook_is(&late, 0, 0);
        atomic_store(&at.open, 1);
        CHECK_INT_EQ(int_of(after), 2);
        hook_is(&late, 0, 1);
        is_cancelled(promise);
        vow_promise_release(promise);
        CHECK_INT_EQ(int_of(busy), 1);
        vow_executor_release(executors[i]);
    }
    worker_stop(&thread);
}

static void *wait_for_it(void *context) {
    return (void *)(intptr_t)code_of(vow_promise_retain(context));
}

TEST("cancelling wakes a thread that waits") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    pthread_t thread = start_thread(wait_for_it, promise);
    usleep(20000);
    CHECK(vow_cancel(promise));
    void *code = NULL;
    pthread_join(thread, &code);
    CHECK_INT_EQ((intptr_t)code, VOW_ECANCELLED);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}
