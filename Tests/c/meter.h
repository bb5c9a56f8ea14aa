/* An allocator of the program that counts and can fail; and a main that sets it before anything.
 *
 * Compile with -DVOW_CHECKED for the checked library: it keeps freed memory back, to recognise it
 * when it is used again, so that the allocator does not get all of it. */
#ifndef VOW_TEST_METER_H
#define VOW_TEST_METER_H

#define HARNESS_OWN_MAIN
#include "worker.h"

/* A malloc that counts, checks sizes, and fails once when its countdown ends. What threads carry to
 * their ends is no part of that. */
typedef struct meter {
    atomic_llong blocks;
    atomic_llong bytes;
    atomic_llong calls;
    atomic_llong wrong;
    atomic_llong countdown; /* 0: never fails */
    atomic_llong failed;
} meter;

static meter counts;

#ifdef VOW_CHECKED
static const bool keeps_freed = true;
#else
static const bool keeps_freed = false;
#endif

static inline void *meter_allocate(void *context, size_t bytes) {
    meter *self = context;
    bool is_counted = !begins_thread();
    atomic_fetch_add(&self->calls, is_counted);
    if (is_counted && atomic_load(&self->countdown) > 0 &&
        atomic_fetch_sub(&self->countdown, 1) == 1) {
        atomic_fetch_add(&self->failed, 1);
        return NULL;
    }
    size_t *block = bytes > SIZE_MAX / 2 ? NULL : malloc(bytes + 16);
    if (block == NULL) {
        return NULL;
    }
    block[0] = bytes;
    block[1] = is_counted;
    atomic_fetch_add(&self->blocks, is_counted);
    atomic_fetch_add(&self->bytes, is_counted ? (long long)bytes : 0);
    return (char *)block + 16;
}

static inline void meter_deallocate(void *context, void *pointer, size_t bytes) {
    meter *self = context;
    size_t *block = (size_t *)(void *)((char *)pointer - 16);
    if (block[0] != bytes) {
        atomic_fetch_add(&self->wrong, 1);
    }
    atomic_fetch_sub(&self->blocks, (long long)block[1]);
    atomic_fetch_sub(&self->bytes, block[1] ? (long long)bytes : 0);
    free(block);
}

static const vow_allocator meter_allocator = {sizeof(vow_allocator), meter_allocate,
                                              meter_deallocate, &counts};

static inline int check_wrong_allocators(void) {
    vow_allocator wrong = meter_allocator;
    int good = 0;
    wrong.size = 0;
    good += vow_set_allocator(&wrong) == VOW_EINVAL;
    wrong = meter_allocator;
    memset(&wrong.allocate, 0, sizeof wrong.allocate);
    good += vow_set_allocator(&wrong) == VOW_EINVAL;
    wrong = meter_allocator;
    memset(&wrong.deallocate, 0, sizeof wrong.deallocate);
    good += vow_set_allocator(&wrong) == VOW_EINVAL;
    good += vow_set_allocator(NULL) == 0;
    good += vow_set_allocator(&meter_allocator) == 0;
    return good;
}

int main(int count, char **arguments) {
    if (check_wrong_allocators() != 5) {
        printf("not ok an allocator is checked and set before the first promise\n");
        return 1;
    }
    printf("ok an allocator is checked and set before the first promise\n");
    int status = harness_main(count > 1 ? arguments[1] : NULL);
    /* The environment may have switched tracing on, which has memory of its own. */
    vow_trace_stop();
    bool balanced = atomic_load(&counts.blocks) == 0 || keeps_freed;
    if (!balanced || atomic_load(&counts.wrong) != 0) {
        printf("not ok the allocator's balance at the end: %lld blocks, %lld wrong sizes\n",
               (long long)counts.blocks, (long long)counts.wrong);
        return 1;
    }
    return status;
}

#endif
