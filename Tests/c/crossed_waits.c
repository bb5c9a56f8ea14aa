/* Tests G11 where handlers wait for each other: refused, whatever the moment. */
#include "worker.h"

enum { MOST = 3 };

/* One handler of a ring: it waits, for as long as it takes, for work of the next one's executor. */
typedef struct handler_in_ring {
    vow_executor *executor;
    struct handler_in_ring *next;
    pthread_barrier_t *gate; /* all of them are running */
    vow_promise *(*combine)(vow_promise *work);
    vow_promise *own;
    int answer;
} handler_in_ring;

static vow_value wait_for_next(vow_value input, void *context) {
    handler_in_ring *self = context;
    (void)input;
    pthread_barrier_wait(self->gate);
    vow_promise *work = self->combine(vow_async(self->next->executor, add_one, NULL));
    self->answer = vow_await(work, VOW_FOREVER, NULL);
    vow_promise_release(work);
    return vow_int(self->answer);
}

static vow_promise *as_it_is(vow_promise *work) {
    return work;
}

static vow_promise *with_another(vow_promise *work) {
    vow_promise *members[] = {fulfilled_int(1), work};
    return vow_all(members, 2);
}

static vow_promise *in_a_scope(vow_promise *work) {
    vow_scope *scope = vow_scope_create();
    CHECK_INT_EQ(vow_scope_add(scope, work), 0);
    return vow_scope_close(scope);
}

static vow_promise *behind_a_link(vow_promise *work) {
    return then_inline(work, add_one, NULL);
}

static void check_crossed(vow_executor **executors, int count,
                          vow_promise *(*combine)(vow_promise *)) {
    handler_in_ring ring[MOST];
    pthread_barrier_t gate;
    pthread_barrier_init(&gate, NULL, (unsigned)count);
    for (int i = 0; i < count; i++) {
        ring[i] = (handler_in_ring){executors[i], &ring[(i + 1) % count], &gate, combine, NULL, 0};
    }
    for (int i = 0; i < count; i++) {
        ring[i].own = vow_async(executors[i], wait_for_next, &ring[i]);
    }
    int refused = 0;
    for (int i = 0; i < count; i++) {
        int64_t answer = int_of(ring[i].own);
        CHECK(answer == VOW_FULFILLED || answer == VOW_EDEADLOCK);
        refused += answer == VOW_EDEADLOCK;
    }
    CHECK(refused >= 1);
    pthread_barrier_destroy(&gate);
}

static void check_crossed_serials(int count, vow_promise *(*combine)(vow_promise *)) {
    vow_executor *executors[MOST];
    for (int i = 0; i < count; i++) {
        executors[i] = vow_executor_serial("crossed");
    }
    for (int round = 0; round < 100; round++) {
        check_crossed(executors, count, combine);
    }
    for (int i = 0; i < count; i++) {
        vow_executor_release(executors[i]);
    }
}

TEST("G11: two serial executors whose handlers wait for each other's work") {
    check_crossed_serials(2, as_it_is);
}

TEST("G11: three") {
    check_crossed_serials(3, as_it_is);
}

TEST("G11: the same through vow_all, a scope, a link") {
    check_crossed_serials(2, with_another);
    check_crossed_serials(2, in_a_scope);
    check_crossed_serials(3, behind_a_link);
}

TEST("G11: an executor of the program and a serial one") {
    worker thread;
    worker_start(&thread);
    vow_executor *executors[] = {vow_executor_custom(&worker_class, &thread),
                                 vow_executor_serial("crossed")};
    for (int round = 0; round < 100; round++) {
        check_crossed(executors, 2, as_it_is);
    }
    vow_executor_release(executors[0]);
    vow_executor_release(executors[1]);
    worker_stop(&thread);
}

typedef struct result_waiter {
    struct result_waiter *other;
    pthread_barrier_t *gate;
    vow_promise *_Atomic own;
    vow_promise *result;
} result_waiter;

static vow_value wait_for_result(vow_value input, void *context) {
    result_waiter *self = context;
    (void)input;
    pthread_barrier_wait(self->gate);
    return vow_int(vow_await(self->other->own, VOW_FOREVER, NULL));
}

static void check_results(vow_executor *left, vow_executor *right) {
    result_waiter pair[2];
    pthread_barrier_t gate;
    pthread_barrier_init(&gate, NULL, 3);
    for (int i = 0; i < 2; i++) {
        pair[i] = (result_waiter){&pair[1 - i], &gate, NULL, NULL};
        pair[i].own = vow_async(i == 0 ? left : right, wait_for_result, &pair[i]);
    }
    pthread_barrier_wait(&gate);
    int refused = 0;
    for (int i = 0; i < 2; i++) {
        int64_t answer = int_of(vow_promise_retain(pair[i].own));
        CHECK(answer == VOW_FULFILLED || answer == VOW_EDEADLOCK);
        refused += answer == VOW_EDEADLOCK;
    }
    CHECK(refused >= 1);
    for (int i = 0; i < 2; i++) {
        vow_promise_release(pair[i].own);
    }
    pthread_barrier_destroy(&gate);
}

TEST("G11: two handlers of the pool that wait for each other's result") {
    for (int round = 0; round < 200; round++) {
        check_results(vow_executor_pool(), vow_executor_pool());
    }
}

