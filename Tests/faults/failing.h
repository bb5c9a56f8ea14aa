/* An allocator whose failures are planned; and a main that sets it before anything else.
 *
 * Compile with -DVOW_CHECKED for the checked library, which keeps freed memory for a while. */
#ifndef VOW_TEST_FAILING_H
#define VOW_TEST_FAILING_H

#define HARNESS_OWN_MAIN
#include "../c/worker.h"

#include <errno.h>

/* In the place of the C library's: who asks them passes by the allocator, and gets nothing. */
void *aligned_alloc(size_t alignment, size_t size) {
    (void)alignment, (void)size;
    return NULL;
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    (void)memory, (void)alignment, (void)size;
    return ENOMEM;
}

typedef enum plan {
    NO_FAILURE,
    ONE_FAILURE, /* the call of that number fails */
    FAILURES_FROM /* that call and all later ones */,
    RANDOM_FAILURES /* each call with a chance that the seed decides */
} plan;

typedef struct allocations {
    atomic_int plan;
    atomic_ullong number; /* of a call, from 1 on; or the seed */
    atomic_ullong calls;  /* since the plan was made, while it holds */
    atomic_llong failed;  /* the same */
    atomic_llong blocks;
    atomic_llong wrong; /* blocks that were given back with another size, or that overflowed */
} allocations;

static allocations memory;

/* A number in which every bit depends on every bit of its input (splitmix64). */
static inline uint64_t mixed(uint64_t bits) {
    bits += UINT64_C(0x9E3779B97F4A7C15);
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94D049BB133111EB);
    return bits ^ (bits >> 31);
}

static inline void make_plan(plan kind, uint64_t number) {
    atomic_store(&memory.plan, NO_FAILURE);
    atomic_store(&memory.number, number);
    atomic_store(&memory.calls, 0);
    atomic_store(&memory.failed, 0);
    atomic_store(&memory.plan, kind);
}

/* Between the two nothing fails, and no call counts. */
static inline plan pause_plan(void) {
    return (plan)atomic_exchange(&memory.plan, NO_FAILURE);
}

static inline void resume_plan(plan kind) {
    atomic_store(&memory.plan, kind);
}

/* Whether an allocation failed since the plan was made. */
static inline bool lacked_memory(void) {
    return atomic_load(&memory.failed) > 0;
}

static inline bool fails_now(allocations *self) {
    plan kind = (plan)atomic_load(&self->plan);
    if (kind == NO_FAILURE) {
        return false;
    }
    uint64_t call = atomic_fetch_add(&self->calls, 1) + 1;
    uint64_t number = atomic_load(&self->number);
    switch (kind) {
    case ONE_FAILURE:
        return call == number;
    case FAILURES_FROM:
        return call >= number;
    case RANDOM_FAILURES:
        /* One call in 2, 4, 8, ... 64, as the seed says. */
        return (mixed(number * 1000003 + call) & ((UINT64_C(2) << number % 6) - 1)) == 0;
    default:
        return false;
    }
}

static const unsigned char fence = 0xFD;

/* Before a block stands its size and whether it counts, which what a thread carries to its end does
 * not; after it a fence. New and freed memory holds no zeros. */
static inline void *failing_allocate(void *context, size_t bytes) {
    allocations *self = context;
    size_t head[2] = {bytes, !begins_thread()};
    if (fails_now(self)) {
        atomic_fetch_add(&self->failed, 1);
        return NULL;
    }
    unsigned char *block = bytes > SIZE_MAX / 2 ? NULL : malloc(bytes + 17);
    if (block == NULL) {
        return NULL;
    }
    memcpy(block, head, sizeof head);
    memset(block + 16, 0xA5, bytes);
    block[16 + bytes] = fence;
    atomic_fetch_add(&self->blocks, (long long)head[1]);
    return block + 16;
}

static inline void failing_deallocate(void *context, void *pointer, size_t bytes) {
    allocations *self = context;
    unsigned char *block = (unsigned char *)pointer - 16;
    size_t head[2];
    memcpy(head, block, sizeof head);
    if (head[0] != bytes || block[16 + head[0]] != fence) {
        atomic_fetch_add(&self->wrong, 1);
    }
    atomic_fetch_sub(&self->blocks, (long long)head[1]);
    memset(block, 0xDD, head[0] + 17);
    free(block);
}

#ifdef VOW_CHECKED
static const bool keeps_freed = true;
#else
static const bool keeps_freed = false;
#endif

/* What the allocator gave and did not get back. Only known where freed memory is not kept. */
static inline long long blocks_in_use(void) {
    return keeps_freed ? 0 : atomic_load(&memory.blocks);
}

/* Rejections that nobody handled; under failures they are many. */
static atomic_int reports;

static inline void count_report(vow_value error, void *context) {
    (void)context;
    if (error.kind == VOW_ERROR) {
        atomic_fetch_add(&reports, 1);
    }
}

int main(int count, char **arguments) {
    static const vow_allocator allocator = {sizeof(vow_allocator), failing_allocate,
                                            failing_deallocate, &memory};
    if (vow_set_allocator(&allocator) != 0) {
        printf("not ok the allocator is set\n");
        return 1;
    }
    vow_on_unhandled(count_report, NULL);
    int status = harness_main(count > 1 ? arguments[1] : NULL);
    /* The environment may have switched tracing on, which has memory of its own. */
    vow_trace_stop();
    bool good = blocks_in_use() == 0 && atomic_load(&memory.wrong) == 0;
    printf("%s the allocator got everything back, %lld blocks missing, %lld wrong\n",
           good ? "ok" : "not ok", blocks_in_use(), (long long)atomic_load(&memory.wrong));
    return good ? status : 1;
}

#endif
