/* Tests time: delays on loops, on virtual clocks and off loops. */
#include "tools.h"
#include <poll.h>
#include <sys/wait.h>

#define HOUR (3600 * SECOND)

TEST("vow_now is the monotonic clock") {
    int64_t before = now_ns();
    int64_t now = vow_now();
    CHECK(before <= now && now <= now_ns());
    vow_loop *loop = vow_loop_create();
    now = vow_now();
    CHECK(before <= now && now <= now_ns());
    vow_loop_destroy(loop);
}

static vow_value note_time(vow_value input, void *context) {
    *(int64_t *)context = now_ns();
    return vow_value_retain(input);
}

static void delays_are_not_early(void) {
    for (int i = 0; i < 20; i++) {
        int64_t fired = 0;
        int64_t ns = i * 700001;
        int64_t start = now_ns();
        vow_promise *delay = vow_delay(ns);
        CHECK_INT_EQ(code_of(then_inline(delay, note_time, &fired)), 0);
        CHECK(fired - start >= ns);
    }
}

TEST("a delay off a loop is fulfilled with none, and never early") {
    vow_value out = vow_int(1);
    vow_promise *delay = vow_delay(HOUR);
    CHECK_INT_EQ(vow_promise_state(delay), VOW_PENDING);
    vow_promise_release(delay);
    delay = vow_delay(MILLISECOND);
    CHECK_INT_EQ(vow_await(delay, LONG_ENOUGH, &out), VOW_FULFILLED);
    CHECK_INT_EQ(out.kind, VOW_NONE);
    vow_promise_release(delay);
    delays_are_not_early();
}

TEST("the same on a loop") {
    vow_loop *loop = vow_loop_create();
    delays_are_not_early();
    vow_loop_destroy(loop);
}

TEST("negative delays are VOW_EINVAL") {
    vow_value out = vow_none();
    vow_promise *delay = vow_delay(-1);
    CHECK_INT_EQ(vow_await(delay, 0, &out), VOW_REJECTED);
    CHECK_INT_EQ(vow_error_code(out), VOW_EINVAL);
    CHECK_STR_EQ(vow_error_message(out), "vow_delay: ns is negative");
    vow_value_release(out);
    vow_promise_release(delay);
}

TEST("a delay of for ever does no harm") {
    vow_promise *one = vow_delay(INT64_MAX);
    CHECK_INT_EQ(vow_await(one, MILLISECOND, NULL), VOW_PENDING);
    CHECK_INT_EQ(code_of(vow_delay(0)), 0);
    vow_promise_release(one);
    vow_loop *loop = vow_loop_create();
    one = vow_delay(INT64_MAX);
    CHECK_INT_EQ(vow_await(one, MILLISECOND, NULL), VOW_PENDING);
    CHECK_INT_EQ(code_of(vow_delay(0)), 0);
    vow_promise_release(one);
    vow_loop_destroy(loop);
}

TEST("a loop's descriptor is readable when a timer is due, and no sooner") {
    vow_loop *loop = vow_loop_create();
    struct pollfd one = {vow_loop_fd(loop), POLLIN, 0};
    vow_promise *late = vow_delay(HOUR);
    CHECK_INT_EQ(poll(&one, 1, 5), 0);
    int64_t start = now_ns();
    vow_promise *delay = vow_delay(20 * MILLISECOND);
    CHECK_INT_EQ(poll(&one, 1, 60000 * slowness()), 1);
    CHECK(now_ns() - start >= 20 * MILLISECOND);
    CHECK_INT_EQ(vow_loop_run_once(loop, 0), 1);
    CHECK_INT_EQ(poll(&one, 1, 10), 0);
    CHECK_INT_EQ(vow_promise_state(delay), VOW_FULFILLED);
    vow_promise_release(delay);
    vow_promise_release(late);
    vow_loop_destroy(loop);
}

TEST("a virtual clock stands still until it is moved") {
    vow_loop *loop = vow_loop_create_virtual();
    int64_t start = vow_now();
    usleep(2000);
    CHECK_INT_EQ(vow_now(), start);
    CHECK_INT_EQ(vow_loop_advance(loop, -1), VOW_EINVAL);
    CHECK_INT_EQ(vow_loop_advance(loop, 0), 0);
    CHECK_INT_EQ(vow_loop_advance(loop, 5), 0);
    CHECK_INT_EQ(vow_now(), start + 5);
    vow_promise *delay = vow_delay(HOUR);
    CHECK_INT_EQ(vow_loop_advance(loop, HOUR - 1), 0);
    CHECK_INT_EQ(vow_promise_state(delay), VOW_PENDING);
    CHECK_INT_EQ(vow_loop_advance(loop, HOUR), 1);
    CHECK_INT_EQ(vow_promise_state(delay), VOW_FULFILLED);
    CHECK_INT_EQ(vow_now(), start + 5 + 2 * HOUR - 1);
    vow_promise_release(delay);
    vow_loop_destroy(loop);
}

typedef struct ticks {
    int64_t every;
    int64_t left;
    int64_t sum;
} ticks;

static vow_value tick(vow_value input, void *context) {
    ticks *self = context;
    (void)input;
    self->sum += vow_now();
    if (--self->left > 0) {
        vow_promise_release(vow_then(vow_delay(self->every), tick, self));
    }
    return vow_none();
}