TEST("G11: one of the pool, and one of a serial executor") {
    vow_executor *serial = vow_executor_serial("result");
    for (int round = 0; round < 200; round++) {
        check_results(vow_executor_pool(), serial);
    }
    vow_executor_release(serial);
}

/* An inline one runs on the thread that settles what it reads. */
static void *settle(void *resolver) {
    vow_resolve(resolver, vow_int(1));
    vow_resolver_release(resolver);
    return NULL;
}

TEST("G11: one of the pool, and an inline one on a thread of the program") {
    for (int round = 0; round < 100; round++) {
        result_waiter pair[2];
        pthread_barrier_t gate;
        vow_resolver *resolver;
        pthread_barrier_init(&gate, NULL, 2);
        pair[0] = (result_waiter){&pair[1], &gate, NULL, NULL};
        pair[1] = (result_waiter){&pair[0], &gate, NULL, NULL};
        pair[0].own = then_inline(vow_promise_create(&resolver), wait_for_result, &pair[0]);
        pair[1].own = vow_async(vow_executor_pool(), wait_for_result, &pair[1]);
        pthread_t thread = start_thread(settle, resolver);
        int64_t first = int_of(vow_promise_retain(pair[0].own));
        int64_t second = int_of(vow_promise_retain(pair[1].own));
        CHECK(first == VOW_EDEADLOCK || second == VOW_EDEADLOCK);
        pthread_join(thread, NULL);
        vow_promise_release(pair[0].own);
        vow_promise_release(pair[1].own);
        pthread_barrier_destroy(&gate);
    }
}

typedef struct own_work {
    vow_executor *serial;
    vow_promise *(*combine)(vow_promise *work);
} own_work;

static vow_value wait_for_own_work(vow_value input, void *context) {
    own_work *self = context;
    (void)input;
    vow_promise *work = self->combine(vow_async(self->serial, add_one, NULL));
    int answer = vow_await(work, VOW_FOREVER, NULL);
    vow_promise_release(work);
    return vow_int(answer);
}

static vow_promise *in_an_hour(vow_promise *work) {
    return vow_timeout(work, 3600 * SECOND);
}

TEST(
    "G11: the end of a scope whose member needs this executor, and a time-out of it, are refused") {
    own_work self = {vow_executor_serial("own"), in_a_scope};
    CHECK_INT_EQ(int_of(vow_async(self.serial, wait_for_own_work, &self)), VOW_EDEADLOCK);
    self.combine = in_an_hour;
    CHECK_INT_EQ(int_of(vow_async(self.serial, wait_for_own_work, &self)), VOW_EDEADLOCK);
    vow_executor_release(self.serial);
}

typedef struct rivals {
    vow_executor *serial;
    vow_promise *(*combine)(vow_promise *const *promises, size_t count);
    vow_promise *other;
    pthread_barrier_t *gate;
} rivals;

static vow_value wait_for_rivals(vow_value input, void *context) {
    rivals *self = context;
    (void)input;
    vow_promise *members[] = {vow_promise_retain(self->other),
                              vow_async(self->serial, add_one, NULL)};
    vow_promise *first = self->combine(members, 2);
    pthread_barrier_wait(self->gate);
    int answer = vow_await(first, VOW_FOREVER, NULL);
    vow_promise_release(first);
    return vow_int(answer);
}

static vow_promise *one_of(vow_promise *const *promises, size_t count) {
    return vow_some(promises, count, 1);
}

static void check_rivals(vow_promise *(*combine)(vow_promise *const *promises, size_t count),
                         bool rejected, int delay, int64_t expected) {
    pthread_barrier_t gate;
    vow_resolver *resolver;
    pthread_barrier_init(&gate, NULL, 2);
    rivals self = {vow_executor_serial("rivals"), combine, vow_promise_create(&resolver), &gate};
    vow_promise *own = vow_async(self.serial, wait_for_rivals, &self);
    pthread_barrier_wait(&gate);
    if (delay > 0) {
        usleep((useconds_t)delay);
    }
    CHECK(rejected ? vow_reject(resolver, vow_error("test", 1, "no"))
                   : vow_resolve(resolver, vow_int(1)));
    CHECK_INT_EQ(int_of(own), expected);
    vow_resolver_release(resolver);
    vow_promise_release(self.other);
    vow_executor_release(self.serial);
    pthread_barrier_destroy(&gate);
}

TEST("G11: a member that another thread settles at that moment decides a race, any and some") {
    for (int round = 0; round < 2000; round++) {
        check_rivals(vow_race, false, 0, VOW_FULFILLED);
        check_rivals(vow_any, false, 0, VOW_FULFILLED);
        check_rivals(one_of, false, 0, VOW_FULFILLED);
        check_rivals(vow_race, true, 0, VOW_REJECTED);
    }
}

TEST("G11: when the last member that others could fulfil is rejected, a wait for any or some is "
     "refused") {
    for (int round = 0; round < 200; round++) {
        check_rivals(vow_any, true, 0, VOW_EDEADLOCK);
        check_rivals(one_of, true, 0, VOW_EDEADLOCK);
    }
    check_rivals(vow_any, true, 20000, VOW_EDEADLOCK);
    check_rivals(one_of, true, 20000, VOW_EDEADLOCK);
}
