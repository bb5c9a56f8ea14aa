/* Tests waits that become endless only while they block: refused then, as they have no time-out
 * (G11). */
#include "worker.h"

#include <sys/resource.h>

/* A handler's wait for a promise that is resolved while it waits; it gives the answer. */
typedef struct late_wait {
    vow_promise *awaited;
    vow_resolver *resolver;
    vow_promise *own; /* the result of the handler */
    atomic_int begun;
    int answer;
} late_wait;

static vow_value wait_late(vow_value input, void *context) {
    late_wait *self = context;
    vow_value out = vow_int(1);
    (void)input;
    atomic_store(&self->begun, 1);
    self->answer = vow_await(self->awaited, VOW_FOREVER, &out);
    CHECK(self->answer >= 0 || out.kind == VOW_NONE);
    vow_value_release(out);
    return vow_int(self->answer);
}

/* Resolves what the handler waits for with the promise (consumed) once it has had time to block. */
static void resolve_late(late_wait *self, vow_promise *with) {
    CHECK(reaches(&self->begun, 1));
    usleep(50000);
    CHECK(vow_resolve(self->resolver, vow_from_promise(with)));
    vow_resolver_release(self->resolver);
}

static void check_refused(late_wait *self) {
    CHECK_INT_EQ(int_of(vow_promise_retain(self->own)), VOW_EDEADLOCK);
    vow_promise_release(self->own);
}

static void start_late(late_wait *self, vow_executor *executor) {
    memset(self, 0, sizeof *self);
    self->awaited = vow_promise_create(&self->resolver);
    self->own = vow_async(executor, wait_late, self);
}

static void check_own_result(vow_executor *executor) {
    late_wait self;
    start_late(&self, executor);
    resolve_late(&self, vow_promise_retain(self.own));
    check_refused(&self);
    CHECK_INT_EQ(int_of(self.awaited), VOW_EDEADLOCK);
}

TEST("G11: a wait on the pool that becomes one for the handler's own result is refused") {
    check_own_result(vow_executor_pool());
}

TEST("G11: so it is on a serial executor and on one of the program") {
    worker thread;
    vow_executor *serial = vow_executor_serial("late");
    worker_start(&thread);
    vow_executor *custom = vow_executor_custom(&worker_class, &thread);
    check_own_result(serial);
    check_own_result(custom);
    vow_executor_release(serial);
    vow_executor_release(custom);
    worker_stop(&thread);
}

TEST("G11: so it is when what is awaited becomes something that is made from that result") {
    late_wait self;
    start_late(&self, vow_executor_pool());
    vow_promise *after = then_inline(vow_promise_retain(self.own), add_one, NULL);
    after = then_on(vow_executor_pool(), after, add_one, NULL);
    resolve_late(&self, after);
    check_refused(&self);
    CHECK_INT_EQ(int_of(self.awaited), VOW_EDEADLOCK + 2);
}

TEST("G11: so it is when a promise between the two becomes that result") {
    late_wait self;
    vow_resolver *first;
    start_late(&self, vow_executor_pool());
    vow_promise *between = vow_promise_create(&first);
    resolve_late(&self, then_inline(vow_promise_retain(between), add_one, NULL));
    self.resolver = first;
    resolve_late(&self, vow_promise_retain(self.own));
    check_refused(&self);
    CHECK_INT_EQ(int_of(self.awaited), VOW_EDEADLOCK + 1);
    vow_promise_release(between);
}

static void *resolve_with_own(void *context) {
    late_wait *self = context;
    resolve_late(self, vow_promise_retain(self->own));
    return NULL;
}

TEST("G11: a wait in an inline handler that becomes one for its own result is refused") {
    late_wait self;
    vow_resolver *resolver;
    memset(&self, 0, sizeof self);
    self.awaited = vow_promise_create(&self.resolver);
    self.own = then_inline(vow_promise_create(&resolver), wait_late, &self);
    pthread_t thread = start_thread(resolve_with_own, &self);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    pthread_join(thread, NULL);
    check_refused(&self);
    CHECK_INT_EQ(int_of(self.awaited), VOW_EDEADLOCK);
}

