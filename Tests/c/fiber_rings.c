/* Tests fibers that wait for each other, and waits of handlers for fibers that cannot go on. */
#include "dispatch.h"
#include "fiber_tools.h"

/* A fiber that waits for whatever leads to the next fiber of its ring. */
typedef struct member {
    struct ring *all;
    vow_promise *fiber;
    vow_promise *end; /* of a link on the fiber */
    vow_promise *awaited;
    int64_t answer;
} member;

typedef struct ring {
    held start; /* all fibers wait for it first, so that each knows the next one */
    member members[3];
} ring;

static vow_value wait_for_next(vow_value input, void *context) {
    member *self = context;
    (void)input;
    held_wait(&self->all->start, 0);
    vow_value out = vow_none();
    int answer = vow_await(self->awaited, VOW_FOREVER, &out);
    self->answer = answer == (int)VOW_REJECTED ? vow_error_code(out) : answer;
    vow_value_release(out);
    return vow_none();
}

typedef vow_promise *way(vow_promise *next);

/* Closes a ring of so many fibers: exactly one wait is refused, and so the others end. */
static void close_ring(const ground *on, int count, way *to_next) {
    ring self;
    int refused = 0;
    memset(&self, 0, sizeof self);
    held_make(&self.start, on->executor);
    for (int i = 0; i < count; i++) {
        self.members[i].all = &self;
        self.members[i].fiber = fiber_on(on->executor, wait_for_next, &self.members[i]);
        self.members[i].end =
            then_inline(vow_promise_retain(self.members[i].fiber), give_code, NULL);
    }
    for (int i = 0; i < count; i++) {
        vow_promise *next = vow_promise_retain(self.members[(i + 1) % count].fiber);
        self.members[i].awaited = to_next != NULL ? to_next(next) : next;
    }
    CHECK(vow_resolve(self.start.resolver, vow_none()));
    for (int i = 0; i < count; i++) {
        CHECK_INT_EQ(outcome_of(self.members[i].end), 0);
        vow_promise_release(self.members[i].fiber);
        refused += self.members[i].answer == VOW_ECYCLE;
        CHECK(self.members[i].answer == VOW_ECYCLE || self.members[i].answer == (int)VOW_FULFILLED);
        vow_promise_release(self.members[i].awaited);
    }
    CHECK(refused >= 1);
    if (on->is_serial) {
        CHECK_INT_EQ(refused, 1);
    }
    held_end(&self.start);
}

static void close_plain(const ground *on) {
    for (int count = 1; count <= 3; count++) {
        close_ring(on, count, NULL);
    }
}

TEST("fibers in a ring of two or three: a wait is refused with VOW_ECYCLE, the others end") {
    on_each_executor(close_plain);
}

static vow_promise *through_links(vow_promise *next) {
    return then_inline(then_on(vow_executor_pool(), next, add_one, NULL), add_one, NULL);
}

static vow_promise *through_all(vow_promise *next) {
    vow_promise *members[3] = {fulfilled_int(1), next, fulfilled_int(2)};
    return vow_all(members, 3);
}

static vow_promise *through_adoption(vow_promise *next) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(vow_resolve(resolver, vow_from_promise(next)));
    vow_resolver_release(resolver);
    return promise;
}

static vow_promise *through_shield(vow_promise *next) {
    return vow_shield(then_inline(next, add_one, NULL));
}

static void close_through(const ground *on) {
    static way *const ways[4] = {through_links, through_all, through_adoption, through_shield};
    for (int count = 1; count <= 3; count++) {
        for (int i = 0; i < 4; i++) {
            close_ring(on, count, ways[i]);
        }
    }
}

TEST("so does a ring through links, vow_all, an adopting promise and a shield") {
    on_each_executor(close_through);
}

/* The promise that the fiber waits for adopts the fiber's own promise. */
static vow_value wait_for_held(vow_value input, void *context) {
    (void)input;
    held_wait(context, 0);
    return vow_none();
}

static void adopt_late(const ground *on) {
    for (int with_link = 0; with_link < 2; with_link++) {
        held self;
        held_make(&self, on->executor);
        self.fiber = fiber_on(on->executor, wait_for_held, &self);
        if (on->is_serial) {
            come_to_rest(on->executor);
        }
        CHECK(reaches(&self.entered, 1));
        vow_promise *own = vow_promise_retain(self.fiber);
        own = with_link ? vow_then(own, add_one, NULL) : own;
        vow_resolve(self.resolver, vow_from_promise(own));
        CHECK_INT_EQ(outcome_of(self.fiber), VOW_FULFILLED);
        CHECK(self.answers[0] == VOW_ECYCLE ||
              (self.answers[0] == (int)VOW_REJECTED && self.codes[0] == VOW_ECYCLE));
        held_end(&self);
    }
}

