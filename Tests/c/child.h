/* Parts of a test that run in a forked child. */
#ifndef VOW_TEST_CHILD_H
#define VOW_TEST_CHILD_H

#include "worker.h"
#include <sys/wait.h>

/* Runs one part in a child, which says through a pipe how its checks went: its exit status may be
 * that of a leak check, to which all that only a thread of the parent referred to is lost. */
static inline void fork_part(void (*part)(void *context), void *context) {
    int ends[2];
    char verdict = '-';
    int status = -1;
    if (!CHECK_INT_EQ(pipe(ends), 0)) {
        return;
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_LIMIT);
        part(context);
        fflush(stdout);
        verdict = atomic_load(&harness_failures) == 0 ? 'y' : 'n';
        _exit(write(ends[1], &verdict, 1) == 1 ? 0 : 1);
    }
    close(ends[1]);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(read(ends[0], &verdict, 1) == 1 && verdict == 'y');
    close(ends[0]);
}

/* The same in a process that has used the pool before, so it has threads to lose. */
static inline void in_child(void (*part)(void *context), void *context) {
    CHECK_INT_EQ(int_of(vow_async(vow_executor_pool(), add_one, NULL)), 1);
    fork_part(part, context);
}

#endif
