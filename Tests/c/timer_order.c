/* Tests the order of delays, and their removal. */
#include "tools.h"
#include <poll.h>
#include <sys/wait.h>

#define HOUR (3600 * SECOND)

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
