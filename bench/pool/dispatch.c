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

static void job_that_spawns(void *n) {
    spawn((size_t)n);
}

static void hand_over(void) {
    dispatch_async_f(queue, NULL, job);
}

static void hand_over_spawn(size_t n) {
    dispatch_async_f(queue, (void *)n, job_that_spawns);
}

static void round_trip(void) {
    dispatch_async_f(queue, NULL, job_and_back);
    dispatch_semaphore_wait(back, DISPATCH_TIME_FOREVER);
}

int main(int argc, char **argv) {
    static const workload workloads[] = {PASSES, {NULL, NULL}};
    queue = dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_DEFAULT, 0);
    back = dispatch_semaphore_create(0);
    return run_workload(argc, argv, workloads);
}
