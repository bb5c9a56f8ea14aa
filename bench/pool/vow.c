/* Vow's pool, through the C header. */
#include "jobs.h"

#include <vow.h>

static int64_t limit = VOW_FOREVER;

static vow_value job(vow_value input, void *context) {
    (void)context;
    count_job();
    return input;
}

static vow_value job_that_spawns(vow_value input, void *n) {
    spawn((size_t)n);
    return input;
}

static void hand_over(void) {
    vow_promise_release(vow_async(vow_executor_pool(), job, NULL));
}

static void hand_over_spawn(size_t n) {
    vow_promise_release(vow_async(vow_executor_pool(), job_that_spawns, (void *)n));
}

static void round_trip(void) {
    vow_promise *result = vow_async(vow_executor_pool(), job, NULL);
    EXPECT(vow_await(result, limit, NULL) == (int)VOW_FULFILLED);
    vow_promise_release(result);
}

/* A wait without a time-out runs the job itself if no worker has begun it; this wait does not. */
static void limited_round_trips(size_t n) {
    limit = 60 * VOW_SECOND;
    round_trips(n);
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
    static const workload workloads[] = {
        PASSES, {"limited-round-trip", limited_round_trips}, {"handlers", handlers}, {NULL, NULL}};
    return run_workload(argc, argv, workloads);
}
