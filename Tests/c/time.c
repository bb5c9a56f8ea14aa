/* Tests the clock and the delays of chapter 8: on libdispatch, on a loop, on a virtual loop. */
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

/* Delays that are made out of order. Each is due between two moments, as making it takes time: who
 * is due before another one for sure ends before it. */
static void in_order(vow_loop *loop) {
    journal journal = {0};
    entry entries[20];
    vow_promise *last[20];
    int64_t soonest[20];
    int64_t latest[20];
    for (int i = 0; i < 20; i++) {
        int number = i * 7 % 20;
        entries[i].in = &journal;
        entries[i].number = number;
        soonest[number] = vow_now() + (number + 1) * MILLISECOND;
        vow_promise *delay = vow_delay((number + 1) * MILLISECOND);
        latest[number] = vow_now() + (number + 1) * MILLISECOND;
        last[i] = then_on(loop != NULL ? vow_loop_executor(loop) : vow_executor_inline(), delay,
                          entry_write, &entries[i]);
    }
    for (int i = 0; i < 20; i++) {
        CHECK_INT_EQ(code_of(last[i]), 0);
    }
    CHECK_INT_EQ(atomic_load(&journal.count), 20);
    for (int i = 0; i < 20; i++) {
        for (int j = i + 1; j < 20; j++) {
            CHECK(soonest[journal.entries[i]] <= latest[journal.entries[j]]);
        }
    }
}

TEST("delays end in order of time, on a loop, on a virtual one and off loops") {
    in_order(NULL);
    vow_loop *loop = vow_loop_create();
    in_order(loop);
    vow_loop_destroy(loop);
    loop = vow_loop_create_virtual();
    in_order(loop);
    vow_loop_destroy(loop);
}

TEST("equal delays end in the order in which they were made") {
    vow_loop *loop = vow_loop_create_virtual();
    journal journal = {0};
    entry entries[60];
    for (int i = 0; i < 60; i++) {
        entries[i].in = &journal;
        entries[i].number = i;
        vow_promise_release(vow_then(vow_delay(SECOND), entry_write, &entries[i]));
    }
    CHECK_INT_EQ(vow_loop_advance(loop, SECOND - 1), 0);
    CHECK_INT_EQ(vow_loop_advance(loop, 1), 120);
    journal_counts_to(&journal, 60);
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

TEST("a timer that nobody wants any more is gone, and wakes nobody") {
    vow_loop *loop = vow_loop_create();
    struct pollfd one = {vow_loop_fd(loop), POLLIN, 0};
    for (int i = 0; i < 10; i++) {
        vow_promise_release(vow_delay(10 * MILLISECOND));
    }
    CHECK_INT_EQ(poll(&one, 1, 50), 0);
    CHECK_INT_EQ(vow_loop_run_once(loop, 0), 0);
    vow_loop_destroy(loop);
}

static void remove_many(int count) {
    vow_promise **delays = calloc((size_t)count, sizeof *delays);
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < count; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        delays[i] = vow_delay(HOUR + (int64_t)(state % 1000000007));
    }
    for (int i = count - 1; i > 0; i--) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        int other = (int)(state % (uint64_t)(i + 1));
        vow_promise *swap = delays[i];
        delays[i] = delays[other];
        delays[other] = swap;
    }
    vow_statistics before = harness_stats();
    for (int i = 0; i < count; i++) {
        vow_promise_release(delays[i]);
    }
    CHECK_INT_EQ(before.live - harness_stats().live, count);
    free(delays);
}

TEST("100,000 timers added and removed in any order, on a loop and off") {
    remove_many(100000);
    vow_loop *loop = vow_loop_create();
    remove_many(100000);
    vow_loop_destroy(loop);
}

static vow_value check_order(vow_value input, void *context) {
    int64_t *last = context;
    int64_t now = vow_now();
    CHECK(now >= *last);
    *last = now;
    return vow_value_retain(input);
}

