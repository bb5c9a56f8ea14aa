/* Tests that a thread which waits without a time-out runs the pool's work itself, if no worker has
 * begun it; and where it does not. */
#include "small_stack.h"

#include <sched.h>
#include <sys/wait.h>

static int tries(void) {
    return many_of(1000, 20000);
}

/* Handlers that take all room of the pool, so that others stand in its queue for 10 ms at least:
 * then the library sees that these sleep. */
typedef struct crowd {
    vow_promise *handlers[CPU_SETSIZE];
    int count;
    atomic_int begun;
    atomic_bool may_end;
} crowd;

static vow_value takes_room(vow_value input, void *context) {
    crowd *self = context;
    atomic_fetch_add(&self->begun, 1);
    while (!atomic_load(&self->may_end)) {
        usleep(200);
    }
    return vow_value_retain(input);
}

static void fill_pool(crowd *self) {
    cpu_set_t processors;
    CHECK_INT_EQ(sched_getaffinity(0, sizeof processors, &processors), 0);
    self->count = CPU_COUNT(&processors) > 2 ? CPU_COUNT(&processors) : 2;
    for (int i = 0; i < self->count; i++) {
        self->handlers[i] = vow_async(vow_executor_pool(), takes_room, self);
    }
    CHECK(reaches(&self->begun, self->count));
}

static void empty_pool(crowd *self) {
    atomic_store(&self->may_end, true);
    for (int i = 0; i < self->count; i++) {
        CHECK_INT_EQ(code_of(self->handlers[i]), 0);
    }
}

typedef struct crew {
    pthread_t waiter;
    int own; /* handlers that ran on the waiting thread */
    bool is_elsewhere;
} crew;

static vow_value note_thread(vow_value input, void *context) {
    crew *self = context;
    if (pthread_equal(pthread_self(), self->waiter)) {
        self->own++;
        self->is_elsewhere |= vow_executor_current() != vow_executor_pool();
    }
    return vow_int(input.kind == VOW_INT ? input.as.integer + 1 : 1);
}

/* Waits for a promise (consumed) as long as it takes. */
static int64_t forever(vow_promise *promise) {
    vow_value out = vow_none();
    int64_t integer = -1;
    if (vow_await(promise, VOW_FOREVER, &out) == (int)VOW_FULFILLED) {
        integer = out.as.integer;
    }
    vow_value_release(out);
    vow_promise_release(promise);
    return integer;
}

TEST("a thread runs the pool's work that it waits for, at the pool's place") {
    crew self = {pthread_self(), 0, false};
    crowd others = {.count = 0};
    fill_pool(&others);
    int64_t sum = 0;
    for (int i = 0; i < tries(); i++) {
        sum += forever(vow_async(vow_executor_pool(), note_thread, &self));
    }
    empty_pool(&others);
    CHECK_INT_EQ(sum, tries());
    CHECK(self.own > 0);
    CHECK(!self.is_elsewhere);
}

TEST("it runs each handler of a chain, behind links and adopted promises") {
    crew self = {pthread_self(), 0, false};
    crowd others = {.count = 0};
    fill_pool(&others);
    int64_t sum = 0;
    for (int i = 0; i < tries(); i++) {
        vow_promise *work = vow_async(vow_executor_pool(), note_thread, &self);
        work = then_inline(work, add_one, NULL);
        work = then_on(vow_executor_pool(), work, note_thread, &self);
        sum += forever(then_inline(work, add_one, NULL));
    }
    empty_pool(&others);
    CHECK_INT_EQ(sum, 4 * tries());
    CHECK(self.own > 0);
}

static vow_value waits_for_more(vow_value input, void *context) {
    int64_t found = forever(vow_async(vow_executor_pool(), note_thread, context));
    return vow_int(found + (input.kind == VOW_INT ? 0 : 1));
}

TEST("a handler that was taken back may wait for more") {
    crew self = {pthread_self(), 0, false};
    int64_t sum = 0;
    for (int i = 0; i < tries(); i++) {
        sum += forever(vow_async(vow_executor_pool(), waits_for_more, &self));
    }
    CHECK_INT_EQ(sum, 2 * tries());
}

TEST("with a time-out a thread runs none of it, nor on the thread of a loop") {
    crew self = {pthread_self(), 0, false};
    for (int i = 0; i < tries(); i++) {
        CHECK_INT_EQ(int_of(vow_async(vow_executor_pool(), note_thread, &self)), 1);
    }
    CHECK_INT_EQ(self.own, 0);
    vow_loop *loop = vow_loop_create();
    for (int i = 0; i < tries() / 10 + 1; i++) {
        CHECK_INT_EQ(forever(vow_async(vow_executor_pool(), note_thread, &self)), 1);
    }
    vow_loop_destroy(loop);
    CHECK_INT_EQ(self.own, 0);
}

