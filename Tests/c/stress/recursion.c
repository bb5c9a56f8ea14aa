/* Tests G7: loop(n), whose handler returns the promise of loop(n - 1), on a small stack.
 *
 * RECURSION_LEVELS in the environment sets another number than ten million. */
#include "../small_stack.h"
#include "stress.h"
#include <sys/resource.h>

#define SHORT 1000
#define MEGABYTE INT64_C(1048576)
/* How many promises are alive at once, however deep the recursion is: on the pool, where the next
 * level may run while the one before is being linked, some for each worker. */
#define MOST_LIVE 8
#define MOST_LIVE_IN_POOL 64

static long levels(void) {
    return size_of_run("RECURSION_LEVELS", 10000000 / slowness());
}

typedef struct recursion {
    vow_executor *executor;
    vow_handler fulfilled;
    vow_handler rejected;
    long levels;
    int64_t live_before;
    int64_t most_live;
    int64_t answer;
    int64_t thread_ns;
} recursion;

static vow_promise *loop(recursion *self, int64_t level) {
    vow_promise *start = fulfilled_int(level);
    return link_full(self->executor, start, self->fulfilled, self->rejected, self, NULL);
}

static vow_value descend(vow_value input, void *context) {
    recursion *self = context;
    int64_t level = input.as.integer;
    if (level % 1024 == 0) {
        int64_t live = (int64_t)harness_stats().live - self->live_before;
        self->most_live = live > self->most_live ? live : self->most_live;
    }
    return level == 0 ? vow_int(42) : vow_from_promise(loop(self, level - 1));
}

static int64_t thread_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * SECOND + now.tv_nsec;
}

static void *recur(void *context) {
    recursion *self = context;
    int64_t start = thread_ns();
    self->answer = int_of(loop(self, self->levels));
    self->thread_ns = thread_ns() - start;
    return NULL;
}

/* live_before: how many promises were alive before any run; the pool may still free those of the
 * run before. */
static recursion run(vow_executor *executor, long count, int64_t live_before) {
    recursion self = {executor, descend, NULL, count, live_before, 0, 0, 0};
    on_small_stack(recur, &self);
    CHECK_INT_EQ(self.answer, 42);
    return self;
}

/* In bytes, since the process began. */
static int64_t peak(void) {
    struct rusage usage;
    CHECK_INT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
    return (int64_t)usage.ru_maxrss * 1024;
}

static void check_flat(vow_executor *executor, int64_t most_live) {
    int64_t live_before = (int64_t)harness_stats().live;
    run(executor, SHORT, live_before);
    int64_t peak_before = peak();
    recursion deep = run(executor, levels(), live_before);
    int64_t growth = peak() - peak_before;
    /* A sanitizer keeps some hundred megabytes of freed memory, to recognise it. */
    if (!CHECK(growth < (slowness() > 1 ? 512 : 2) * MEGABYTE)) {
        printf("# %" PRId64 " bytes more\n", growth);
    }
    if (!CHECK(deep.most_live < most_live)) {
        printf("# %" PRId64 " promises at once\n", deep.most_live);
    }
}

TEST("G7: ten million levels on 64 KiB of stack take no more memory than a thousand, inline") {
    check_flat(vow_executor_inline(), MOST_LIVE);
}

TEST("G7: so they do on a serial executor") {
    vow_executor *serial = vow_executor_serial("recursion");
    check_flat(serial, MOST_LIVE);
    vow_executor_release(serial);
}

TEST("G7: so they do on the pool") {
    check_flat(vow_executor_pool(), MOST_LIVE_IN_POOL);
}

/* The same number of plain links, in one chain. */
static void *chain(void *context) {
    recursion *self = context;
    int64_t start = thread_ns();
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    for (long i = 0; i < self->levels; i++) {
        promise = then_inline(promise, add_one, NULL);
    }
    CHECK(vow_resolve(resolver, vow_int(0)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), self->levels);
    self->thread_ns = thread_ns() - start;
    return NULL;
}

TEST("G7: a level costs less than six times a link") {
    long count = levels() / 20;
    int64_t level = INT64_MAX;
    int64_t link = INT64_MAX;
    for (int turn = 0; turn < 7; turn++) {
        recursion self = run(vow_executor_inline(), count, (int64_t)harness_stats().live);
        level = self.thread_ns < level ? self.thread_ns : level;
        on_small_stack(chain, &self);
        link = self.thread_ns < link ? self.thread_ns : link;
    }
    printf("# a level takes %.1f ns, a link %.1f ns, ratio %.2f\n", (double)level / (double)count,
           (double)link / (double)count, (double)level / (double)link);
    CHECK(level < 6 * link);
}
