/* What is under way when a process forks. */
#ifndef VOW_TEST_FORK_TOOLS_H
#define VOW_TEST_FORK_TOOLS_H

#include "child.h"

#define HOUR (3600 * SECOND)

static inline void hear_of_it(void *context) {
    atomic_fetch_add(&((counter *)context)->runs, 1);
}

static inline void check_told(counter *told, int runs, int ends) {
    CHECK_INT_EQ(atomic_load(&told->runs), runs);
    CHECK_INT_EQ(atomic_load(&told->ends), ends);
}

/* A map whose items are under way on the pool. */
static atomic_int under_way;
static atomic_int may_end;

static inline vow_value work_until_told(vow_value input, void *context) {
    (void)context;
    atomic_fetch_add(&under_way, 1);
    CHECK(reaches(&may_end, 1));
    return vow_value_retain(input);
}

#endif