static void *with_little_stack(void *context) {
    crew *self = context;
    self->waiter = pthread_self();
    for (int i = 0; i < tries(); i++) {
        CHECK_INT_EQ(forever(vow_async(vow_executor_pool(), note_thread, self)), 1);
    }
    return NULL;
}

TEST("a thread with little stack runs none of it") {
    crew self = {pthread_self(), 0, false};
    on_small_stack(with_little_stack, &self);
    CHECK_INT_EQ(self.own, 0);
}

TEST("work of a serial executor is never taken back") {
    crew self = {pthread_self(), 0, false};
    vow_executor *serial = vow_executor_serial("taken back");
    for (int i = 0; i < tries(); i++) {
        CHECK_INT_EQ(forever(vow_async(serial, note_thread, &self)), 1);
    }
    vow_executor_release(serial);
    CHECK_INT_EQ(self.own, 0);
}

static vow_value fails(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_error("test", 7, "of the handler");
}

TEST("what a handler that was taken back throws, the wait gives") {
    for (int i = 0; i < tries(); i++) {
        vow_value error = vow_none();
        vow_promise *work = vow_async(vow_executor_pool(), fails, NULL);
        CHECK_INT_EQ(vow_take(work, VOW_FOREVER, &error), VOW_REJECTED);
        CHECK_INT_EQ(vow_error_code(error), 7);
        vow_value_release(error);
    }
}

typedef struct given_up {
    vow_promise *work;
    atomic_int runs;
} given_up;

static void *cancels(void *context) {
    vow_cancel(((given_up *)context)->work);
    return NULL;
}

static vow_value counts(vow_value input, void *context) {
    atomic_fetch_add(&((given_up *)context)->runs, 1);
    return vow_value_retain(input);
}

TEST("another thread may cancel what the waiting thread is about to run") {
    int ran = 0, cancelled = 0;
    for (int i = 0; i < tries() / 10 + 1; i++) {
        given_up self = {.runs = 0};
        self.work = vow_async(vow_executor_pool(), counts, &self);
        pthread_t other;
        if (!CHECK_INT_EQ(pthread_create(&other, NULL, cancels, &self), 0)) {
            break;
        }
        int state = vow_await(self.work, VOW_FOREVER, NULL);
        pthread_join(other, NULL);
        CHECK(atomic_load(&self.runs) <= 1);
        CHECK(state == (int)VOW_REJECTED || atomic_load(&self.runs) == 1);
        ran += atomic_load(&self.runs);
        cancelled += state == (int)VOW_REJECTED;
        vow_promise_release(self.work);
    }
    CHECK(ran + cancelled >= tries() / 10);
}

typedef struct shared {
    pthread_barrier_t start;
    vow_promise *work[64];
    atomic_int runs;
} shared;

static vow_value counts_shared(vow_value input, void *context) {
    (void)input;
    return vow_int(atomic_fetch_add(&((shared *)context)->runs, 1));
}

static void *waits_for_all(void *context) {
    shared *self = context;
    pthread_barrier_wait(&self->start);
    for (int i = 63; i >= 0; i--) {
        CHECK_INT_EQ(vow_await(self->work[i], VOW_FOREVER, NULL), VOW_FULFILLED);
    }
    return NULL;
}

TEST("of three threads that wait for the same work, and the workers, one runs it") {
    for (int round = 0; round < tries() / 20 + 1; round++) {
        shared self = {.runs = 0};
        pthread_t threads[3];
        pthread_barrier_init(&self.start, NULL, 4);
        for (int i = 0; i < 3; i++) {
            pthread_create(&threads[i], NULL, waits_for_all, &self);
        }
        for (int i = 0; i < 64; i++) {
            self.work[i] = vow_async(vow_executor_pool(), counts_shared, &self);
        }
        pthread_barrier_wait(&self.start);
        for (int i = 0; i < 3; i++) {
            pthread_join(threads[i], NULL);
        }
        CHECK_INT_EQ(atomic_load(&self.runs), 64);
        for (int i = 0; i < 64; i++) {
            vow_promise_release(self.work[i]);
        }
        pthread_barrier_destroy(&self.start);
    }
}

typedef struct held {
    vow_promise *awaited;
    atomic_bool begun;
    atomic_bool may_end;
    atomic_int ended;    /* handlers */
    atomic_int returned; /* waits */
} held;

static vow_value sleeps(vow_value input, void *context) {
    held *self = context;
    (void)input;
    atomic_store(&self->begun, true);
    usleep(20000); /* a cancellation point, elsewhere */
    atomic_fetch_add(&self->ended, 1);
    return vow_int(1);
}