TEST("a promise that a fiber waits for adopts the fiber's own: the ring is found at the adoption") {
    on_each_executor(adopt_late);
}

static void *resolve_start(void *context) {
    vow_resolve(((held *)context)->resolver, vow_none());
    return NULL;
}

static vow_value wait_apart(vow_value input, void *context) {
    member *self = context;
    (void)input;
    held_wait(&self->all->start, 0);
    self->answer = outcome_of(vow_promise_retain(self->awaited));
    return vow_none();
}

/* Of two fibers that wait for each other, at least one is refused; each thread has started one. */
static void check_one_is_refused(ring *two, const pthread_t *threads) {
    int refused = 0;
    for (int i = 0; i < 2; i++) {
        CHECK_INT_EQ(outcome_of(vow_promise_retain(two[i].members[0].fiber)), VOW_FULFILLED);
    }
    for (int i = 0; i < 2; i++) {
        refused += two[i].members[0].answer == VOW_ECYCLE;
        pthread_join(threads[i], NULL);
        vow_promise_release(two[i].members[0].fiber);
        vow_promise_release(two[i].members[0].awaited);
        held_end(&two[i].start);
    }
    CHECK(refused == 1 || refused == 2);
}

TEST("two threads that close a ring of fibers at once: at least one wait is refused") {
    for (int round = 0; round < many_of(3000, 20000); round++) {
        ring two[2];
        memset(two, 0, sizeof two);
        pthread_t threads[2];
        for (int i = 0; i < 2; i++) {
            held_make(&two[i].start, NULL);
            two[i].members[0].all = &two[i];
            two[i].members[0].fiber =
                fiber_on(round % 2 == 0 ? vow_executor_pool() : vow_executor_inline(), wait_apart,
                         &two[i].members[0]);
        }
        for (int i = 0; i < 2; i++) {
            vow_promise *next = vow_promise_retain(two[1 - i].members[0].fiber);
            two[i].members[0].awaited =
                round % 2 == 0 ? through_links(next) : then_inline(next, add_one, NULL);
            threads[i] = start_thread(resolve_start, &two[i].start);
        }
        check_one_is_refused(two, threads);
    }
}

TEST(
    "two threads that close a ring of fibers that nobody waits for: at least one wait is refused") {
    for (int round = 0; round < many_of(3000, 20000); round++) {
        ring two[2];
        memset(two, 0, sizeof two);
        pthread_t threads[2];
        for (int i = 0; i < 2; i++) {
            held_make(&two[i].start, NULL);
            two[i].members[0].all = &two[i];
            two[i].members[0].fiber =
                fiber_on(round % 2 == 0 ? vow_executor_pool() : vow_executor_inline(), wait_apart,
                         &two[i].members[0]);
        }
        for (int i = 0; i < 2; i++) {
            vow_promise *next = vow_promise_retain(two[1 - i].members[0].fiber);
            two[i].members[0].awaited = round % 3 == 0 ? through_links(next) : next;
            threads[i] = start_thread(resolve_start, &two[i].start);
        }
        check_one_is_refused(two, threads);
    }
}

static vow_promise *through_race(vow_promise *next) {
    vow_promise *members[2] = {next, vow_delay(MILLISECOND)};
    return vow_race(members, 2);
}

static vow_promise *through_timeout(vow_promise *next) {
    return vow_timeout(next, MILLISECOND);
}

static void open_ring(const ground *on) {
    static way *const ways[2] = {through_race, through_timeout};
    static const int64_t answers[2] = {VOW_FULFILLED, VOW_ETIMEDOUT};
    for (int i = 0; i < 2; i++) {
        ring self;
        memset(&self, 0, sizeof self);
        held_make(&self.start, on->executor);
        for (int place = 0; place < 2; place++) {
            self.members[place].all = &self;
            self.members[place].fiber = fiber_on(on->executor, wait_for_next, &self.members[place]);
        }
        self.members[0].awaited = ways[i](vow_promise_retain(self.members[1].fiber));
        self.members[1].awaited = vow_promise_retain(self.members[0].fiber);
        CHECK(vow_resolve(self.start.resolver, vow_none()));
        for (int place = 0; place < 2; place++) {
            CHECK_INT_EQ(outcome_of(vow_promise_retain(self.members[place].fiber)), VOW_FULFILLED);
        }
        CHECK_INT_EQ(self.members[0].answer, answers[i]);
        for (int place = 0; place < 2; place++) {
            vow_promise_release(self.members[place].fiber);
            vow_promise_release(self.members[place].awaited);
        }
        held_end(&self.start);
    }
}

