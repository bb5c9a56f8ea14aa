/* Vow's pool, through the C header. */
#include "jobs.h"

#include <vow.h>

static vow_value job(vow_value input, void *context) {
    (void)context;
    count_job();
    return input;
}

static void hand_over(vow_handler work, void *context) {
    vow_promise_release(vow_async(vow_executor_pool(), work, context));
}

static void wait_each(size_t n, int64_t limit) {
    expect_jobs(n);
    for (size_t i = 0; i < n; i++) {
        vow_promise *result = vow_async(vow_executor_pool(), job, NULL);
        EXPECT(vow_await(result, limit, NULL) == (int)VOW_FULFILLED);
        vow_promise_release(result);
    }
    await_jobs();
}

/* The waiting thread runs the job itself if no worker has begun it. */
static void round_trips(size_t n) {
    wait_each(n, VOW_FOREVER);
}

/* A wait with a time-out leaves the job to the pool's threads. */
static void limited_round_trips(size_t n) {
    wait_each(n, 60 * VOW_SECOND);
}

static void batch(size_t n) {
    expect_jobs(n);
    for (size_t i = 0; i < n; i++) {
        hand_over(job, NULL);
    }
    await_jobs();
}

/* The context is gone when the last job has run. */
static vow_value spawn(vow_value input, void *context) {
    size_t n = *(size_t *)context;
    for (size_t i = 0; i < n; i++) {
        hand_over(job, NULL);
    }
    return input;
}

static void inside(size_t n) {
    expect_jobs(n);
    hand_over(spawn, &n);
    await_jobs();
}

static void handlers(size_t n) {
    expect_jobs(n);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_reaction reaction = {
        .size = sizeof reaction, .on_fulfilled = job, .executor = vow_executor_pool()};
    for (size_t i = 0; i < n; i++) {
        vow_promise_release(vow_then_with(vow_promise_retain(promise), &reaction));
    }
    EXPECT(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    await_jobs();
}

int main(int argc, char **argv) {
    static const workload workloads[] = {{"round-trip", round_trips},
                                         {"limited-round-trip", limited_round_trips},
                                         {"batch", batch},
                                         {"inside", inside},
                                         {"handlers", handlers},
                                         {NULL, NULL}};
    return run_workload(argc, argv, workloads);
}