static void *waits_and_is_cancelled(void *context) {
    held *self = context;
    CHECK_INT_EQ(vow_await(self->awaited, VOW_FOREVER, NULL), VOW_FULFILLED);
    atomic_fetch_add(&self->returned, 1);
    pthread_testcancel();
    return NULL;
}

TEST("a thread that is cancelled meanwhile runs the handler to its end first") {
    for (int i = 0; i < 5; i++) {
        held self = {.ended = 0};
        self.awaited = vow_async(vow_executor_pool(), sleeps, &self);
        pthread_t thread = start_thread(waits_and_is_cancelled, &self);
        while (!atomic_load(&self.begun)) {
            usleep(200);
        }
        pthread_cancel(thread);
        void *result = NULL;
        CHECK_INT_EQ(pthread_join(thread, &result), 0);
        CHECK(result == PTHREAD_CANCELED);
        CHECK_INT_EQ(atomic_load(&self.ended) + atomic_load(&self.returned), 2);
        vow_promise_release(self.awaited);
    }
}

static vow_value waits_for_its_end(vow_value input, void *context) {
    held *self = context;
    (void)input;
    atomic_store(&self->begun, true);
    while (!atomic_load(&self->may_end)) {
        usleep(200);
    }
    return vow_int(1);
}

static void *waits_and_returns(void *context) {
    held *self = context;
    CHECK_INT_EQ(vow_await(self->awaited, VOW_FOREVER, NULL), VOW_REJECTED);
    atomic_fetch_add(&self->returned, 1);
    return NULL;
}

/* `work` is what `self->awaited` reads, and whose handler runs until the wait has returned. */
static void cancel_what_is_awaited(held *self, vow_promise *work, vow_cancel_source *source) {
    pthread_t thread = start_thread(waits_and_returns, self);
    while (!atomic_load(&self->begun)) {
        usleep(200);
    }
    if (source != NULL) {
        vow_cancel_source_cancel(source);
    } else {
        vow_cancel(self->awaited);
    }
    CHECK(reaches(&self->returned, 1));
    atomic_store(&self->may_end, true);
    pthread_join(thread, NULL);
    vow_promise_release(self->awaited);
    if (work != NULL) {
        CHECK_INT_EQ(int_of(work), 1);
    }
    /* The worker ends the handler, and frees what nobody reads. */
    int64_t limit = now_ns() + LONG_ENOUGH;
    while (harness_stats().live > 0 && now_ns() < limit) {
        usleep(200);
    }
}

TEST("a wait returns when its promise is cancelled and leaves the work to another reader") {
    for (int i = 0; i < 20; i++) {
        held self = {.ended = 0};
        vow_promise *work = vow_async(vow_executor_pool(), waits_for_its_end, &self);
        self.awaited = then_inline(vow_promise_retain(work), add_one, NULL);
        cancel_what_is_awaited(&self, work, NULL);
    }
}

TEST("a wait returns when its promise is cancelled by a token") {
    for (int i = 0; i < 20; i++) {
        held self = {.ended = 0};
        vow_cancel_source *source = vow_cancel_source_create();
        vow_reaction reaction = {.size = sizeof reaction, .on_fulfilled = add_one};
        reaction.executor = vow_executor_inline();
        reaction.token = vow_cancel_source_token(source);
        vow_promise *work = vow_async(vow_executor_pool(), waits_for_its_end, &self);
        self.awaited = vow_then_with(work, &reaction);
        cancel_what_is_awaited(&self, NULL, source);
        vow_cancel_source_release(source);
    }
}

static vow_value yields(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_int(vow_fiber_yield());
}

TEST("a fiber that was taken back yields, also if the waits of its thread nest") {
    bool nested = vow_nest_waits(true);
    for (int i = 0; i < tries(); i++) {
        CHECK_INT_EQ(forever(vow_fiber(vow_executor_pool(), yields, NULL, NULL)), 0);
    }
    CHECK(vow_nest_waits(nested));
}

static vow_value forks(vow_value input, void *context) {
    (void)input;
    pid_t child = fork();
    if (child == 0) {
        /* The work that stands in the pool was left with the parent. */
        vow_promise *more = vow_async(vow_executor_pool(), counts, context);
        int state = vow_await(more, VOW_FOREVER, NULL);
        _exit(state == (int)VOW_REJECTED ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return vow_int(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}

TEST("a handler that was taken back may fork") {
    given_up self = {.runs = 0};
    for (int i = 0; i < 20; i++) {
        CHECK_INT_EQ(forever(vow_async(vow_executor_pool(), forks, &self)), 0);
    }
    CHECK_INT_EQ(atomic_load(&self.runs), 0);
}
