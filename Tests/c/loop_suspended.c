/* Tests handlers that wait on a loop: they are suspended, and each wait keeps its own time. */
#include "loop_tools.h"

/* The wait of a handler: its promise, limit and answer, with the virtual time of it. */
typedef struct parking {
    vow_promise *promise;
    int64_t timeout;
    vow_resolver *then;
    int answer;
    int64_t at;
} parking;

static vow_value wait_here(vow_value input, void *context) {
    parking *self = context;
    (void)input;
    self->answer = vow_await(self->promise, self->timeout, NULL);
    self->at = vow_now();
    if (self->then != NULL) {
        vow_resolve(self->then, vow_int(1));
    }
    return vow_int(self->answer);
}

static vow_value wait_a_delay(vow_value input, void *context) {
    parking *self = context;
    vow_promise *delay = vow_delay(self->timeout);
    self->promise = delay;
    self->timeout = VOW_FOREVER;
    vow_value answer = wait_here(input, self);
    vow_promise_release(delay);
    return answer;
}

TEST("on a virtual loop each of many waits ends at its own moment, whatever waits beside it") {
    enum { count = 50 };
    vow_loop *loop = vow_loop_create_virtual();
    parking waits[count];
    vow_promise *done[count];
    int64_t start = vow_now();
    for (int i = 0; i < count; i++) {
        /* The longest first: in nested waits the others would end no earlier. */
        waits[i] = (parking){.timeout = (count - i) * VOW_MS};
        done[i] = vow_async(NULL, wait_a_delay, &waits[i]);
    }
    vow_promise *all = vow_all(done, count);
    CHECK_INT_EQ(vow_await(all, VOW_FOREVER, NULL), VOW_FULFILLED);
    for (int i = 0; i < count; i++) {
        CHECK_INT_EQ(waits[i].at - start, (count - i) * VOW_MS);
    }
    vow_promise_release(all);
    vow_loop_destroy(loop);
}

TEST("a time-out is exact on a virtual loop, in a handler and outside") {
    vow_loop *loop = vow_loop_create_virtual();
    vow_resolver *never;
    vow_promise *pending = vow_promise_create(&never);
    parking inside = {.promise = pending, .timeout = 7 * VOW_MS};
    int64_t start = vow_now();
    vow_promise *handler = vow_async(NULL, wait_here, &inside);
    CHECK_INT_EQ(vow_await(pending, 3 * VOW_MS, NULL), VOW_PENDING);
    CHECK_INT_EQ(vow_now() - start, 3 * VOW_MS);
    CHECK_INT_EQ(vow_await(handler, VOW_FOREVER, NULL), VOW_FULFILLED);
    CHECK_INT_EQ(inside.answer, VOW_PENDING);
    CHECK_INT_EQ(inside.at - start, 7 * VOW_MS);
    vow_promise_release(handler);
    vow_reject(never, vow_none());
    CHECK_INT_EQ(vow_await(pending, 0, NULL), VOW_REJECTED);
    vow_promise_release(pending);
    vow_resolver_release(never);
    vow_loop_destroy(loop);
}

TEST("two handlers of a loop may wait for what the other one does") {
    for (int is_timed = 0; is_timed < 2; is_timed++) {
        vow_loop *loop = vow_loop_create();
        vow_resolver *resolver;
        vow_promise *given = vow_promise_create(&resolver);
        parking first = {.timeout = MILLISECOND, .then = resolver};
        parking second = {.promise = given, .timeout = is_timed ? LONG_ENOUGH : VOW_FOREVER};
        vow_promise *one = vow_async(NULL, wait_a_delay, &first);
        vow_promise *other = vow_async(NULL, wait_here, &second);
        CHECK_INT_EQ(vow_await(one, LONG_ENOUGH, NULL), VOW_FULFILLED);
        CHECK_INT_EQ(vow_await(other, LONG_ENOUGH, NULL), VOW_FULFILLED);
        CHECK_INT_EQ(second.answer, VOW_FULFILLED);
        vow_promise_release(one);
        vow_promise_release(other);
        vow_promise_release(given);
        vow_resolver_release(resolver);
        vow_loop_destroy(loop);
    }
}

/* A loop with a handler that waits, suspended, for a promise. */
typedef struct parked {
    vow_loop *loop;
    vow_resolver *resolver;
    parking one;
    vow_promise *handler;
} parked;

static void park(parked *self) {
    *self = (parked){.loop = vow_loop_create(), .one = {.timeout = VOW_FOREVER, .answer = 99}};
    self->one.promise = vow_promise_create(&self->resolver);
    self->handler = vow_async(NULL, wait_here, &self->one);
    CHECK_INT_EQ(vow_loop_run_once(self->loop, 0), 1);
    CHECK_INT_EQ(self->one.answer, 99);
}

static void unpark(parked *self) {
    CHECK_INT_EQ(self->one.answer, VOW_FULFILLED);
    vow_promise_release(self->handler);
    vow_promise_release(self->one.promise);
    vow_resolver_release(self->resolver);
    vow_loop_destroy(self->loop);
}

