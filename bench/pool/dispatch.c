/* libdispatch's global queue. */
#include "jobs.h"

#include <dispatch/dispatch.h>

static dispatch_queue_t queue;
static dispatch_semaphore_t back;

static void job(void *context) {
    (void)context;
    count_job();
}

static void job_and_back(void *context) {
    job(context);
    dispatch_semaphore_signal(back);
}

static void round_trips(size_t n) {
    expect_jobs(n);
    for (size_t i = 0; i < n; i++) {
        dispatch_async_f(queue, NULL, job_and_back);
        dispatch_semaphore_wait(back, DISPATCH_TIME_FOREVER);
    }
    await_jobs();
}

/* The context is gone when the last job has run. */
static void spawn(void *context) {
    size_t n = *(size_t *)context;
    for (size_t i = 0; i < n; i++) {
        dispatch_async_f(queue, NULL, job);
    }
}

static void batch(size_t n) {
    expect_jobs(n);
    spawn(&n);
    await_jobs();
}

static void inside(size_t n) {
    expect_jobs(n);
    dispatch_async_f(queue, &n, spawn);
    await_jobs();
}

int main(int argc, char **argv) {
    queue = dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_DEFAULT, 0);
    back = dispatch_semaphore_create(0);
    static const workload workloads[] = {
        {"round-trip", round_trips}, {"batch", batch}, {"inside", inside}, {NULL, NULL}};
    return run_workload(argc, argv, workloads);
}
