/* 05-executors.c: where handlers run: inline, serial, the pool, and a barrier on your own queue. */
#include <pthread.h>

#include "common.h"
#include "gcd.h"

/* --- inline: at once, on the thread that settles (or registers, if settled already) --- */

static vow_value same_thread(vow_value input, void *context) {
    (void)input;
    return vow_bool(pthread_equal(pthread_self(), *(pthread_t *)context) != 0);
}

static void show_inline(void) {
    pthread_t me = pthread_self();
    show_result("inline: ran on this thread", vow_async(vow_executor_inline(), same_thread, &me));
}

/* --- serial: one handler at a time, in order; what only they touch needs no lock --- */

static vow_value count_up(vow_value input, void *context) {
    (void)input;
    int *counter = context;
    *counter += 1;
    return vow_int(*counter);
}

static void show_serial(void) {
    int counter = 0;
    vow_executor *serial = vow_executor_serial("counter");
    for (int i = 0; i < 999; i++) {
        vow_promise_release(vow_async(serial, count_up, &counter)); /* runs all the same */
    }
    show_result("serial: the counter", vow_async(serial, count_up, &counter));
    vow_executor_release(serial);
}

/* --- pool: handlers run in parallel, on as many threads as the machine is good for --- */

static vow_value sum_slice(vow_value input, void *context) {
    (void)input;
    const int *slice = context;
    int64_t sum = 0;
    for (int i = 0; i < 1000; i++) {
        sum += slice[i];
    }
    return vow_int(sum);
}

static void show_pool(void) {
    static int numbers[4000];
    for (int i = 0; i < 4000; i++) {
        numbers[i] = i + 1;
    }
    vow_promise *slices[4];
    for (int i = 0; i < 4; i++) {
        slices[i] = vow_async(vow_executor_pool(), sum_slice, numbers + 1000 * i);
    }
    int64_t sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += wait_for(slices[i]).as.integer;
    }
    show("pool: 1 + 2 + ... + 4000", vow_int(sum));
}

/* --- your own concurrent queue: many readers at once, and a writer that is alone --- */

struct account {
    int64_t left, right; /* their sum is 100 for ever, except in the middle of a transfer */
};

static vow_value read_left(vow_value input, void *context) {
    (void)input;
    const struct account *account = context;
    if (account->left + account->right != 100) {
        return vow_error("bank", 1, "read in the middle of a transfer");
    }
    return vow_int(account->left);
}

static vow_value transfer(vow_value input, void *context) {
    (void)input;
    struct account *account = context;
    account->left -= 30;
    account->right += 30;
    return vow_none();
}

static void show_barrier(void) {
    struct account account = {80, 20};
    dispatch_queue_t queue = dispatch_queue_create("account", DISPATCH_QUEUE_CONCURRENT);

    /* Two executors on one queue. The barrier waits for the readers before it, and the readers
     * after it wait for the barrier; among themselves the readers run side by side. */
    vow_executor *reading = vow_executor_dispatch(queue, 0);
    vow_executor *writing = vow_executor_dispatch(queue, VOW_BARRIER);

    vow_promise *before[8], *after[8];
    for (int i = 0; i < 8; i++) {
        before[i] = vow_async(reading, read_left, &account);
    }
    vow_promise *written = vow_async(writing, transfer, &account);
    for (int i = 0; i < 8; i++) {
        after[i] = vow_async(reading, read_left, &account);
    }

    int old_seen = 0, new_seen = 0;
    for (int i = 0; i < 8; i++) {
        vow_value left = wait_for(before[i]);
        old_seen += left.kind == VOW_INT && left.as.integer == 80;
        vow_value_release(left);
        left = wait_for(after[i]);
        new_seen += left.kind == VOW_INT && left.as.integer == 50;
        vow_value_release(left);
    }
    vow_value_release(wait_for(written));
    printf("barrier: %d of 8 readers saw 80 before it, %d of 8 saw 50 after it\n", old_seen,
           new_seen);

    vow_executor_release(reading);
    vow_executor_release(writing);
    dispatch_release(queue);
}

int main(void) {
    show_inline();
    show_serial();
    show_pool();
    show_barrier();
    return 0;
}
