/* bench.c: vow_map keeps `parallel` chains under way; each that ends makes room for the next one.
 */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Handlers of several chains run at once on the pool: what they share is atomic. A run belongs to
 * one chain until vow_map is through. */
struct bench {
    const struct chain_plan *plan;
    size_t count;
    atomic_size_t failed;
    char first_error[320]; /* written by the chain that made `failed` 1 */
    struct run {
        struct bench *bench;
        uint64_t started, took; /* nanoseconds */
    } runs[];
};

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The one catch of a chain. */
static vow_value on_failure(vow_value error, void *context) {
    struct run *run = context;
    if (atomic_fetch_add(&run->bench->failed, 1) == 0) {
        snprintf(run->bench->first_error, sizeof run->bench->first_error, "%s %lld, %s",
                 vow_error_domain(error), (long long)vow_error_code(error),
                 vow_error_message(error));
    }
    return vow_none();
}

static vow_value on_end(vow_value input, void *context) {
    struct run *run = context;
    (void)input;
    run->took = now_ns() - run->started;
    return vow_none();
}

static vow_value run_chain(vow_value place, void *context) {
    struct bench *bench = context;
    struct run *run = &bench->runs[place.as.integer];
    run->bench = bench;
    run->started = now_ns();
    vow_promise *promise = chain_run(bench->plan);
    promise = vow_catch(promise, on_failure, run);
    return vow_from_promise(vow_then(promise, on_end, run));
}

/* The list 0, 1, 2 and so on; an error when out of memory. */
static vow_value places(size_t count) {
    vow_value *all = calloc(count, sizeof *all);
    if (all == NULL) {
        return vow_error("vow", VOW_ENOMEM, "no memory for so many chains");
    }
    for (size_t i = 0; i < count; i++) {
        all[i] = vow_int((int64_t)i);
    }
    vow_value list = vow_list(all, count);
    free(all);
    return list;
}

static int by_duration(const void *left, const void *right) {
    uint64_t a = ((const struct run *)left)->took, b = ((const struct run *)right)->took;
    return (a > b) - (a < b);
}

/* The smallest latency that at least `percent` of the (sorted) runs did not exceed, in ms. */
static double percentile(const struct bench *bench, size_t percent) {
    size_t rank = (bench->count * percent + 99) / 100;
    return (double)bench->runs[rank - 1].took / 1e6;
}

static void report(struct bench *bench, size_t parallel, uint64_t took) {
    double seconds = (double)took / 1e9;
    double rate = (double)bench->count / seconds;
    size_t failed = atomic_load(&bench->failed);
    qsort(bench->runs, bench->count, sizeof *bench->runs, by_duration);
    printf("chains:     %zu of 3 requests, %zu at a time, %zu failed\n", bench->count, parallel,
           failed);
    printf("time:       %.3f s\n", seconds);
    printf("throughput: %.0f chains/s, %.0f requests/s\n", rate, 3 * rate);
    printf("latency:    p50 %.2f ms, p90 %.2f ms, p99 %.2f ms, max %.2f ms (of a chain)\n",
           percentile(bench, 50), percentile(bench, 90), percentile(bench, 99),
           percentile(bench, 100));
    if (failed > 0) {
        printf("first error: %s\n", bench->first_error);
    }
}

bool bench_run(const struct chain_plan *plan, size_t count, size_t parallel) {
    struct bench *bench = calloc(1, sizeof *bench + count * sizeof *bench->runs);
    vow_value error;
    if (bench == NULL) {
        fprintf(stderr, "no memory for %zu chains\n", count);
        return false;
    }
    bench->plan = plan;
    bench->count = count;
    uint64_t started = now_ns();
    vow_promise *all = vow_map(places(count), run_chain, bench, parallel);
    bool good = chain_wait(plan, all, &error) == VOW_FULFILLED;
    if (good) {
        report(bench, parallel, now_ns() - started);
        good = atomic_load(&bench->failed) == 0;
    } else {
        fprintf(stderr, "%s\n", vow_error_message(error));
    }
    vow_value_release(error);
    free(bench);
    return good;
}
