/* What the tests of fibers share: every kind of executor, waits without a limit, promises that the
 * test settles. */
#ifndef VOW_TEST_FIBER_TOOLS_H
#define VOW_TEST_FIBER_TOOLS_H

#include "dispatch.h"
#include "worker.h"

#define HOUR (3600 * SECOND)

/* An executor that fibers run on. */
typedef struct ground {
    const char *name;
    vow_executor *executor;
    vow_loop *loop;
    bool is_serial;
} ground;

static inline void stand_on(void (*part)(const ground *), ground on) {
    int before = atomic_load(&harness_failures);
    part(&on);
    if (atomic_load(&harness_failures) != before) {
        printf("# on the %s executor\n", on.name);
    }
}

/* Calls a part of a test with each kind of executor. A loop is the calling thread's. */
static inline void on_each_executor(void (*part)(const ground *)) {
    stand_on(part, (ground){"inline", vow_executor_inline(), NULL, true});
    stand_on(part, (ground){"pool", vow_executor_pool(), NULL, false});
    vow_executor *serial = vow_executor_serial("fibers");
    stand_on(part, (ground){"serial", serial, NULL, true});
    vow_executor_release(serial);
    for (int is_serial = 0; is_serial < 2; is_serial++) {
        void *queue =
            dispatch_queue_create("vow.fibers", is_serial ? QUEUE_SERIAL : QUEUE_CONCURRENT);
        vow_executor *dispatch = vow_executor_dispatch(queue, is_serial ? VOW_SERIAL : 0);
        stand_on(part, (ground){"dispatch", dispatch, NULL, is_serial != 0});
        vow_executor_release(dispatch);
        dispatch_release(queue);
    }
    worker thread;
    worker_start(&thread);
    vow_executor *custom = vow_executor_custom(&worker_class, &thread);
    stand_on(part, (ground){"custom", custom, NULL, true});
    vow_executor_release(custom);
    worker_stop(&thread);
    /* The thread of the timers may have the last reference for a moment. */
    CHECK(reaches(&thread.destroyed, 1));
    vow_loop *loop = vow_loop_create();
    stand_on(part, (ground){"loop", vow_loop_executor(loop), loop, true});
    vow_loop_destroy(loop);
    loop = vow_loop_create_virtual();
    stand_on(part, (ground){"virtual loop", vow_loop_executor(loop), loop, true});
    vow_loop_destroy(loop);
}

/* Waits for a promise (consumed), inside a fiber or outside: its whole number, or the code of its
 * error, or the answer of vow_take. No time-out: the clock of a virtual loop would come to it. */
static inline int64_t outcome_of(vow_promise *promise) {
    vow_value out = vow_none();
    int state = vow_take(promise, VOW_FOREVER, &out);
    int64_t outcome = state == (int)VOW_FULFILLED && out.kind == VOW_INT ? out.as.integer : state;
    if (state == (int)VOW_REJECTED) {
        outcome = vow_error_code(out);
    }
    vow_value_release(out);
    return outcome;
}

static inline vow_promise *fiber_on(vow_executor *executor, vow_handler body, void *context) {
    return vow_fiber(executor, body, context, NULL);
}

/* A fiber whose context is a counter, or begins with one. */
static inline vow_promise *fiber_counted(vow_executor *executor, vow_handler body, void *context,
                                         vow_token *token) {
    vow_fiber_options options = {.size = sizeof options,
                                 .token = token,
                                 .destroy = counter_end,
                                 .label = "a fiber of the tests"};
    return vow_fiber(executor, body, context, &options);
}

/* Lets a serial executor do what it was given: then fibers that were made wait. */
static inline void come_to_rest(vow_executor *executor) {
    CHECK_INT_EQ(outcome_of(vow_async(executor, add_one, NULL)), 1);
}

/* A promise that the test settles, and a fiber's context. */
typedef struct held {
    counter of;
    vow_promise *promise;
    vow_resolver *resolver;
    atomic_int entered;
    vow_promise *fiber;
    vow_executor *executor;
    counter told;
    /* Several fibers may write to one place. */
    _Atomic int64_t answers[4];
    _Atomic int64_t codes[4];
} held;

static inline void held_told(void *context) {
    atomic_fetch_add(&((counter *)context)->runs, 1);
}

static inline void held_make(held *self, vow_executor *executor) {
    memset(self, 0, sizeof *self);
    self->promise = vow_promise_create(&self->resolver);
    self->executor = executor;
    CHECK_INT_EQ(vow_resolver_on_cancel(self->resolver, held_told, &self->told, counter_end), 0);
}

static inline void held_end(held *self) {
    vow_promise_release(self->promise);
    vow_resolver_release(self->resolver);
}

/* Waits for the promise, whose reference stays; the answer and an error's code are kept. */
static inline int held_wait(held *self, int number) {
    vow_value out = vow_none();
    atomic_fetch_add(&self->entered, 1);
    int answer = vow_await(self->promise, VOW_FOREVER, &out);
    self->answers[number] = answer;
    self->codes[number] = out.kind == VOW_INT ? out.as.integer : vow_error_code(out);
    vow_value_release(out);
    return answer;
}

static inline void *resolve_when_entered(void *context) {
    held *self = context;
    CHECK(reaches(&self->entered, 1));
    CHECK(vow_resolve(self->resolver, vow_int(5)));
    return NULL;
}

#endif
