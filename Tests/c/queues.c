/* Tests executors on dispatch queues of the program. Link with -ldispatch, the same libdispatch
 * that the library uses. */
#include "dispatch.h"
#include "tools.h"

TEST("a handler runs on the queue of the program, and the queue may be released before it") {
    counter seen = {0};
    void *queue = dispatch_queue_create("vow.test", QUEUE_CONCURRENT);
    vow_executor *executor = vow_executor_dispatch(queue, 0);
    CHECK(executor != NULL);
    dispatch_release(queue);
    CHECK_INT_EQ(int_of(then_on(executor, fulfilled_int(4), counter_run, &seen)), 4);
    CHECK_INT_EQ(atomic_load(&seen.runs), 1);
    vow_executor_release(executor);
}

static vow_value meet(vow_value input, void *context) {
    (void)input;
    atomic_fetch_add((atomic_int *)context, 1);
    return vow_int(reaches(context, 2) ? 1 : 0);
}

TEST("without flags, handlers on a concurrent queue run in parallel") {
    atomic_int met = 0;
    void *queue = dispatch_queue_create("vow.test", QUEUE_CONCURRENT);
    vow_executor *executor = vow_executor_dispatch(queue, 0);
    vow_promise *first = vow_async(executor, meet, &met);
    vow_promise *second = vow_async(executor, meet, &met);
    CHECK_INT_EQ(int_of(first), 1);
    CHECK_INT_EQ(int_of(second), 1);
    vow_executor_release(executor);
    dispatch_release(queue);
}

/* Readers on the program's side, and handlers that write: a barrier keeps them apart. */
typedef struct shelf {
    atomic_int readers;
    atomic_int writers;
    atomic_int reads;
    atomic_int clashes;
} shelf;

static void shelf_read(void *context) {
    shelf *self = context;
    atomic_fetch_add(&self->readers, 1);
    if (atomic_load(&self->writers) != 0) {
        atomic_fetch_add(&self->clashes, 1);
    }
    usleep(100);
    atomic_fetch_sub(&self->readers, 1);
    atomic_fetch_add(&self->reads, 1);
}

static vow_value shelf_write(vow_value input, void *context) {
    shelf *self = context;
    if (atomic_fetch_add(&self->writers, 1) != 0 || atomic_load(&self->readers) != 0) {
        atomic_fetch_add(&self->clashes, 1);
    }
    usleep(100);
    if (atomic_load(&self->readers) != 0) {
        atomic_fetch_add(&self->clashes, 1);
    }
    atomic_fetch_sub(&self->writers, 1);
    return vow_value_retain(input);
}

TEST("a barrier handler has the concurrent queue of the program for itself") {
    shelf all = {0};
    void *queue = dispatch_queue_create("vow.test", QUEUE_CONCURRENT);
    vow_executor *executor = vow_executor_dispatch(queue, VOW_BARRIER);
    vow_promise *writes[50];
    for (int i = 0; i < 50; i++) {
        for (int reader = 0; reader < 4; reader++) {
            dispatch_async_f(queue, &all, shelf_read);
        }
        writes[i] = vow_async(executor, shelf_write, &all);
    }
    for (int i = 0; i < 50; i++) {
        CHECK_INT_EQ(code_of(writes[i]), 0);
    }
    CHECK(reaches(&all.reads, 200));
    CHECK_INT_EQ(atomic_load(&all.clashes), 0);
    vow_executor_release(executor);
    dispatch_release(queue);
}

TEST("a barrier handler runs after what was queued before it") {
    shelf all = {0};
    void *queue = dispatch_queue_create("vow.test", QUEUE_CONCURRENT);
    vow_executor *executor = vow_executor_dispatch(queue, VOW_BARRIER);
    for (int reader = 0; reader < 8; reader++) {
        dispatch_async_f(queue, &all, shelf_read);
    }
    CHECK_INT_EQ(code_of(vow_async(executor, shelf_write, &all)), 0);
    CHECK_INT_EQ(atomic_load(&all.reads), 8);
    CHECK_INT_EQ(atomic_load(&all.clashes), 0);
    vow_executor_release(executor);
    dispatch_release(queue);
}

TEST("G2: on a serial queue of the program handlers run one at a time and in order") {
    journal seen = {0};
    entry entries[40];
    void *queue = dispatch_queue_create("vow.test", QUEUE_SERIAL);
    vow_executor *executor = vow_executor_dispatch(queue, VOW_SERIAL);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    for (int i = 0; i < 40; i++) {
        entries[i] = (entry){&seen, i};
        if (i == 20) {
            CHECK(vow_resolve(resolver, vow_int(1)));
        }
        vow_promise_release(
            then_on(executor, vow_promise_retain(promise), entry_write, &entries[i]));
    }
    CHECK(reaches(&seen.count, 40));
    journal_counts_to(&seen, 40);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    vow_executor_release(executor);
    dispatch_release(queue);
}