TEST("20,000 random delays, half of them removed, end in order on a virtual loop") {
    vow_loop *loop = vow_loop_create_virtual();
    enum { count = 20000 };
    vow_promise **delays = calloc(count, sizeof *delays);
    int64_t last = vow_now();
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < count; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        delays[i] = vow_delay((int64_t)(state % 1000));
        if (i % 2 == 0) {
            delays[i] = vow_then(delays[i], check_order, &last);
        }
    }
    for (int i = 1; i < count; i += 2) {
        vow_promise_release(delays[i]);
    }
    CHECK_INT_EQ(vow_loop_advance(loop, 1000), count);
    for (int i = 0; i < count; i += 2) {
        CHECK_INT_EQ(vow_promise_state(delays[i]), VOW_FULFILLED);
        vow_promise_release(delays[i]);
    }
    free(delays);
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

static void *remove_late(void *context) {
    vow_promise **delays = context;
    for (int i = 0; i < 2000; i++) {
        vow_promise_release(delays[i]);
    }
    return NULL;
}

static void race_to_remove(void) {
    static vow_promise *delays[4][2000];
    pthread_t threads[4];
    for (int i = 0; i < 2000; i++) {
        for (int t = 0; t < 4; t++) {
            delays[t][i] = vow_delay(i * 1000);
        }
    }
    for (int t = 0; t < 4; t++) {
        threads[t] = start_thread(remove_late, delays[t]);
    }
    CHECK_INT_EQ(code_of(vow_delay(4 * MILLISECOND)), 0);
    for (int t = 0; t < 4; t++) {
        pthread_join(threads[t], NULL);
    }
}

TEST("four threads remove timers that are firing, on a loop and off") {
    for (int round = 0; round < 20 / slowness() + 1; round++) {
        race_to_remove();
        vow_loop *loop = vow_loop_create();
        race_to_remove();
        vow_loop_destroy(loop);
    }
}

static void *set_delays(void *context) {
    for (int i = 0; i < 200; i++) {
        if (code_of(vow_delay(i % 7 * 100000)) != 0) {
            atomic_fetch_add((atomic_int *)context, 1);
        }
    }
    return NULL;
}

TEST("many threads have delays at once, off loops") {
    atomic_int wrong = 0;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        threads[i] = start_thread(set_delays, &wrong);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK_INT_EQ(atomic_load(&wrong), 0);
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

TEST("cancelling a delay rejects it at once, and its timer is gone") {
    for (int i = 0; i < 2; i++) {
        vow_loop *loop = i == 0 ? NULL : vow_loop_create();
        vow_promise *delay = vow_delay(10 * MILLISECOND);
        CHECK(vow_cancel(delay));
        CHECK(!vow_cancel(delay));
        CHECK_INT_EQ(vow_promise_state(delay), VOW_REJECTED);
        usleep(20000);
        if (loop != NULL) {
            CHECK_INT_EQ(vow_loop_run_once(loop, 0), 0);
        }
        CHECK_INT_EQ(code_of(delay), VOW_ECANCELLED);
        delay = vow_then(vow_delay(HOUR), add_one, NULL);
        CHECK(vow_cancel(delay));
        CHECK_INT_EQ(code_of(delay), VOW_ECANCELLED);
        vow_loop_destroy(loop);
    }
}

static void *cancel_late(void *context) {
    vow_promise **delays = context;
    for (int i = 0; i < 2000; i++) {
        vow_cancel(delays[i]);
        vow_promise_release(delays[i]);
    }
    return NULL;
}

static void race_to_cancel(void) {
    static vow_promise *delays[2000];
    for (int i = 0; i < 2000; i++) {
        delays[i] = vow_delay(i * 1000);
    }
    pthread_t thread = start_thread(cancel_late, delays);
    CHECK_INT_EQ(code_of(vow_delay(4 * MILLISECOND)), 0);
    pthread_join(thread, NULL);
}

TEST("timers are cancelled while they fire, on a loop and off") {
    for (int round = 0; round < 20 / slowness() + 1; round++) {
        race_to_cancel();
        vow_loop *loop = vow_loop_create();
        race_to_cancel();
        vow_loop_destroy(loop);
    }
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