TEST("vow_loop_run_once returns while a handler waits, and a later one goes on with it") {
    parked it;
    park(&it);
    CHECK_INT_EQ(vow_loop_run_once(it.loop, 0), 0);
    CHECK(!is_readable(it.loop));
    CHECK_INT_EQ(it.one.answer, 99);
    CHECK(vow_resolve(it.resolver, vow_int(1)));
    CHECK(is_readable(it.loop));
    CHECK_INT_EQ(vow_loop_run_once(it.loop, 0), 1);
    CHECK_INT_EQ(it.one.answer, VOW_FULFILLED);
    CHECK_INT_EQ(int_of(vow_promise_retain(it.handler)), VOW_FULFILLED);
    unpark(&it);
}

static vow_value wait_in_destructor(vow_value input, void *context) {
    (void)context;
    return vow_value_retain(input);
}

static void destroy_waiting(void *context) {
    wait_here(vow_none(), context);
}

TEST("a destructor and an inline handler on a loop are suspended as well") {
    vow_loop *loop = vow_loop_create();
    vow_resolver *resolver;
    vow_promise *given = vow_promise_create(&resolver);
    parking destructor = {.promise = given, .timeout = VOW_FOREVER};
    parking inner = destructor;
    vow_reaction reaction = {.size = sizeof reaction,
                             .on_fulfilled = wait_in_destructor,
                             .context = &destructor,
                             .destroy = destroy_waiting};
    vow_promise *delay = vow_delay(0);
    vow_promise *one = vow_then_with(vow_promise_retain(delay), &reaction);
    vow_promise *other =
        then_on(vow_executor_inline(), vow_promise_retain(delay), wait_here, &inner);
    CHECK_INT_EQ(vow_loop_run_until(loop, delay, LONG_ENOUGH), VOW_FULFILLED);
    while (vow_loop_run_once(loop, 0) > 0) {
    }
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK_INT_EQ(vow_await(one, LONG_ENOUGH, NULL), VOW_FULFILLED);
    CHECK_INT_EQ(vow_await(other, LONG_ENOUGH, NULL), VOW_FULFILLED);
    CHECK_INT_EQ(destructor.answer, VOW_FULFILLED);
    CHECK_INT_EQ(inner.answer, VOW_FULFILLED);
    vow_promise_release(delay);
    vow_promise_release(one);
    vow_promise_release(other);
    vow_promise_release(given);
    vow_resolver_release(resolver);
    vow_loop_destroy(loop);
}

static void *resolve_soon(void *resolver) {
    usleep(2000);
    vow_resolve(resolver, vow_int(1));
    return NULL;
}

static void *destroy_inside(vow_loop *loop, bool settles) {
    vow_resolver *resolver;
    vow_promise *given = vow_promise_create(&resolver);
    parking waits[3] = {{.promise = given, .timeout = VOW_FOREVER},
                        {.promise = given, .timeout = MILLISECOND},
                        {.timeout = 1000 * VOW_SECOND}};
    vow_promise *handlers[3] = {vow_async(NULL, wait_here, &waits[0]),
                                vow_async(NULL, wait_here, &waits[1]),
                                vow_async(NULL, wait_a_delay, &waits[2])};
    CHECK_INT_EQ(vow_loop_run_once(loop, 0), 3);
    pthread_t thread = start_thread(resolve_soon, resolver);
    if (settles) {
        pthread_join(thread, NULL);
    }
    vow_loop_destroy(loop);
    /* The waits went on without the loop, on this thread. */
    CHECK_INT_EQ(waits[0].answer, VOW_FULFILLED);
    CHECK(waits[1].answer == VOW_FULFILLED || waits[1].answer == VOW_PENDING);
    CHECK_INT_EQ(waits[2].answer, VOW_REJECTED);
    for (int i = 0; i < 3; i++) {
        CHECK_INT_EQ(vow_await(handlers[i], VOW_FOREVER, NULL), VOW_FULFILLED);
        vow_promise_release(handlers[i]);
    }
    if (!settles) {
        pthread_join(thread, NULL);
    }
    vow_promise_release(given);
    vow_resolver_release(resolver);
    return NULL;
}

TEST("a loop that is destroyed goes on with the handlers that wait there: they block its thread") {
    for (int settles = 0; settles < 2; settles++) {
        destroy_inside(vow_loop_create(), settles);
    }
}

typedef struct loaned {
    vow_loop *loop;
    parking one;
    vow_promise *handler;
} loaned;

static void *leave_a_wait(void *context) {
    loaned *self = context;
    self->loop = vow_loop_create();
    self->handler = vow_async(NULL, wait_here, &self->one);
    CHECK_INT_EQ(vow_loop_run_once(self->loop, 0), 1);
    return NULL;
}

TEST("a thread that ends goes on with the handlers that wait on its loop, and they block it") {
    vow_resolver *resolver;
    loaned context = {.one = {.timeout = VOW_FOREVER}};
    context.one.promise = vow_promise_create(&resolver);
    pthread_t thread = start_thread(leave_a_wait, &context);
    pthread_t other = start_thread(resolve_soon, resolver);
    pthread_join(thread, NULL);
    CHECK_INT_EQ(context.one.answer, VOW_FULFILLED);
    CHECK_INT_EQ(int_of(context.handler), VOW_FULFILLED);
    pthread_join(other, NULL);
    vow_promise_release(context.one.promise);
    vow_resolver_release(resolver);
    vow_loop_destroy(context.loop);
}