/* Blocks of the program on the same queue, which note how many handlers had run. */
typedef struct busy_queue {
    void *queue;
    atomic_int handlers;
    atomic_int blocks;
    int seen[8];
} busy_queue;

static void note_handlers(void *context) {
    busy_queue *self = context;
    self->seen[atomic_load(&self->blocks)] = atomic_load(&self->handlers);
    if (atomic_fetch_add(&self->blocks, 1) < 7) {
        dispatch_async_f(self->queue, self, note_handlers);
    }
}

static vow_value count_handler(vow_value input, void *context) {
    busy_queue *self = context;
    CHECK_INT_EQ(atomic_fetch_add(&self->handlers, 1), input.as.integer);
    return vow_none();
}

static vow_value count_run(vow_value input, void *context) {
    (void)input;
    atomic_fetch_add(&((busy_queue *)context)->handlers, 1);
    return vow_none();
}

TEST("among 3,000 handlers on a serial queue other blocks of the queue get their turn") {
    for (int together = 0; together < 2; together++) {
        busy_queue self = {dispatch_queue_create("vow.test", QUEUE_SERIAL), 0, 0, {0}};
        vow_executor *executor = vow_executor_dispatch(self.queue, VOW_SERIAL);
        dispatch_suspend(self.queue);
        if (together) {
            /* In one push. */
            vow_resolver *resolver;
            vow_promise *promise = vow_promise_create(&resolver);
            for (int i = 0; i < 3000; i++) {
                vow_promise_release(
                    then_on(executor, vow_promise_retain(promise), count_run, &self));
            }
            CHECK(vow_resolve(resolver, vow_int(0)));
            vow_resolver_release(resolver);
            vow_promise_release(promise);
        } else {
            for (int i = 0; i < 3000; i++) {
                vow_promise_release(then_on(executor, fulfilled_int(i), count_handler, &self));
            }
        }
        dispatch_async_f(self.queue, &self, note_handlers);
        dispatch_resume(self.queue);
        CHECK(reaches(&self.handlers, 3000));
        CHECK(reaches(&self.blocks, 8));
        /* The first after one turn of handlers, the others each after another one, then alone. */
        CHECK_INT_EQ(self.seen[0], 1024);
        CHECK_INT_EQ(self.seen[1], 2048);
        CHECK_INT_EQ(self.seen[2], 3000);
        CHECK_INT_EQ(self.seen[7], 3000);
        vow_executor_release(executor);
        dispatch_release(self.queue);
    }
}

TEST("a handler waits on a queue that is suspended, and runs when it is resumed") {
    for (uint32_t flags = 0; flags <= VOW_SERIAL; flags++) {
        counter seen = {0};
        void *queue = dispatch_queue_create("vow.test",
                                            flags == VOW_SERIAL ? QUEUE_SERIAL : QUEUE_CONCURRENT);
        vow_executor *executor = vow_executor_dispatch(queue, flags);
        dispatch_suspend(queue);
        vow_promise *promise = then_on(executor, fulfilled_int(6), counter_run, &seen);
        CHECK_INT_EQ(vow_await(promise, 20 * MILLISECOND, NULL), VOW_PENDING);
        CHECK_INT_EQ(atomic_load(&seen.runs), 0);
        dispatch_resume(queue);
        CHECK_INT_EQ(int_of(promise), 6);
        CHECK_INT_EQ(atomic_load(&seen.runs), 1);
        vow_executor_release(executor);
        dispatch_release(queue);
    }
}

static vow_value await_on_own_queue(vow_value input, void *context) {
    (void)input;
    vow_promise *later = then_on(context, fulfilled_int(1), add_one, NULL);
    int answer = vow_await(later, VOW_FOREVER, NULL);
    vow_promise_release(later);
    return vow_int(answer);
}

TEST("G11: waiting on a serial queue for work that must run there is refused") {
    void *queue = dispatch_queue_create("vow.test", QUEUE_SERIAL);
    vow_executor *executor = vow_executor_dispatch(queue, VOW_SERIAL);
    CHECK_INT_EQ(int_of(vow_async(executor, await_on_own_queue, executor)), VOW_EDEADLOCK);
    vow_executor_release(executor);
    dispatch_release(queue);
}

TEST("G11: so it is in a barrier handler for work of the same barrier executor") {
    void *queue = dispatch_queue_create("vow.test", QUEUE_CONCURRENT);
    vow_executor *executor = vow_executor_dispatch(queue, VOW_BARRIER);
    CHECK_INT_EQ(int_of(vow_async(executor, await_on_own_queue, executor)), VOW_EDEADLOCK);
    vow_executor_release(executor);
    dispatch_release(queue);
}