TEST("a ring through a race or a time-out is none: its waits end") {
    on_each_executor(open_ring);
}

static void close_through_scope(const ground *on) {
    ring self;
    memset(&self, 0, sizeof self);
    held_make(&self.start, on->executor);
    self.members[0].all = &self;
    self.members[0].fiber = fiber_on(on->executor, wait_for_next, &self.members[0]);
    vow_scope *scope = vow_scope_create();
    CHECK_INT_EQ(vow_scope_add(scope, vow_promise_retain(self.members[0].fiber)), 0);
    self.members[0].awaited = vow_scope_close(scope);
    CHECK(vow_resolve(self.start.resolver, vow_none()));
    CHECK_INT_EQ(outcome_of(self.members[0].fiber), VOW_FULFILLED);
    CHECK_INT_EQ(self.members[0].answer, VOW_ECYCLE);
    CHECK_INT_EQ(outcome_of(self.members[0].awaited), VOW_FULFILLED);
    held_end(&self.start);
}

TEST("a fiber that waits for the end of the scope that it is a member of is refused") {
    on_each_executor(close_through_scope);
}

static vow_value work_a_while(vow_value input, void *context) {
    held *self = context;
    (void)input;
    held_wait(self, 0);
    return vow_int(outcome_of(vow_async(self->executor, add_one, NULL)));
}

/* A handler blocks its executor until the fiber has ended. */
static vow_value block_for_fiber(vow_value input, void *context) {
    held *self = context;
    (void)input;
    if (self->fiber == NULL) {
        self->fiber = fiber_on(self->executor, work_a_while, self);
    }
    self->answers[1] = vow_await(self->fiber, VOW_FOREVER, NULL);
    return vow_none();
}

static void refuse_block(vow_executor *executor, bool has_begun) {
    held self;
    held_make(&self, executor);
    if (has_begun) {
        self.fiber = fiber_on(executor, work_a_while, &self);
        come_to_rest(executor);
    }
    CHECK_INT_EQ(outcome_of(vow_async(executor, block_for_fiber, &self)), VOW_FULFILLED);
    CHECK_INT_EQ(self.answers[1], VOW_EDEADLOCK);
    CHECK(vow_resolve(self.resolver, vow_none()));
    CHECK_INT_EQ(outcome_of(self.fiber), 1);
    held_end(&self);
}

TEST("G11: a handler that waits for a fiber of its serial executor is refused, begun or not") {
    worker thread;
    worker_start(&thread);
    void *queue = dispatch_queue_create("vow.fibers", QUEUE_SERIAL);
    vow_executor *executors[3] = {vow_executor_serial("blocked"),
                                  vow_executor_custom(&worker_class, &thread),
                                  vow_executor_dispatch(queue, VOW_SERIAL)};
    for (int i = 0; i < 3; i++) {
        refuse_block(executors[i], false);
        refuse_block(executors[i], true);
        vow_executor_release(executors[i]);
    }
    dispatch_release(queue);
    worker_stop(&thread);
}

static vow_value need_blocked(vow_value input, void *context) {
    held *self = context;
    (void)input;
    held_wait(self, 0);
    return vow_int(outcome_of(vow_async(self->executor, add_one, NULL)));
}

TEST("G11: a wait is refused when the fiber that it waits for comes to need its executor") {
    for (int round = 0; round < many_of(300, 10000); round++) {
        held self;
        held_make(&self, vow_executor_serial("needed"));
        self.fiber = fiber_on(round % 2 == 0 ? vow_executor_pool() : vow_executor_inline(),
                              need_blocked, &self);
        vow_promise *blocked = vow_async(self.executor, block_for_fiber, &self);
        CHECK(vow_resolve(self.resolver, vow_none()));
        CHECK_INT_EQ(outcome_of(vow_promise_retain(self.fiber)), 1);
        CHECK_INT_EQ(outcome_of(blocked), VOW_FULFILLED);
        vow_promise_release(self.fiber);
        CHECK(self.answers[1] == VOW_EDEADLOCK || self.answers[1] == (int)VOW_FULFILLED);
        held_end(&self);
        vow_executor_release(self.executor);
    }
}

