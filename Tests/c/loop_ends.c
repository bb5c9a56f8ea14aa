/* Tests the end of loops: destroyed with work queued, by their own handlers, in forked children. */
#include "child.h"
#include "loop_tools.h"

static vow_value destroy_inside(vow_value input, void *context) {
    nested *self = context;
    (void)input;
    vow_loop_destroy(self->loop);
    self->answer = (int)vow_promise_state(self->awaited);
    CHECK(vow_executor_current() == vow_loop_executor(self->loop));
    return vow_int(3);
}

TEST("destroying rejects what is queued with VOW_ESHUTDOWN, and destroys the contexts") {
    vow_loop *loop = vow_loop_create();
    vow_executor *executor = vow_executor_retain(vow_loop_executor(loop));
    counter context = {0};
    vow_promise *queued[100];
    for (int i = 0; i < 100; i++) {
        queued[i] = link_full(executor, fulfilled_int(i), counter_run, NULL, &context, counter_end);
    }
    vow_loop_destroy(loop);
    CHECK_INT_EQ(atomic_load(&context.runs), 0);
    CHECK_INT_EQ(atomic_load(&context.ends), 100);
    for (int i = 0; i < 100; i++) {
        CHECK_INT_EQ(vow_promise_state(queued[i]), VOW_REJECTED);
        CHECK_INT_EQ(code_of(queued[i]), VOW_ESHUTDOWN);
    }
    CHECK_INT_EQ(code_of(then_on(executor, fulfilled_int(1), counter_run, &context)),
                 VOW_ESHUTDOWN);
    CHECK_INT_EQ(code_of(vow_async(executor, counter_run, &context)), VOW_ESHUTDOWN);
    vow_executor_release(executor);
}

TEST("a loop destroyed by its own handler: the handler ends, the run says VOW_ESHUTDOWN") {
    vow_loop *loop = vow_loop_create();
    counter context = {0};
    nested self = {.loop = loop};
    vow_promise *first = vow_async(NULL, destroy_inside, &self);
    self.awaited = link_full(NULL, fulfilled_int(1), counter_run, NULL, &context, counter_end);
    CHECK_INT_EQ(vow_loop_run_once(loop, LONG_ENOUGH), VOW_ESHUTDOWN);
    CHECK_INT_EQ(self.answer, VOW_REJECTED);
    CHECK_INT_EQ(atomic_load(&context.runs), 0);
    CHECK_INT_EQ(atomic_load(&context.ends), 1);
    CHECK_INT_EQ(int_of(first), 3);
    CHECK_INT_EQ(code_of(self.awaited), VOW_ESHUTDOWN);
}

TEST("the same in run_until and vow_await") {
    vow_loop *loop = vow_loop_create();
    vow_resolver *resolver;
    vow_promise *never = vow_promise_create(&resolver);
    nested self = {.loop = loop, .awaited = never};
    vow_promise_release(vow_async(NULL, destroy_inside, &self));
    CHECK_INT_EQ(vow_loop_run_until(loop, never, LONG_ENOUGH), VOW_ESHUTDOWN);
    loop = vow_loop_create();
    self.loop = loop;
    vow_promise_release(vow_async(NULL, destroy_inside, &self));
    CHECK_INT_EQ(vow_await(never, 50 * MILLISECOND, NULL), VOW_PENDING);
    vow_resolver_release(resolver);
    vow_promise_release(never);
}

static void *submit_until_refused(void *context) {
    sender *self = context;
    while (self->refused == 0) {
        vow_promise *promise = then_on(self->executor, fulfilled_int(0), add_one, NULL);
        vow_value out = vow_none();
        if (vow_promise_peek(promise, &out) && out.kind == VOW_ERROR) {
            self->refused = vow_error_code(out);
        }
        vow_promise_release(promise);
    }
    vow_executor_release(self->executor);
    return NULL;
}

static void ignore_unhandled(vow_value error, void *context) {
    (void)error;
    (void)context;
}

TEST("loops destroyed while other threads submit") {
    vow_on_unhandled(ignore_unhandled, NULL);
    for (int round = 0; round < many_of(40, 300) + 1; round++) {
        vow_loop *loop = vow_loop_create();
        sender senders[3];
        pthread_t threads[3];
        memset(senders, 0, sizeof senders);
        for (int i = 0; i < 3; i++) {
            senders[i].executor = vow_executor_retain(vow_loop_executor(loop));
            threads[i] = start_thread(submit_until_refused, &senders[i]);
        }
        for (int i = 0; i < round % 5; i++) {
            vow_loop_run_once(loop, MILLISECOND);
        }
        vow_loop_destroy(loop);
        for (int i = 0; i < 3; i++) {
            pthread_join(threads[i], NULL);
            CHECK_INT_EQ(senders[i].refused, VOW_ESHUTDOWN);
        }
    }
    vow_on_unhandled(NULL, NULL);
}

static void child_of_a_loop(void *given) {
    vow_loop *loop = given;
    counter context = {0};
    CHECK_INT_EQ(vow_loop_run_once(loop, 0), VOW_EFORKED);
    CHECK_INT_EQ(code_of(vow_async(NULL, counter_run, &context)), VOW_EFORKED);
    vow_loop_wake(loop);
    vow_loop_destroy(loop);
    vow_loop *own = vow_loop_create();
    CHECK_INT_EQ(int_of(vow_then(fulfilled_int(1), add_one, NULL)), 2);
    CHECK_INT_EQ(int_of(then_inline(fulfilled_int(1), add_one, NULL)), 2);
    vow_loop_destroy(own);
    CHECK_INT_EQ(atomic_load(&context.runs), 0);
}

TEST("in a forked child a loop can only be destroyed, and a new one works") {
    vow_loop *loop = vow_loop_create();
    place seen = {0};
    vow_promise *promise = vow_async(NULL, look_around, &seen);
    fork_part(child_of_a_loop, loop);
    CHECK(is_readable(loop));
    CHECK_INT_EQ(vow_loop_run_once(loop, VOW_FOREVER), 1);
    CHECK(!is_readable(loop));
    vow_promise_release(promise);
    vow_loop_destroy(loop);
}

static vow_value fork_inside(vow_value input, void *context) {
    vow_loop *loop = context;
    (void)input;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        CHECK_INT_EQ(vow_loop_run_once(loop, 0), VOW_EFORKED);
        return vow_bool(true);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 9);
    return vow_bool(false);
}

TEST("a handler that forks: in the child the run ends, in the parent it goes on") {
    vow_loop *loop = vow_loop_create();
    place seen = {0};
    pid_t parent = getpid();
    vow_promise *first = vow_async(NULL, fork_inside, loop);
    vow_promise *second = vow_async(NULL, look_around, &seen);
    int answer = vow_loop_run_once(loop, VOW_FOREVER);
    if (getpid() != parent) {
        CHECK_INT_EQ(answer, VOW_EFORKED);
        vow_loop_destroy(loop);
        CHECK_INT_EQ(code_of(second), VOW_ESHUTDOWN);
        _exit(atomic_load(&harness_failures) == 0 ? 9 : 1);
    }
    CHECK_INT_EQ(answer, 2);
    CHECK_INT_EQ(atomic_load(&seen.runs), 1);
    vow_promise_release(first);
    vow_promise_release(second);
    vow_loop_destroy(loop);
}