/* A barrier handler's wait for a promise that becomes work of the same executor later. */
typedef struct barrier_wait {
    vow_promise *awaited;
    atomic_int begun;
} barrier_wait;

static vow_value await_in_barrier(vow_value input, void *context) {
    barrier_wait *self = context;
    (void)input;
    atomic_store(&self->begun, 1);
    return vow_int(vow_await(self->awaited, VOW_FOREVER, NULL));
}

/* The work that is awaited goes to the executor while the handler waits: from there another thread
 * registers it on a settled promise, or settles the one on which it is registered. */
static void check_late_barrier(bool registered) {
    barrier_wait self = {NULL, 0};
    vow_resolver *resolver;
    void *queue = dispatch_queue_create("vow.test", QUEUE_CONCURRENT);
    vow_executor *executor = vow_executor_dispatch(queue, VOW_BARRIER);
    self.awaited = vow_promise_create(&resolver);
    if (registered) {
        self.awaited = then_on(executor, self.awaited, add_one, NULL);
    }
    vow_promise *waits = vow_async(executor, await_in_barrier, &self);
    CHECK(reaches(&self.begun, 1));
    usleep(50000);
    vow_promise *later =
        registered ? fulfilled_int(1) : then_on(executor, fulfilled_int(1), add_one, NULL);
    CHECK(vow_resolve(resolver, vow_from_promise(later)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(waits), VOW_EDEADLOCK);
    CHECK_INT_EQ(int_of(self.awaited), 2);
    vow_executor_release(executor);
    dispatch_release(queue);
}

TEST("G11: also when that work arrives while the handler waits") {
    check_late_barrier(false);
    check_late_barrier(true);
}

TEST("a concurrent queue without flags lets a handler wait for another one there") {
    void *queue = dispatch_queue_create("vow.test", QUEUE_CONCURRENT);
    vow_executor *executor = vow_executor_dispatch(queue, 0);
    CHECK_INT_EQ(int_of(vow_async(executor, await_on_own_queue, executor)), VOW_FULFILLED);
    vow_executor_release(executor);
    dispatch_release(queue);
}

TEST("flags that do not exist, or a NULL queue, make no executor") {
    static void *no_queue;
    void *queue = dispatch_queue_create("vow.test", QUEUE_SERIAL);
    CHECK(vow_executor_dispatch(no_queue, 0) == NULL);
    CHECK(vow_executor_dispatch(no_queue, VOW_SERIAL) == NULL);
    CHECK(vow_executor_dispatch(queue, 4) == NULL);
    CHECK(vow_executor_dispatch(queue, UINT32_MAX) == NULL);
    CHECK(vow_executor_dispatch(queue, VOW_SERIAL | VOW_BARRIER) == NULL);
    dispatch_release(queue);
}

/* An allocator in which, while it is told to, two threads meet: so both have found that the queue
 * has no executor yet, and are about to make one. */
static atomic_int meeting; /* 0: nobody meets; else 1 and the threads that have come */

static void *allocate_together(void *context, size_t bytes) {
    (void)context;
    if (atomic_load(&meeting) > 0) {
        int64_t limit = now_ns() + 20 * MILLISECOND * slowness();
        atomic_fetch_add(&meeting, 1);
        while (atomic_load(&meeting) < 3 && now_ns() < limit) {
            usleep(100);
        }
    }
    return malloc(bytes);
}

static void deallocate(void *context, void *pointer, size_t bytes) {
    (void)context;
    (void)bytes;
    free(pointer);
}

static int allocator_answer;

__attribute__((constructor)) static void set_allocator(void) {
    static const vow_allocator allocator = {sizeof(vow_allocator), allocate_together, deallocate,
                                            NULL};
    allocator_answer = vow_set_allocator(&allocator);
}

typedef struct wrapping {
    void *queue;
    vow_executor *made;
} wrapping;

static void *wrap(void *context) {
    wrapping *self = context;
    self->made = vow_executor_dispatch(self->queue, VOW_SERIAL);
    return NULL;
}

TEST("threads that wrap the same serial queue at once get the same executor") {
    CHECK_INT_EQ(allocator_answer, 0);
    for (int round = 0; round < 20; round++) {
        void *queue = dispatch_queue_create("vow.test", QUEUE_SERIAL);
        wrapping other = {queue, NULL};
        wrapping own = {queue, NULL};
        atomic_store(&meeting, 1);
        pthread_t thread = start_thread(wrap, &other);
        wrap(&own);
        pthread_join(thread, NULL);
        atomic_store(&meeting, 0);
        dispatch_release(queue);
        CHECK(own.made != NULL && own.made == other.made);
        CHECK_INT_EQ(int_of(then_on(own.made, fulfilled_int(1), add_one, NULL)), 2);
        vow_executor_release(own.made);
        vow_executor_release(other.made);
    }
}
