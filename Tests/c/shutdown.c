/* Tests vow_shutdown. The shutdown is for good, so the tests stand in the order of its stages. */
#include "worker.h"

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

static vow_value shut_down_inside(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_int(vow_shutdown(VOW_FOREVER));
}

TEST("a negative time-out is refused, and so is a handler of the library's executors") {
    vow_executor *serial = vow_executor_serial("shutdown");
    CHECK_INT_EQ(vow_shutdown(-2), VOW_EINVAL);
    CHECK_INT_EQ(int_of(then_on(vow_executor_pool(), fulfilled_int(1), shut_down_inside, NULL)),
                 VOW_EDEADLOCK);
    CHECK_INT_EQ(int_of(then_on(serial, fulfilled_int(1), shut_down_inside, NULL)), VOW_EDEADLOCK);
    vow_executor_release(serial);
}

static gate block;

static void *open_soon(void *context) {
    usleep(50000);
    atomic_store(&((gate *)context)->open, 1);
    return NULL;
}

TEST("what was queued before runs, what comes later is refused, and the rest is broken") {
    vow_executor *serial = vow_executor_serial("shutdown");
    vow_resolver *resolver;
    counter queued = {0};
    vow_promise *forgotten = vow_promise_create(&resolver);
    vow_promise *later = then_on(serial, vow_promise_retain(forgotten), add_one, NULL);
    vow_promise *delay = vow_delay(3600 * SECOND);
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    vow_promise *ready = vow_fd_ready(ends[0], VOW_READ);
    vow_promise *running = then_on(serial, fulfilled_int(1), wait_at_gate, &block);
    vow_promise *waiting = then_on(serial, fulfilled_int(1), counter_run, &queued);
    CHECK(reaches(&block.entered, 1));
    pthread_t thread = start_thread(open_soon, &block);
    int64_t alive = vow_shutdown(VOW_FOREVER);
    pthread_join(thread, NULL);
    CHECK_INT_EQ(atomic_load(&queued.runs), 1);
    CHECK_INT_EQ(alive, 6);
    CHECK_INT_EQ(int_of(running), 1);
    CHECK_INT_EQ(int_of(waiting), 1);
    CHECK_INT_EQ(code_of(delay), VOW_ESHUTDOWN);
    CHECK_INT_EQ(code_of(ready), VOW_ESHUTDOWN);
    close(ends[0]);
    close(ends[1]);
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK_INT_EQ(code_of(later), VOW_ESHUTDOWN);
    vow_promise_release(forgotten);
    vow_resolver_release(resolver);
    vow_executor_release(serial);
}

TEST("afterwards work for libdispatch is refused, and what needs none goes on") {
    vow_executor *serial = vow_executor_serial("too late");
    counter context = {0};
    vow_executor *executors[3] = {vow_executor_pool(), serial, vow_executor_main()};
    for (int i = 0; i < 3; i++) {
        CHECK_INT_EQ(code_of(vow_async(executors[i], add_one, NULL)), VOW_ESHUTDOWN);
        CHECK_INT_EQ(code_of(link_full(executors[i], fulfilled_int(1), counter_run, NULL, &context,
                                       counter_end)),
                     VOW_ESHUTDOWN);
    }
    CHECK_INT_EQ(atomic_load(&context.runs), 0);
    CHECK_INT_EQ(atomic_load(&context.ends), 3);
    CHECK_INT_EQ(code_of(vow_delay(1)), VOW_ESHUTDOWN);
    CHECK_INT_EQ(code_of(vow_fd_ready(1, VOW_WRITE)), VOW_ESHUTDOWN);
    CHECK_INT_EQ(int_of(then_inline(fulfilled_int(1), add_one, NULL)), 2);
    vow_loop *loop = vow_loop_create();
    CHECK_INT_EQ(int_of(then_on(vow_loop_executor(loop), fulfilled_int(1), add_one, NULL)), 2);
    CHECK_INT_EQ(code_of(vow_delay(1000)), 0);
    vow_loop_destroy(loop);
    vow_executor_release(serial);
    CHECK_INT_EQ(vow_shutdown(0), 0);
}

TEST("what the calling thread kept of freed promises is given back") {
    vow_promise *made[500];
    for (int i = 0; i < 500; i++) {
        made[i] = fulfilled_int(i);
    }
    for (int i = 0; i < 500; i++) {
        vow_promise_release(made[i]);
    }
    vow_shutdown(VOW_FOREVER);
    CHECK_INT_EQ(vow_trim(), 0);
}
