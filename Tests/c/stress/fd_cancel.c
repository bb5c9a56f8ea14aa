/* G14: a watch of a descriptor is cancelled by one thread, and another one that sees the promise
 * settled closes the descriptor: the watch has ended then, so that one of the same number is not
 * disturbed. */
#include "stress.h"

typedef struct pair {
    vow_promise *promise;
    atomic_long round; /* that is to be cancelled */
    atomic_long cancelled;
    long rounds;
} pair;

static void *cancel_all(void *context) {
    pair *all = context;
    uint64_t random = random_seed(1);
    for (long round = 1; round <= all->rounds; round++) {
        while (atomic_load(&all->round) != round) {
        }
        random_pause(&random);
        vow_cancel(all->promise);
        atomic_store(&all->cancelled, round);
    }
    return NULL;
}

TEST("G14: who sees a cancelled watch settled may close its descriptor") {
    static pair all;
    uint64_t random = random_seed(2);
    all.rounds = size_of_run("FD_ROUNDS", 3000);
    pthread_t canceller = start_thread(cancel_all, &all);
    for (long round = 1; round <= all.rounds; round++) {
        int first[2], second[2];
        vow_value ready = vow_none();
        CHECK_INT_EQ(pipe(first), 0);
        all.promise = vow_fd_ready(first[0], VOW_READ);
        atomic_store(&all.round, round);
        random_pause(&random);
        CHECK_INT_EQ(vow_await(all.promise, LONG_ENOUGH, NULL), VOW_REJECTED);
        close(first[0]);
        CHECK_INT_EQ(pipe(second), 0);
        CHECK_INT_EQ(second[0], first[0]);
        vow_promise *next = vow_fd_ready(second[0], VOW_READ);
        CHECK_INT_EQ(write(second[1], "x", 1), 1);
        CHECK_INT_EQ(vow_await(next, LONG_ENOUGH, &ready), VOW_FULFILLED);
        CHECK_INT_EQ(ready.as.integer, VOW_READ);
        vow_promise_release(next);
        while (atomic_load(&all.cancelled) != round) {
        }
        vow_promise_release(all.promise);
        close(first[1]);
        close(second[0]);
        close(second[1]);
    }
    pthread_join(canceller, NULL);
}
