/* The passes of the programs in C and C++. A job counts, and the last one of a pass wakes the
 * thread that waits. */
#ifndef BENCH_JOBS_H
#define BENCH_JOBS_H

#include "workload.h"

#include <semaphore.h>

/* Each program defines these three. */
static void hand_over(void);           /* a job that calls count_job */
static void hand_over_spawn(size_t n); /* a job that calls spawn */
static void round_trip(void);          /* as hand_over, and waits for the job */

static size_t ran, expected;
static sem_t all_ran;

/* A job that is not the last may read `expected` when the next pass has begun: n is the same then.
 */
static void count_job(void) {
    size_t mine = __atomic_add_fetch(&ran, 1, __ATOMIC_ACQ_REL);
    if (mine == __atomic_load_n(&expected, __ATOMIC_RELAXED)) {
        sem_post(&all_ran);
    }
}

static void expect_jobs(size_t n) {
    __atomic_store_n(&ran, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&expected, n, __ATOMIC_RELAXED);
}

static void await_jobs(void) {
    EXPECT(sem_wait(&all_ran) == 0);
    EXPECT(__atomic_load_n(&ran, __ATOMIC_ACQUIRE) == expected);
}

static void round_trips(size_t n) {
    expect_jobs(n);
    for (size_t i = 0; i < n; i++) {
        round_trip();
    }
    await_jobs();
}

static void spawn(size_t n) {
    for (size_t i = 0; i < n; i++) {
        hand_over();
    }
}

static void batch(size_t n) {
    expect_jobs(n);
    spawn(n);
    await_jobs();
}

static void inside(size_t n) {
    expect_jobs(n);
    hand_over_spawn(n);
    await_jobs();
}

#define PASSES                                                                                     \
    {"round-trip", round_trips}, {"batch", batch}, {                                               \
        "inside", inside                                                                           \
    }

#endif