typedef struct outlasting {
    loaned loaned;
    atomic_int went_on;
    atomic_bool may_end;
} outlasting;

static vow_value wait_and_outlast(vow_value input, void *context) {
    outlasting *self = context;
    (void)input;
    CHECK_INT_EQ(vow_await(self->loaned.one.promise, VOW_FOREVER, NULL), VOW_FULFILLED);
    atomic_store(&self->went_on, 1);
    while (!atomic_load(&self->may_end)) {
        usleep(200);
    }
    return vow_int(5);
}

static void *leave_what_outlasts(void *context) {
    outlasting *self = context;
    self->loaned.loop = vow_loop_create();
    self->loaned.handler = vow_async(NULL, wait_and_outlast, self);
    CHECK_INT_EQ(vow_loop_run_once(self->loaned.loop, 0), 1);
    return NULL;
}

static void *let_end_soon(void *context) {
    usleep(50000);
    atomic_store((atomic_bool *)context, true);
    return NULL;
}

TEST("a thread that ends settles the last handler of its loop, for which another thread runs it") {
    vow_resolver *resolver;
    outlasting context = {.loaned = {.loop = NULL}};
    context.loaned.one.promise = vow_promise_create(&resolver);
    pthread_t thread = start_thread(leave_what_outlasts, &context);
    usleep(20000);
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK(reaches(&context.went_on, 1));
    pthread_t other = start_thread(let_end_soon, &context.may_end);
    CHECK_INT_EQ(vow_loop_run_until(context.loaned.loop, context.loaned.handler, LONG_ENOUGH),
                 VOW_FULFILLED);
    CHECK_INT_EQ(int_of(context.loaned.handler), 5);
    pthread_join(thread, NULL);
    pthread_join(other, NULL);
    vow_promise_release(context.loaned.one.promise);
    vow_resolver_release(resolver);
    vow_loop_destroy(context.loaned.loop);
}

static void *run_foreign(void *context) {
    loaned *self = context;
    self->one.answer = vow_loop_run_once(self->loop, 0);
    return NULL;
}

TEST("while a handler waits on a loop, another thread cannot run it") {
    parked it;
    park(&it);
    loaned other = {.loop = it.loop};
    pthread_join(start_thread(run_foreign, &other), NULL);
    CHECK_INT_EQ(other.one.answer, VOW_EINVAL);
    CHECK(vow_resolve(it.resolver, vow_int(1)));
    CHECK_INT_EQ(vow_await(it.handler, LONG_ENOUGH, NULL), VOW_FULFILLED);
    pthread_join(start_thread(run_foreign, &other), NULL);
    CHECK_INT_EQ(other.one.answer, 0);
    unpark(&it);
}

TEST("vow_nest_waits: a wait runs the loop inside itself, and waits end in reverse order") {
    vow_loop *loop = vow_loop_create_virtual();
    parking longer = {.timeout = 9 * VOW_MS};
    parking shorter = {.timeout = 2 * VOW_MS};
    int64_t start = vow_now();
    CHECK(!vow_nest_waits(true));
    vow_promise *first = vow_async(NULL, wait_a_delay, &shorter);
    vow_promise *second = vow_async(NULL, wait_a_delay, &longer);
    CHECK_INT_EQ(vow_await(first, VOW_FOREVER, NULL), VOW_FULFILLED);
    CHECK_INT_EQ(longer.at - start, 9 * VOW_MS);
    CHECK_INT_EQ(shorter.at - start, 9 * VOW_MS);
    CHECK(vow_nest_waits(false));
    CHECK_INT_EQ(vow_await(second, VOW_FOREVER, NULL), VOW_FULFILLED);
    vow_promise_release(first);
    vow_promise_release(second);
    vow_loop_destroy(loop);
}

TEST("a handler that is cancelled while it waits settles when it has returned (G14)") {
    parked it;
    park(&it);
    CHECK(vow_cancel(it.handler));
    CHECK_INT_EQ(vow_promise_state(it.handler), VOW_PENDING);
    CHECK(vow_resolve(it.resolver, vow_int(1)));
    CHECK_INT_EQ(vow_await(it.handler, LONG_ENOUGH, NULL), VOW_REJECTED);
    unpark(&it);
}

TEST("a forked child that destroys its copy of the loop goes on with handlers that wait there") {
    parked it;
    park(&it);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_LIMIT);
        vow_resolve(it.resolver, vow_int(1));
        vow_loop_destroy(it.loop);
        _exit(it.one.answer == (int)VOW_FULFILLED ? 0 : 1);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT_EQ(status, 0);
    CHECK_INT_EQ(it.one.answer, 99);
    CHECK(vow_resolve(it.resolver, vow_int(1)));
    CHECK_INT_EQ(vow_await(it.handler, LONG_ENOUGH, NULL), VOW_FULFILLED);
    unpark(&it);
}
