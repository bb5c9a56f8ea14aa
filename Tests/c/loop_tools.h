/* What the tests of loops share. */
#ifndef VOW_TEST_LOOP_TOOLS_H
#define VOW_TEST_LOOP_TOOLS_H

#include "tools.h"
#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

static inline bool is_readable(vow_loop *loop) {
    struct pollfd one = {vow_loop_fd(loop), POLLIN, 0};
    return poll(&one, 1, 0) == 1;
}

/* The stacks on which loops run handlers are as large as threads' from here on. ThreadSanitizer
 * knows 65,536 calls on a stack, and no test may come to more. */
static inline void limit_stacks(rlim_t bytes, rlim_t *before) {
    struct rlimit limit;
    CHECK_INT_EQ(getrlimit(RLIMIT_STACK, &limit), 0);
    if (before != NULL) {
        *before = limit.rlim_cur;
    }
    limit.rlim_cur = bytes;
    CHECK_INT_EQ(setrlimit(RLIMIT_STACK, &limit), 0);
}

/* What a handler saw of the place where it ran. */
typedef struct place {
    atomic_int runs;
    pthread_t thread;
    vow_executor *current;
} place;

static inline vow_value look_around(vow_value input, void *context) {
    place *self = context;
    self->thread = pthread_self();
    self->current = vow_executor_current();
    atomic_fetch_add(&self->runs, 1);
    return vow_value_retain(input);
}

/* Submits numbers to a loop's executor; the handler checks their order. */
typedef struct sender {
    vow_executor *executor;
    int64_t count;
    int64_t next; /* the handler's, on the loop's thread */
    int64_t wrong;
    int64_t refused;
    atomic_int done;
} sender;

static inline vow_value hand_on(vow_value input, void *context) {
    atomic_int *left = context;
    (void)input;
    if (atomic_fetch_sub(left, 1) > 1) {
        vow_promise_release(vow_async(NULL, hand_on, context));
    }
    return vow_none();
}

static inline vow_value sleep_a_bit(vow_value input, void *context) {
    (void)input;
    (void)context;
    usleep(20000);
    return vow_int(5);
}

/* A handler that runs its loop. */
typedef struct nested {
    vow_loop *loop;
    vow_promise *awaited;
    int answer;
    int64_t got;
    int depth;
} nested;

#endif
