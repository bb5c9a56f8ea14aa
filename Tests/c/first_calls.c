/* The first calls of a process, from several threads at once. */
#include "child.h"

#define THREADS 4

static int ends[2];
static atomic_int may_begin;
static atomic_int failed;

static void expect_fulfilled(vow_promise *promise) {
    if (vow_await(promise, LONG_ENOUGH, NULL) != (int)VOW_FULFILLED) {
        atomic_fetch_add(&failed, 1);
    }
    vow_promise_release(promise);
}

/* Each thread begins with another call. */
static void *call_first(void *context) {
    int which = *(int *)context;
    while (atomic_load(&may_begin) == 0) {
    }
    for (int step = 0; step < THREADS; step++) {
        switch ((which + step) % THREADS) {
        case 0:
            expect_fulfilled(vow_delay(1000));
            break;
        case 1:
            expect_fulfilled(vow_fd_ready(ends[1], VOW_WRITE));
            break;
        case 2:
            expect_fulfilled(vow_timeout(fulfilled_int(1), SECOND));
            break;
        default:
            expect_fulfilled(vow_async(vow_executor_pool(), add_one, NULL));
        }
    }
    return NULL;
}

static int first_calls(void) {
    pthread_t threads[THREADS];
    int numbers[THREADS];
    alarm(CHILD_LIMIT);
    for (int at = 0; at < THREADS; at++) {
        numbers[at] = at;
        threads[at] = start_thread(call_first, &numbers[at]);
    }
    usleep(500);
    atomic_store(&may_begin, 1);
    for (int at = 0; at < THREADS; at++) {
        pthread_join(threads[at], NULL);
    }
    return atomic_load(&failed);
}

static int bad_processes = -1;

/* Before main, which calls the library: a child of a process that has used it is refused work. */
__attribute__((constructor)) static void in_fresh_processes(void) {
    if (pipe(ends) != 0) {
        return;
    }
    bad_processes = 0;
    for (int round = 0; round < many_of(30, 300); round++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            _exit(first_calls() == 0 ? 0 : 1);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            bad_processes++;
        }
    }
}

TEST("the first delay, watch, time-out and work of a process, from four threads, are done") {
    CHECK_INT_EQ(bad_processes, 0);
}