TEST("advance goes through the timers that its handlers set, each at its time") {
    vow_loop *loop = vow_loop_create_virtual();
    int64_t start = vow_now();
    ticks self = {.every = 10, .left = 100};
    vow_promise_release(vow_then(vow_delay(10), tick, &self));
    CHECK_INT_EQ(vow_loop_advance(loop, 995), 2 * 99);
    CHECK_INT_EQ(self.left, 1);
    CHECK_INT_EQ(self.sum, 99 * start + 10 * 99 * 100 / 2);
    CHECK_INT_EQ(vow_loop_advance(loop, 5), 2);
    CHECK_INT_EQ(vow_now(), start + 1000);
    vow_loop_destroy(loop);
}

TEST("run_until and vow_await on a virtual loop jump to the next timer") {
    vow_loop *loop = vow_loop_create_virtual();
    int64_t real = now_ns();
    int64_t start = vow_now();
    vow_promise *delay = vow_delay(HOUR);
    CHECK_INT_EQ(vow_loop_run_until(loop, delay, VOW_FOREVER), VOW_FULFILLED);
    CHECK_INT_EQ(vow_now(), start + HOUR);
    vow_promise_release(delay);
    CHECK_INT_EQ(vow_await(delay = vow_delay(HOUR), 2 * HOUR, NULL), VOW_FULFILLED);
    CHECK_INT_EQ(vow_now(), start + 2 * HOUR);
    vow_promise_release(delay);
    delay = vow_delay(HOUR);
    CHECK_INT_EQ(vow_await(delay, HOUR / 2, NULL), VOW_PENDING);
    CHECK(vow_now() <= start + 2 * HOUR + HOUR / 2);
    CHECK_INT_EQ(vow_loop_run_once(loop, 0), 0);
    vow_promise_release(delay);
    CHECK(now_ns() - real < 60 * SECOND);
    vow_loop_destroy(loop);
}

TEST("a delay of no time on a virtual loop makes its descriptor readable") {
    vow_loop *loop = vow_loop_create_virtual();
    struct pollfd one = {vow_loop_fd(loop), POLLIN, 0};
    vow_promise *delay = vow_delay(0);
    CHECK_INT_EQ(poll(&one, 1, 1000), 1);
    CHECK_INT_EQ(vow_loop_run_once(loop, 0), 1);
    CHECK_INT_EQ(poll(&one, 1, 0), 0);
    vow_promise_release(delay);
    vow_loop_destroy(loop);
}

TEST("destroying a loop rejects its delays with VOW_ESHUTDOWN") {
    vow_loop *loop = vow_loop_create();
    vow_promise *delays[50];
    for (int i = 0; i < 50; i++) {
        delays[i] = vow_delay(HOUR + i);
    }
    vow_loop_destroy(loop);
    for (int i = 0; i < 50; i++) {
        CHECK_INT_EQ(vow_promise_state(delays[i]), VOW_REJECTED);
        CHECK_INT_EQ(code_of(delays[i]), VOW_ESHUTDOWN);
    }
}

static vow_value restart(vow_value input, void *context) {
    vow_promise **next = context;
    (void)input;
    *next = vow_delay(HOUR);
    return vow_none();
}

TEST("a handler that sets a delay while its loop is destroyed gets one off the loop") {
    vow_loop *loop = vow_loop_create();
    vow_promise *next = NULL;
    vow_promise_release(
        link_full(vow_executor_inline(), vow_delay(HOUR), NULL, restart, &next, NULL));
    vow_loop_destroy(loop);
    CHECK(next != NULL && vow_promise_state(next) == VOW_PENDING);
    vow_promise_release(next);
}

static vow_value delay_and_note(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(then_inline(vow_delay(2 * MILLISECOND), note_time, context));
}

TEST("a delay made in a handler of the pool goes by real time, though a virtual loop waits") {
    vow_loop *loop = vow_loop_create_virtual();
    int64_t start = now_ns();
    int64_t fired = 0;
    CHECK_INT_EQ(code_of(vow_async(vow_executor_pool(), delay_and_note, &fired)), 0);
    CHECK(fired - start >= 2 * MILLISECOND);
    vow_loop_destroy(loop);
}

TEST("in a forked child delays are VOW_EFORKED, but on its own loops") {
    CHECK_INT_EQ(code_of(vow_delay(MILLISECOND)), 0);
    vow_promise *theirs = vow_delay(HOUR);
    vow_loop *loop = vow_loop_create();
    vow_promise *loops = vow_delay(20 * MILLISECOND);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        CHECK_INT_EQ(code_of(vow_delay(1)), VOW_EFORKED);
        vow_loop_destroy(loop);
        CHECK_INT_EQ(code_of(loops), VOW_ESHUTDOWN);
        CHECK_INT_EQ(code_of(vow_delay(1)), VOW_EFORKED);
        vow_promise_release(theirs);
        vow_loop *own = vow_loop_create();
        CHECK_INT_EQ(code_of(vow_delay(MILLISECOND)), 0);
        vow_loop_destroy(own);
        fflush(stdout);
        _exit(atomic_load(&harness_failures) == 0 ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_INT_EQ(code_of(loops), 0);
    vow_promise_release(theirs);
    vow_loop_destroy(loop);
}

static vow_value await_given(vow_value input, void *context) {
    (void)input;
    return vow_int(vow_await(context, LONG_ENOUGH, NULL));
}

TEST("handlers of a destroyed loop's delays may wait for one another") {
    vow_loop *loop = vow_loop_create();
    vow_promise *second = vow_delay(2 * HOUR);
    vow_promise *first = catch_inline(vow_delay(HOUR), await_given, second);
    vow_loop_destroy(loop);
    CHECK_INT_EQ(int_of(first), VOW_REJECTED);
    CHECK_INT_EQ(code_of(second), VOW_ESHUTDOWN);
}
