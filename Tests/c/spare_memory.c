/* Tests what a thread keeps of the memory of freed promises: counted, given back while it rests, or
 * when asked. */
#include "tools.h"

#define BURST 2000

/* Makes many promises and links, and frees them all. */
static void burst(void) {
    static vow_promise *made[BURST];
    vow_resolver *resolver;
    vow_promise *common = vow_promise_create(&resolver);
    for (int i = 0; i < BURST; i++) {
        made[i] =
            i % 2 == 0 ? fulfilled_int(i) : then_inline(vow_promise_retain(common), add_one, NULL);
    }
    vow_resolve(resolver, vow_int(1));
    vow_resolver_release(resolver);
    vow_promise_release(common);
    for (int i = 0; i < BURST; i++) {
        vow_promise_release(made[i]);
    }
}

static uint64_t spare(void) {
    return harness_stats().spare;
}

/* A checked library keeps nothing, and then there is nothing to give back. */
static bool keeps(void) {
    vow_trim();
    burst();
    bool is_keeping = spare() > 0;
    vow_trim();
    return is_keeping;
}

/* What a thread may keep while it rests: 32 of each size. */
#define FEW (32 * (40 + 72 + 96))

static void rest_by_waiting(int64_t time) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK_INT_EQ(vow_await(promise, time, NULL), VOW_PENDING);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}

TEST("statistics count what threads keep, apart from the bytes") {
    vow_statistics before = harness_stats();
    burst();
    vow_statistics after = harness_stats();
    CHECK_INT_EQ(after.bytes, before.bytes);
    if (keeps()) {
        CHECK(after.spare > before.spare && after.spare >= 1000 * 40);
    }
    CHECK(after.spare <= before.spare + 1024 * (40 + 72 + 96));
}

TEST("a caller of before there was spare memory in the statistics gets the rest as it was") {
    struct {
        vow_statistics known;
        unsigned char mark;
    } old;
    memset(&old, 0x5a, sizeof old);
    old.known.size = offsetof(vow_statistics, spare);
    CHECK_INT_EQ(vow_stats(&old.known), 0);
    CHECK_INT_EQ(old.known.live, harness_stats().live);
    CHECK_INT_EQ(old.known.spare, 0x5a5a5a5a5a5a5a5a);
}

/* Memory that a thread has not needed is laid aside, and goes if no thread needs it for 100 ms. */
TEST("after a burst the memory goes within a few waits") {
    burst();
    for (int i = 0; i < 4; i++) {
        rest_by_waiting(MILLISECOND);
        usleep(110000);
    }
    rest_by_waiting(MILLISECOND);
    CHECK(spare() <= FEW);
}

TEST("after a burst the memory goes in the middle of a long wait") {
    burst();
    rest_by_waiting(500 * MILLISECOND);
    CHECK(spare() <= FEW);
}

TEST("after a burst the memory goes within a few turns of a loop that finds nothing") {
    vow_loop *loop = vow_loop_create();
    burst();
    for (int i = 0; i < 5; i++) {
        CHECK_INT_EQ(vow_loop_run_once(loop, 0), 0);
        usleep(110000);
    }
    CHECK_INT_EQ(vow_loop_run_once(loop, 0), 0);
    CHECK(spare() <= FEW);
    vow_loop_destroy(loop);
}

TEST("after a burst the memory goes while a loop sleeps") {
    vow_loop *loop = vow_loop_create();
    burst();
    CHECK_INT_EQ(vow_loop_run_once(loop, 500 * MILLISECOND), 0);
    CHECK(spare() <= FEW);
    vow_loop_destroy(loop);
}

TEST("work that is the same between two rests takes the memory that it gave back") {
    if (!keeps()) {
        return;
    }
    for (int i = 0; i < 4; i++) {
        burst();
        rest_by_waiting(MILLISECOND);
    }
    CHECK(spare() >= 1000 * 40);
}

TEST("a thread gives back all that it keeps when it is asked, and says how much") {
    burst();
    uint64_t kept = spare();
    CHECK_INT_EQ(vow_trim(), kept);
    CHECK_INT_EQ(spare(), 0);
    CHECK_INT_EQ(vow_trim(), 0);
}

TEST("after it was asked it keeps as before") {
    bool is_keeping = keeps();
    burst();
    CHECK(!is_keeping || spare() > 0);
}

enum { PASSED = 20000 };

typedef struct passed {
    vow_promise *promises[PASSED];
} passed;

static void *release_all(void *context) {
    passed *self = context;
    for (int i = 0; i < PASSED; i++) {
        vow_promise_release(self->promises[i]);
    }
    return NULL;
}

static void pass_on(passed *self) {
    for (int i = 0; i < PASSED; i++) {
        self->promises[i] = fulfilled_int(i);
    }
    pthread_join(start_thread(release_all, self), NULL);
}

TEST("a thread lays aside what it frees for the thread that makes more") {
    static passed self;
    bool is_keeping = keeps();
    pass_on(&self);
    uint64_t aside = spare();
    CHECK(!is_keeping || (aside >= 2000 * 40 && aside <= 4096 * 40));
    for (int i = 0; i < 2000; i++) {
        self.promises[i] = fulfilled_int(i);
    }
    CHECK(!is_keeping || spare() < aside - 1500 * 40);
    for (int i = 0; i < 2000; i++) {
        vow_promise_release(self.promises[i]);
    }
    uint64_t kept = spare();
    CHECK_INT_EQ(vow_trim(), kept);
    CHECK_INT_EQ(spare(), 0);
}

TEST("what another thread has laid aside goes while a thread sleeps") {
    static passed self;
    pass_on(&self);
    rest_by_waiting(500 * MILLISECOND);
    CHECK(spare() <= FEW);
}

/* Of what the process has in memory, in bytes. */
static int64_t resident(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%*d %ld", &pages) == 1);
    if (file != NULL) {
        fclose(file);
    }
    return pages * sysconf(_SC_PAGESIZE);
}

TEST("after many promises the pages go back to the system when it is asked") {
    enum { MANY = 400000 };
    static vow_promise *many[MANY];
    memset(many, 1, sizeof many);
    bool is_keeping = keeps();
    int count = MANY / (slowness() < 20 ? 1 : 100);
    int64_t before = resident();
    for (int i = 0; i < count; i++) {
        many[i] = fulfilled_int(i);
    }
    int64_t during = resident();
    for (int i = 0; i < count; i++) {
        vow_promise_release(many[i]);
    }
    vow_trim();
    /* Under valgrind and sanitizers another malloc keeps what it likes. */
    CHECK(!is_keeping || slowness() > 1 || during - before > 16000000);
    CHECK(!is_keeping || slowness() > 1 || resident() - before < 3000000);
}

static void *burst_and_tell(void *context) {
    burst();
    *(uint64_t *)context = spare();
    return NULL;
}

static void *trim_at_once(void *context) {
    *(size_t *)context = vow_trim();
    return NULL;
}

TEST("what another thread keeps is counted until that thread ends") {
    bool is_keeping = keeps();
    uint64_t during = 0;
    vow_trim();
    uint64_t before = spare();
    pthread_join(start_thread(burst_and_tell, &during), NULL);
    CHECK(!is_keeping || during > before);
    CHECK_INT_EQ(spare(), before);
}

TEST("a thread that has used nothing else may ask, too") {
    size_t got = 1;
    pthread_join(start_thread(trim_at_once, &got), NULL);
    CHECK_INT_EQ(got, 0);
}
