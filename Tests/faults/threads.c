/* Tests threads that come, use the library and go, 10,000 of them: nothing grows, nothing is lost.
 */
#include "../c/worker.h"
#include <malloc.h>

#define THREADS 10000
/* What 8,000 threads may add to the process' memory: less than a hundred bytes each. The checked
 * library keeps what was freed, for a while; a sanitizer and valgrind remember each thread. */
#ifdef VOW_CHECKED
#define GROWTH (16 * 1024 * 1024)
#else
#define GROWTH ((int64_t)(slowness() > 1 ? 16 * 1024 : 512) * 1024)
#endif

static vow_executor *serial;

static void *come_and_go(void *context) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    promise = then_inline(promise, add_one, NULL);
    promise = vow_then(promise, add_one, NULL);
    promise = then_on(serial, promise, add_one, NULL);
    vow_resolve(resolver, vow_from_promise(fulfilled_int(1)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), 4);
    CHECK_INT_EQ(code_of(rejected_code(3)), 3);
    (void)context;
    return NULL;
}

/* A thread that leaves its work behind. */
static void *go_at_once(void *context) {
    vow_promise_release(vow_async(serial, counter_run, context));
    return NULL;
}

static int64_t resident(void) {
    FILE *file = fopen("/proc/self/statm", "r");
    long all = 0;
    long pages = 0;
    if (file != NULL) {
        CHECK_INT_EQ(fscanf(file, "%ld %ld", &all, &pages), 2);
        fclose(file);
    }
    CHECK(pages > 0);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static void run_threads(int count, void *(*run)(void *), void *context) {
    for (int i = 0; i < count; i += 4) {
        pthread_t threads[4];
        for (int j = 0; j < 4; j++) {
            threads[j] = start_thread(run, context);
        }
        for (int j = 0; j < 4; j++) {
            pthread_join(threads[j], NULL);
        }
    }
}

/* The last thread of a chain lets go of it a moment after its result was seen. */
static vow_statistics stats_at_rest(uint64_t live) {
    vow_statistics stats = harness_stats();
    for (int tries = 0; tries < 2000 && stats.live != live; tries++) {
        usleep(1000);
        stats = harness_stats();
    }
    CHECK_INT_EQ(stats.live, live);
    return stats;
}

TEST("10,000 threads use the library and end: it counts right and takes no more memory") {
    int count = slowness() > 1 ? THREADS / 10 : THREADS;
    serial = vow_executor_serial("for all threads");
    uint64_t live = harness_stats().live;
    run_threads(count / 5, come_and_go, NULL);
    vow_statistics before = stats_at_rest(live);
    int64_t resident_before = resident();
    run_threads(count - count / 5, come_and_go, NULL);
    vow_statistics after = harness_stats();
    int64_t growth = resident() - resident_before;
    uint64_t made = (uint64_t)(count - count / 5) * 6;
    CHECK_INT_EQ(after.created - before.created, made);
    CHECK_INT_EQ(after.settled - before.settled, made);
    harness_gate(&before);
    if (!CHECK(growth < GROWTH)) {
        printf("# %" PRId64 " bytes more\n", growth);
    }
    vow_executor_release(serial);
}

TEST("the work of threads that are gone is done") {
    counter context = {0};
    serial = vow_executor_serial("for those who left");
    run_threads(400, go_at_once, &context);
    CHECK(reaches(&context.runs, 400));
    CHECK_INT_EQ(atomic_load(&context.runs), 400);
    vow_executor_release(serial);
}
