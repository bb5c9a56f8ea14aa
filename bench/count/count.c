/* The interposition behind count.h: glibc's allocator under its other names. */
#define _GNU_SOURCE
#include "count.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static _Atomic uint64_t allocations, bytes, live, peak;

static void *taken(void *memory, size_t size) {
    if (memory == NULL) {
        return NULL;
    }
    size_t usable = malloc_usable_size(memory);
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bytes, size, memory_order_relaxed);
    uint64_t now = atomic_fetch_add_explicit(&live, usable, memory_order_relaxed) + usable;
    uint64_t most = atomic_load_explicit(&peak, memory_order_relaxed);
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now)) {
    }
    return memory;
}

static void given_back(void *memory) {
    if (memory != NULL) {
        atomic_fetch_sub_explicit(&live, malloc_usable_size(memory), memory_order_relaxed);
    }
}

void *malloc(size_t size) {
    return taken(__libc_malloc(size), size);
}

void *calloc(size_t count, size_t size) {
    return taken(__libc_calloc(count, size), count * size);
}

void *realloc(void *memory, size_t size) {
    size_t before = memory == NULL ? 0 : malloc_usable_size(memory);
    void *result = __libc_realloc(memory, size);
    if (result == NULL && size != 0) {
        return NULL;
    }
    atomic_fetch_sub_explicit(&live, before, memory_order_relaxed);
    return taken(result, size);
}

void *memalign(size_t alignment, size_t size) {
    return taken(__libc_memalign(alignment, size), size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return taken(__libc_memalign(alignment, size), size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    void *memory = taken(__libc_memalign(alignment, size), size);
    if (memory == NULL) {
        return ENOMEM;
    }
    *out = memory;
    return 0;
}

void free(void *memory) {
    given_back(memory);
    __libc_free(memory);
}

void bench_count_reset(void) {
    allocations = 0;
    bytes = 0;
    peak = atomic_load(&live);
}

bench_counts bench_count_read(void) {
    return (bench_counts){allocations, bytes, live, peak};
}
