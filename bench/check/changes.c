/* Measures atomic read-modify-writes: it is the scheduler that a library built with VOW_SCHEDULES
 * asks before each atomic step, and only counts. */
#define _GNU_SOURCE
#include "check.h"
#include "platform.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static atomic_bool is_measuring;
static _Atomic uint64_t changes, writes;
static uintptr_t watched;
static size_t watched_size;

void vow_schedule_point(int step, const void *address) {
    if (step == VOW_STEP_WAKE) {
        syscall(SYS_futex, address, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
        return;
    }
    if (step == VOW_STEP_PAUSE) {
        sched_yield();
        return;
    }
    if (!atomic_load(&is_measuring)) {
        return;
    }
    if (step == VOW_STEP_CHANGE) {
        atomic_fetch_add(&changes, 1);
    }
    if ((step == VOW_STEP_CHANGE || step == VOW_STEP_WRITE) &&
        (uintptr_t)address - watched < watched_size) {
        atomic_fetch_add(&writes, 1);
    }
}

/* No workload waits with a deadline. */
int vow_schedule_sleep(const void *word, uint32_t expected, int has_deadline) {
    (void)has_deadline;
    syscall(SYS_futex, word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, expected, NULL, NULL, 0);
    return 1;
}

void measure_start(void) {
}

void measure_begin(void) {
    atomic_store(&is_measuring, true);
}

void measure_end(void) {
    atomic_store(&is_measuring, false);
}

void measure_held(void) {
}

void measure_watch(const void *object, size_t size) {
    watched = (uintptr_t)object;
    watched_size = size;
}

void measure_print(void) {
    printf("rmw %llu\n", (unsigned long long)changes);
    if (watched_size != 0) {
        printf("writes %llu\n", (unsigned long long)writes);
    }
}
