/* Tests threads that come, use the library and go, 10,000 of them: nothing grows, nothing is lost.
 */
#include "../c/meter.h"

#define THREADS 10000
#define SLICES 10
/* What a thread may leave in the process' memory: less than any block. */
#define LEFT_EACH 64
/* Of what was freed the checked library keeps so many blocks, and the plain one none. */
#define KEPT (keeps_freed ? 65536 : 0)

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

/* What a thousand threads leave in the process' memory, at the least: the system, libdispatch and
 * the allocator add to it and take from it as they like, but what each thread leaves is in every
 * slice. */
static int64_t run_slices(int count) {
    int64_t least = INT64_MAX;
    for (int i = 0; i < SLICES; i++) {
        int64_t before = resident();
        run_threads(count / SLICES, come_and_go, NULL);
        int64_t growth = resident() - before;
        least = growth < least ? growth : least;
    }
    return least;
}

/* A block is given back a moment after it is counted as such, maybe on another thread. */
static bool blocks_return(long long most) {
    for (int64_t limit = now_ns() + LONG_ENOUGH; now_ns() < limit; usleep(1000)) {
        if (atomic_load(&counts.blocks) <= most) {
            return true;
        }
    }
    return false;
}

TEST("10,000 threads use the library and end: it counts right and takes no more memory") {
    int count = slowness() > 1 ? THREADS / 10 : THREADS;
    serial = vow_executor_serial("for all threads");
    vow_statistics before = harness_stats();
    long long blocks = atomic_load(&counts.blocks);
    int64_t growth = run_slices(count);
    /* The last thread of a chain lets go of it a moment after its result was seen. */
    harness_gate(&before);
    vow_statistics after = harness_stats();
    CHECK_INT_EQ(after.created - before.created, (uint64_t)count * 6);
    CHECK_INT_EQ(after.settled - before.settled, (uint64_t)count * 6);
    CHECK(blocks_return(blocks + KEPT));
    /* Sanitizers and valgrind remember each thread, and the checked library what was freed. */
    if (slowness() == 1 && !keeps_freed && !CHECK(growth < count / SLICES * LEFT_EACH)) {
        printf("# %" PRId64 " bytes more for %d threads\n", growth, count / SLICES);
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
