/* Tests that a wait lasts no longer than it may, and runs no pool handler on a thread of the
 * program, although what it waits for is ready and nobody has begun it. */
#include "tools.h"

#define SLEEPERS 80

/* Keeps the workers of the pool busy, so that what comes later stays ready without being begun. */
typedef struct scene {
    atomic_int open;
    atomic_int asleep;
    atomic_int slept;
    atomic_int begun;   /* handlers that stood behind the crowd */
    atomic_int strayed; /* of these, the ones on the thread of the program */
    vow_promise *late;
    pthread_t program;
    int answer;
    int64_t took;
    int64_t timeout;
} scene;

static vow_value sleep_until_open(vow_value input, void *context) {
    scene *self = context;
    (void)input;
    atomic_fetch_add(&self->asleep, 1);
    reaches(&self->open, 1);
    atomic_fetch_add(&self->slept, 1);
    return vow_none();
}

static vow_value be_short(vow_value input, void *context) {
    scene *self = context;
    atomic_fetch_add(&self->begun, 1);
    if (pthread_equal(pthread_self(), self->program) != 0) {
        atomic_fetch_add(&self->strayed, 1);
    }
    return vow_value_retain(input);
}

/* Ends only when the scene does, so that a wait which runs it does not come back. */
static vow_value be_long(vow_value input, void *context) {
    scene *self = context;
    be_short(input, context);
    reaches(&self->open, 1);
    return vow_int(8);
}

static void crowd_pool(scene *self) {
    for (int i = 0; i < SLEEPERS; i++) {
        vow_promise_release(vow_async(vow_executor_pool(), sleep_until_open, self));
    }
    CHECK(reaches(&self->asleep, 1));
    usleep(50000);
    self->late = vow_async(vow_executor_pool(), be_long, self);
}

static void scene_end(scene *self) {
    atomic_store(&self->open, 1);
    CHECK_INT_EQ(int_of(self->late), 8);
    CHECK(reaches(&self->slept, SLEEPERS));
}

static vow_value wait_for_late(vow_value input, void *context) {
    scene *self = context;
    int64_t start = now_ns();
    (void)input;
    self->answer = vow_await(self->late, self->timeout, NULL);
    self->took = now_ns() - start;
    return vow_int(self->answer);
}

static void check_bounded(scene *self) {
    CHECK_INT_EQ(atomic_load(&self->begun), 0);
    CHECK_INT_EQ(self->answer, VOW_PENDING);
    CHECK(self->took >= self->timeout);
}

/* A handler of the pool that has its place in it before the crowd comes. */
static vow_value crowd_and_wait(vow_value input, void *context) {
    crowd_pool(context);
    return wait_for_late(input, context);
}

TEST("G11: a wait in a pool handler for a long one that is ready ends when its time is up") {
    static const int64_t timeouts[3] = {0, 10 * MILLISECOND, 100 * MILLISECOND};
    for (int i = 0; i < 3; i++) {
        scene self;
        memset(&self, 0, sizeof self);
        self.program = pthread_self();
        self.timeout = timeouts[i];
        CHECK_INT_EQ(int_of(vow_async(vow_executor_pool(), crowd_and_wait, &self)), VOW_PENDING);
        check_bounded(&self);
        scene_end(&self);
    }
}

TEST("G11: so does one in an inline handler on a thread of the program") {
    static const int64_t timeouts[3] = {0, 10 * MILLISECOND, 100 * MILLISECOND};
    for (int i = 0; i < 3; i++) {
        scene self;
        memset(&self, 0, sizeof self);
        self.program = pthread_self();
        self.timeout = timeouts[i];
        crowd_pool(&self);
        CHECK_INT_EQ(int_of(vow_async(vow_executor_inline(), wait_for_late, &self)), VOW_PENDING);
        check_bounded(&self);
        scene_end(&self);
        CHECK_INT_EQ(atomic_load(&self.strayed), 0);
    }
}

static void *open_later(void *context) {
    scene *self = context;
    usleep(100000);
    CHECK_INT_EQ(atomic_load(&self->begun), 0);
    atomic_store(&self->open, 1);
    return NULL;
}

TEST("a wait without a limit in such an inline handler runs no pool handler on that thread") {
    scene self;
    memset(&self, 0, sizeof self);
    self.program = pthread_self();
    self.timeout = VOW_FOREVER;
    crowd_pool(&self);
    pthread_t thread = start_thread(open_later, &self);
    CHECK_INT_EQ(int_of(vow_async(vow_executor_inline(), wait_for_late, &self)), VOW_FULFILLED);
    pthread_join(thread, NULL);
    scene_end(&self);
    CHECK_INT_EQ(atomic_load(&self.strayed), 0);
}

static vow_value wait_for_promise(vow_value input, void *context) {
    (void)input;
    return vow_int(vow_await(context, VOW_FOREVER, NULL));
}

TEST("G2: nor does it start the last of five links on the pool before the others") {
    scene self;
    vow_resolver *resolver;
    vow_promise *links[5];
    memset(&self, 0, sizeof self);
    self.program = pthread_self();
    crowd_pool(&self);
    vow_promise *source = vow_promise_create(&resolver);
    for (int i = 0; i < 5; i++) {
        links[i] = then_on(vow_executor_pool(), vow_promise_retain(source), be_short, &self);
    }
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    vow_promise_release(source);
    pthread_t thread = start_thread(open_later, &self);
    vow_promise *waits = vow_async(vow_executor_inline(), wait_for_promise, links[4]);
    CHECK_INT_EQ(int_of(waits), VOW_FULFILLED);
    pthread_join(thread, NULL);
    scene_end(&self);
    for (int i = 0; i < 5; i++) {
        CHECK_INT_EQ(int_of(links[i]), 1);
    }
    CHECK_INT_EQ(atomic_load(&self.strayed), 0);
}
