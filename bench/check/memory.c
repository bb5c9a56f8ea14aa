/* Measures allocations, bytes, memory held, and what is handed to libdispatch. With
 * MEASURE_MALLOCS: only how often malloc is called where threads keep spare memory, as they do in
 * programs. */
#define _GNU_SOURCE
#include "../count/count.h"
#include "check.h"

#include <dispatch/dispatch.h>
#include <dlfcn.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vow.h>

static uint64_t allocations, bytes, peak, resident;
static uint64_t dispatches; /* the most at once */
static uint64_t live_before, resident_before, dispatches_before;
static bool has_resident;
static int times; /* that something was measured */
static _Atomic uint64_t handed_over;

/* Stores libdispatch's own function, behind one that stands before it here, in *function. */
static void find_behind(const char *name, void *function) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) {
        fprintf(stderr, "memory: no %s\n", name);
        abort();
    }
    memcpy(function, &found, sizeof found);
}

/* Each way to hand work to a queue, found once, before anything is measured. */
typedef void submit_f(dispatch_queue_t, void *, dispatch_function_t);
typedef void submit_later_f(dispatch_time_t, dispatch_queue_t, void *, dispatch_function_t);
typedef void submit_group_f(dispatch_group_t, dispatch_queue_t, void *, dispatch_function_t);
static submit_f *real_async_f, *real_barrier_async_f;
static submit_later_f *real_after_f;
static submit_group_f *real_group_async_f;

__attribute__((constructor)) static void find_dispatch(void) {
    find_behind("dispatch_async_f", &real_async_f);
    find_behind("dispatch_barrier_async_f", &real_barrier_async_f);
    find_behind("dispatch_after_f", &real_after_f);
    find_behind("dispatch_group_async_f", &real_group_async_f);
}

void dispatch_async_f(dispatch_queue_t queue, void *context, dispatch_function_t work) {
    atomic_fetch_add(&handed_over, 1);
    real_async_f(queue, context, work);
}

void dispatch_barrier_async_f(dispatch_queue_t queue, void *context, dispatch_function_t work) {
    atomic_fetch_add(&handed_over, 1);
    real_barrier_async_f(queue, context, work);
}

void dispatch_after_f(dispatch_time_t when, dispatch_queue_t queue, void *context,
                      dispatch_function_t work) {
    atomic_fetch_add(&handed_over, 1);
    real_after_f(when, queue, context, work);
}

void dispatch_group_async_f(dispatch_group_t group, dispatch_queue_t queue, void *context,
                            dispatch_function_t work) {
    atomic_fetch_add(&handed_over, 1);
    real_group_async_f(group, queue, context, work);
}

#ifdef MEASURE_MALLOCS

void measure_start(void) {
}

#else

static void *allocate(void *context, size_t size) {
    (void)context;
    return malloc(size);
}

static void deallocate(void *context, void *memory, size_t size) {
    (void)context;
    (void)size;
    free(memory);
}

/* The library keeps no spare memory where the program has an allocator: each object is seen. */
void measure_start(void) {
    static const vow_allocator allocator = {sizeof allocator, allocate, deallocate, NULL};
    if (vow_set_allocator(&allocator) != 0) {
        abort();
    }
}

#endif

/* With the allocator's own headers, which `live` of count.h leaves out. */
static uint64_t in_use(void) {
    struct mallinfo2 all = mallinfo2();
    return all.uordblks + all.hblkhd;
}

void measure_begin(void) {
    resident_before = in_use();
    dispatches_before = atomic_load(&handed_over);
    bench_count_reset();
    live_before = bench_count_read().live;
}

void measure_end(void) {
    bench_counts now = bench_count_read();
    allocations += now.allocations;
    bytes += now.bytes;
    peak = now.peak - live_before;
    uint64_t now_handed_over = atomic_load(&handed_over) - dispatches_before;
    if (now_handed_over > dispatches) {
        dispatches = now_handed_over;
    }
    times++;
}

void measure_held(void) {
    has_resident = true;
    resident += in_use() - resident_before;
}

void measure_watch(const void *object, size_t size) {
    (void)object;
    (void)size;
}

void measure_print(void) {
#ifdef MEASURE_MALLOCS
    printf("mallocs %llu\n", (unsigned long long)allocations);
    return;
#endif
    printf("allocations %llu\nbytes %llu\ndispatches %llu\n", (unsigned long long)allocations,
           (unsigned long long)bytes, (unsigned long long)dispatches);
    if (times == 1) {
        printf("peak %llu\n", (unsigned long long)peak);
    }
    if (has_resident) {
        printf("resident %llu\n", (unsigned long long)resident);
    }
}
