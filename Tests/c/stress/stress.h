/* What the stress programs share: sizes from the environment, random numbers, gates. */
#ifndef VOW_TEST_STRESS_H
#define VOW_TEST_STRESS_H

#ifndef HARNESS_LIMIT
#define HARNESS_LIMIT 900
#endif
#include "../worker.h"

/* A size: what the environment says, or the usual one. */
static inline long size_of_run(const char *name, long usual) {
    const char *text = getenv(name);
    long size = text != NULL ? atol(text) : usual;
    return size > 0 ? size : usual;
}

/* xorshift64: the same numbers in every run, other ones for every seed. */
static inline uint64_t random_next(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline uint64_t random_seed(int number) {
    uint64_t state = 0x9e3779b97f4a7c15u * (uint64_t)(number + 1);
    random_next(&state);
    return state;
}

/* Does nothing for a moment that differs from call to call. */
static inline void random_pause(uint64_t *state) {
    atomic_int spin = 0;
    int count = (int)(random_next(state) % 300);
    while (atomic_fetch_add_explicit(&spin, 1, memory_order_relaxed) < count) {
    }
}

static inline void stress_ignore(vow_value error, void *context) {
    (void)error;
    (void)context;
}

#endif
