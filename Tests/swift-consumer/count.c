/* count.c: preloaded, prints how many allocations a program made, and of how many bytes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long allocations, bytes;

static void add(size_t size) {
    __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&bytes, size, __ATOMIC_RELAXED);
}

void *malloc(size_t size) {
    static void *(*real)(size_t);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "malloc");
    add(size);
    return real(size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    static int (*real)(void **, size_t, size_t);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "posix_memalign");
    add(size);
    return real(memory, alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    static void *(*real)(size_t, size_t);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "aligned_alloc");
    add(size);
    return real(alignment, size);
}

__attribute__((destructor)) static void print(void) {
    fprintf(stderr, "%lu %lu\n", allocations, bytes);
}
