/* bench.c: keeps `parallel` chains in flight; each that ends starts the next one. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Handlers of several chains run at once on the pool: what they share is atomic, and everything
 * else belongs to one chain until `done` is resolved. */
struct bench {
    const struct chain_plan *plan;
    size_t count;
    atomic_size_t next, ended, failed;
    vow_resolver *done;
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

static void start_next(struct bench *bench);

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
    struct bench *bench = run->bench;
    (void)input;
    run->took = now_ns() - run->started;
    start_next(bench);
    if (atomic_fetch_add(&bench->ended, 1) + 1 == bench->count) {
        vow_resolver *done = bench->done; /* the bench may be freed once it is resolved */
        vow_resolve(done, vow_none());
        vow_resolver_release(done);
    }
    return vow_none();
}

static void start_next(struct bench *bench) {
    size_t index = atomic_fetch_add(&bench->next, 1);
    if (index >= bench->count) {
        return;
    }
    struct run *run = &bench->runs[index];
    run->bench = bench;
    run->started = now_ns();
    vow_promise *promise = chain_run(bench->plan);
    promise = vow_catch(promise, on_failure, run);
    promise = vow_then(promise, on_end, run);
    vow_promise_release(promise); /* goes on by itself */
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
    if (bench == NULL) {
        fprintf(stderr, "no memory for %zu chains\n", count);
        return false;
    }
    bench->plan = plan;
    bench->count = count;
    vow_promise *done = vow_promise_create(&bench->done);
    uint64_t started = now_ns();
    for (size_t i = 0; i < parallel; i++) {
        start_next(bench);
    }
    int state = vow_await(done, VOW_FOREVER, NULL);
    vow_promise_release(done);
    report(bench, parallel, now_ns() - started);
    bool good = state == VOW_FULFILLED && atomic_load(&bench->failed) == 0;
    free(bench);
    return good;
}
