/* Tests runs of a loop inside its own handlers. */
#include "loop_tools.h"

static vow_value run_until_inside(vow_value input, void *context) {
    nested *self = context;
    (void)input;
    vow_promise *promise = vow_async(NULL, add_one, NULL);
    promise = vow_then(then_on(vow_executor_pool(), promise, sleep_a_bit, NULL), add_one, NULL);
    self->answer = vow_loop_run_until(self->loop, promise, LONG_ENOUGH);
    self->got = int_of(promise);
    return vow_none();
}

TEST("a handler may run its loop until something settles") {
    vow_loop *loop = vow_loop_create();
    nested context = {.loop = loop};
    CHECK_INT_EQ(code_of(vow_async(NULL, run_until_inside, &context)), 0);
    CHECK_INT_EQ(context.answer, VOW_FULFILLED);
    CHECK_INT_EQ(context.got, 6);
    CHECK(!is_readable(loop));
    vow_loop_destroy(loop);
}

static vow_value run_once_inside(vow_value input, void *context) {
    nested *self = context;
    (void)input;
    CHECK_INT_EQ(vow_loop_run_once(self->loop, MILLISECOND), 0);
    vow_promise_release(vow_async(NULL, add_one, NULL));
    self->answer = vow_loop_run_once(self->loop, VOW_FOREVER);
    vow_promise_release(vow_async(NULL, add_one, NULL));
    return vow_none();
}

TEST("run_once in a handler runs the others") {
    vow_loop *loop = vow_loop_create();
    nested context = {.loop = loop};
    vow_promise_release(vow_async(NULL, run_once_inside, &context));
    CHECK_INT_EQ(vow_loop_run_once(loop, VOW_FOREVER), 2);
    CHECK_INT_EQ(context.answer, 1);
    CHECK(!is_readable(loop));
    vow_loop_destroy(loop);
}

static vow_value nest(vow_value input, void *context) {
    nested *self = context;
    (void)input;
    if (self->depth++ < 1000000) {
        vow_promise_release(vow_async(NULL, nest, self));
        int answer = vow_loop_run_once(self->loop, VOW_FOREVER);
        if (answer == VOW_EDEADLOCK) {
            self->answer = answer;
            self->depth = 1000000;
        }
    }
    return vow_none();
}

TEST("nested runs end where the stack does, with VOW_EDEADLOCK") {
    rlim_t before;
    limit_stacks(1 << 20, &before);
    vow_loop *loop = vow_loop_create();
    nested context = {.loop = loop};
    CHECK_INT_EQ(code_of(vow_async(NULL, nest, &context)), 0);
    CHECK_INT_EQ(context.answer, VOW_EDEADLOCK);
    while (vow_loop_run_once(loop, 0) > 0) {
    }
    vow_loop_destroy(loop);
    limit_stacks(before, NULL);
}

static vow_value await_deeper(vow_value input, void *context) {
    int *left = context;
    (void)input;
    if (--*left == 0) {
        return vow_int(1);
    }
    vow_promise *deeper = vow_async(NULL, await_deeper, left);
    int answer = vow_await(deeper, VOW_FOREVER, NULL);
    return answer == VOW_FULFILLED ? vow_int(1 + int_of(deeper)) : vow_int(-1000000);
}

TEST("any number of handlers may wait for each other: each has a stack of its own") {
    vow_loop *loop = vow_loop_create();
    int left = many_of(5000, 50000), count = left;
    vow_promise *first = vow_async(NULL, await_deeper, &left);
    CHECK_INT_EQ(vow_await(first, VOW_FOREVER, NULL), VOW_FULFILLED);
    CHECK_INT_EQ(int_of(first), count);
    vow_loop_destroy(loop);
}

static vow_value await_self(vow_value input, void *context) {
    nested *self = context;
    (void)input;
    self->answer = vow_await(self->awaited, VOW_FOREVER, NULL);
    return vow_none();
}

TEST("a handler of a loop that waits for its own promise is told VOW_EDEADLOCK") {
    vow_loop *loop = vow_loop_create();
    nested context = {.loop = loop};
    context.awaited = vow_async(NULL, await_self, &context);
    CHECK_INT_EQ(vow_await(context.awaited, LONG_ENOUGH, NULL), VOW_FULFILLED);
    CHECK_INT_EQ(context.answer, VOW_EDEADLOCK);
    vow_promise_release(context.awaited);
    vow_loop_destroy(loop);
}

TEST("so is one that waits, in a run inside it, for the handler outside") {
    vow_loop *loop = vow_loop_create();
    nested outer = {.loop = loop};
    nested inner = {.loop = loop};
    vow_promise *first = vow_async(NULL, await_self, &outer);
    inner.awaited = first;
    outer.awaited = vow_async(NULL, await_self, &inner);
    CHECK_INT_EQ(vow_await(first, LONG_ENOUGH, NULL), VOW_FULFILLED);
    CHECK_INT_EQ(outer.answer, VOW_FULFILLED);
    CHECK_INT_EQ(inner.answer, VOW_EDEADLOCK);
    vow_promise_release(first);
    vow_promise_release(outer.awaited);
    vow_loop_destroy(loop);
}