TEST("G11: the wait of a handler on a loop runs the fiber that it waits for") {
    vow_loop *loop = vow_loop_create();
    held self;
    held_make(&self, vow_loop_executor(loop));
    pthread_t thread = start_thread(resolve_when_entered, &self);
    CHECK_INT_EQ(outcome_of(vow_async(self.executor, block_for_fiber, &self)), VOW_FULFILLED);
    CHECK_INT_EQ(self.answers[1], VOW_FULFILLED);
    pthread_join(thread, NULL);
    CHECK_INT_EQ(outcome_of(self.fiber), 1);
    held_end(&self);
    vow_loop_destroy(loop);
}

static vow_value wait_for_blocked(vow_value input, void *context) {
    held *self = context;
    (void)input;
    atomic_fetch_add(&self->entered, 1);
    self->answers[0] = vow_await(self->promise, VOW_FOREVER, NULL);
    return vow_none();
}

static vow_value wait_for_waiter(vow_value input, void *context) {
    held *self = context;
    (void)input;
    CHECK(reaches(&self->entered, 1));
    self->answers[1] = vow_await(self->fiber, VOW_FOREVER, NULL);
    return vow_none();
}

TEST("a handler that blocks and a fiber wait for each other: one of the waits is refused") {
    for (int round = 0; round < many_of(500, 10000); round++) {
        held self;
        held_make(&self, vow_executor_serial("both"));
        self.fiber = fiber_on(vow_executor_pool(), wait_for_blocked, &self);
        vow_promise *handler = vow_async(self.executor, wait_for_waiter, &self);
        CHECK(vow_resolve(self.resolver, vow_from_promise(vow_promise_retain(handler))));
        CHECK_INT_EQ(outcome_of(handler), VOW_FULFILLED);
        CHECK_INT_EQ(outcome_of(self.fiber), VOW_FULFILLED);
        CHECK((self.answers[0] < 0) + (self.answers[1] < 0) >= 1 ||
              self.answers[0] == (int)VOW_REJECTED);
        held_end(&self);
        vow_executor_release(self.executor);
    }
}

typedef struct late {
    held at;
    atomic_int blocks;
    int64_t answer;
} late;

static vow_value wait_for_late(vow_value input, void *context) {
    late *self = context;
    (void)input;
    held_wait(&self->at, 0);
    return vow_none();
}

static vow_value block_until_late(vow_value input, void *context) {
    late *self = context;
    (void)input;
    atomic_store(&self->blocks, 1);
    self->answer = vow_await(self->at.fiber, VOW_FOREVER, NULL);
    return vow_none();
}

TEST("G11: a wait is refused when what its fiber waits for comes to need the blocked executor") {
    for (int round = 0; round < many_of(400, 10000); round++) {
        late self = {.answer = 0};
        vow_executor *serial = vow_executor_serial("late");
        held_make(&self.at, NULL);
        self.at.fiber = fiber_on(round % 2 == 0 ? vow_executor_pool() : vow_executor_inline(),
                                 wait_for_late, &self);
        vow_promise *blocked = vow_async(serial, block_until_late, &self);
        CHECK(reaches(&self.blocks, 1));
        vow_promise *work = vow_async(serial, add_one, NULL);
        if (round % 3 == 0) {
            vow_promise *members[2] = {work, fulfilled_int(1)};
            work = vow_all(members, 2);
        }
        CHECK(vow_resolve(self.at.resolver, vow_from_promise(work)));
        CHECK_INT_EQ(outcome_of(blocked), VOW_FULFILLED);
        CHECK_INT_EQ(self.answer, VOW_EDEADLOCK);
        CHECK_INT_EQ(outcome_of(self.at.fiber), VOW_FULFILLED);
        held_end(&self.at);
        vow_executor_release(serial);
    }
}

static vow_value wait_for_itself(vow_value input, void *context) {
    held *self = context;
    (void)input;
    self->answers[0] = vow_await(self->fiber, MILLISECOND, NULL);
    return vow_none();
}

TEST("a fiber that nobody else waits for is refused when it waits for itself") {
    vow_loop *loop = vow_loop_create();
    held self = {.executor = NULL};
    self.fiber = fiber_on(NULL, wait_for_itself, &self);
    while (vow_promise_state(self.fiber) == VOW_PENDING) {
        vow_loop_run_once(loop, VOW_FOREVER);
    }
    CHECK_INT_EQ(self.answers[0], VOW_ECYCLE);
    vow_promise_release(self.fiber);
    vow_loop_destroy(loop);
}