/* A thenable that gives its answer away first and then waits for what becomes of it. */
typedef struct asker {
    vow_promise *outer;
    vow_promise *inner;
    vow_resolver *inner_resolver;
    pthread_t thread;
    int answer;
    int64_t integer;
} asker;

static void *settle_inner(void *context) {
    asker *self = context;
    usleep(50000);
    CHECK(vow_resolve(self->inner_resolver, vow_int(7)));
    vow_resolver_release(self->inner_resolver);
    return NULL;
}

static bool resolve_then_wait(void *pointer, vow_resolver *resolver) {
    asker *self = pointer;
    vow_value out = vow_none();
    CHECK(vow_resolve(resolver, vow_from_promise(vow_promise_retain(self->inner))));
    vow_resolver_release(resolver);
    self->thread = start_thread(settle_inner, self);
    self->answer = vow_await(self->outer, LONG_ENOUGH, &out);
    self->integer = out.kind == VOW_INT ? out.as.integer : 0;
    vow_value_release(out);
    return true;
}

static const vow_class asker_class = {sizeof(vow_class), "asker", NULL, resolve_then_wait};

TEST("a thenable that has resolved with another thread's promise may wait for the outer one") {
    asker self;
    vow_resolver *resolver;
    memset(&self, 0, sizeof self);
    self.inner = vow_promise_create(&self.inner_resolver);
    self.outer = vow_promise_create(&resolver);
    CHECK(vow_resolve(resolver, vow_object(&self, &asker_class)));
    vow_resolver_release(resolver);
    pthread_join(self.thread, NULL);
    CHECK_INT_EQ(self.answer, VOW_FULFILLED);
    CHECK_INT_EQ(self.integer, 7);
    CHECK_INT_EQ(int_of(self.outer), 7);
    vow_promise_release(self.inner);
}

enum { WAITERS = 32, SUBMISSIONS = 200 };

typedef struct sleepers {
    vow_promise *awaited;
    vow_resolver *resolver;
    vow_promise *own[WAITERS];
    atomic_int begun;
} sleepers;

static vow_value sleep_in_pool(vow_value input, void *context) {
    sleepers *self = context;
    (void)input;
    atomic_fetch_add(&self->begun, 1);
    return vow_int(vow_await(self->awaited, VOW_FOREVER, NULL));
}

/* As often as any thread of the process has gone to sleep. */
static long sleeps(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

static long sleeps_while_submitting(vow_executor *executor) {
    long before = sleeps();
    for (int i = 0; i < SUBMISSIONS; i++) {
        CHECK_INT_EQ(int_of(vow_async(executor, add_one, NULL)), 1);
    }
    return sleeps() - before;
}

TEST("G11: threads that wait in handlers sleep through work for executors that they do not block") {
    sleepers all = {.awaited = NULL};
    worker thread;
    vow_executor *serial = vow_executor_serial("unrelated");
    worker_start(&thread);
    vow_executor *custom = vow_executor_custom(&worker_class, &thread);
    all.awaited = vow_promise_create(&all.resolver);
    for (int i = 0; i < WAITERS; i++) {
        all.own[i] = vow_async(vow_executor_pool(), sleep_in_pool, &all);
    }
    CHECK(reaches(&all.begun, WAITERS));
    usleep(50000);
    CHECK(sleeps_while_submitting(serial) < SUBMISSIONS * WAITERS / 4);
    CHECK(sleeps_while_submitting(custom) < SUBMISSIONS * WAITERS / 4);
    CHECK(vow_resolve(all.resolver, vow_int(1)));
    vow_resolver_release(all.resolver);
    for (int i = 0; i < WAITERS; i++) {
        CHECK_INT_EQ(int_of(all.own[i]), VOW_FULFILLED);
    }
    CHECK_INT_EQ(int_of(all.awaited), 1);
    vow_executor_release(serial);
    vow_executor_release(custom);
    worker_stop(&thread);
}
