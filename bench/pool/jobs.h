/* What the jobs of the programs in C and C++ do: each counts, and the last one of a pass wakes the
 * thread that waits. */
#ifndef BENCH_JOBS_H
#define BENCH_JOBS_H

#include "workload.h"

#include <semaphore.h>

static size_t ran, expected;
static sem_t all_ran;

/* A job that is not the last may read `expected` when the next pass has begun: n is the same then.
 */
static inline void count_job(void) {
    size_t mine = __atomic_add_fetch(&ran, 1, __ATOMIC_ACQ_REL);
    if (mine == __atomic_load_n(&expected, __ATOMIC_RELAXED)) {
        sem_post(&all_ran);
    }
}

/* Before the first job of a pass is handed over. */
static inline void expect_jobs(size_t n) {
    __atomic_store_n(&ran, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&expected, n, __ATOMIC_RELAXED);
}

static inline void await_jobs(void) {
    EXPECT(sem_wait(&all_ran) == 0);
    EXPECT(__atomic_load_n(&ran, __ATOMIC_ACQUIRE) == expected);
}

#endif
