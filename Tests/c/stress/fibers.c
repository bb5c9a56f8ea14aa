/* Thousands of fibers on every kind of executor at once, which several threads settle, cancel, time
 * out and wait for. Each must end with an outcome that its own answers allow, and nothing is lost.
 * FIBERS in the environment: how many each of two threads makes. */
#include "../fiber_tools.h"
#include "stress.h"

#define EXECUTORS 7
#define SOURCES 64
#define BATCH 500

typedef struct runner {
    struct runner *next_of; /* a fiber that this one waits for, begun before */
    vow_promise *fiber;
    uint64_t random;
    atomic_int ends;
    int waits; /* that have answered */
    bool fails;
} runner;

typedef struct field {
    _Atomic(vow_promise *) promises[SOURCES];
    _Atomic(vow_resolver *) resolvers[SOURCES];
    vow_executor *executors[EXECUTORS];
    _Atomic(vow_promise *) victims[SOURCES];
    atomic_int has_ended;
    atomic_llong answers[4]; /* pending, fulfilled, rejected, cancelled */
    atomic_llong objects;
    atomic_llong destroyed;
    long count;
} field;

static field all;

static void object_end(void *pointer) {
    (void)pointer;
    atomic_fetch_add(&all.destroyed, 1);
}

static const vow_class object_class = {sizeof(vow_class), "stress", object_end, NULL};

static void runner_end(void *context) {
    atomic_fetch_add(&((runner *)context)->ends, 1);
}

static vow_promise *borrow(_Atomic(vow_promise *) *slot) {
    vow_promise *promise = atomic_exchange(slot, NULL);
    if (promise != NULL) {
        vow_promise_release(atomic_exchange(slot, vow_promise_retain(promise)));
    }
    return promise;
}

static vow_value some_value(uint64_t *random) {
    if (random_next(random) % 4 == 0) {
        return vow_error("stress", 1, "on purpose");
    }
    atomic_fetch_add(&all.objects, 1);
    return vow_object(NULL, &object_class);
}

/* A wait, of any kind. */
static void wait_somehow(runner *self) {
    uint64_t choice = random_next(&self->random);
    vow_promise *promise = NULL;
    vow_value out = vow_int(1);
    if (choice % 8 == 0) {
        promise = vow_async(all.executors[(choice >> 8) % EXECUTORS], add_one, NULL);
    } else if (choice % 8 == 1) {
        promise = vow_delay((int64_t)(choice >> 8) % 100000);
    } else if (choice % 8 == 2 && self->next_of != NULL) {
        promise = vow_promise_retain(self->next_of->fiber);
    } else {
        promise = borrow(&all.promises[(choice >> 8) % SOURCES]);
    }
    if (promise == NULL) {
        CHECK_INT_EQ(vow_fiber_yield(), 0);
        return;
    }
    bool is_cancelled = vow_current_is_cancelled();
    int64_t timeout =
        (int64_t)(choice >> 32) % 3 == 0 ? VOW_FOREVER : (int64_t)(choice >> 40) % 90000;
    int answer = vow_take(promise, timeout, &out);
    bool was_cancelled = answer == (int)VOW_REJECTED && vow_error_code(out) == VOW_ECANCELLED &&
                         strcmp(vow_error_domain(out), "vow") == 0;
    CHECK(answer == (int)VOW_PENDING || answer == (int)VOW_FULFILLED ||
          answer == (int)VOW_REJECTED);
    CHECK(answer != (int)VOW_PENDING || (timeout != VOW_FOREVER && out.kind == VOW_NONE));
    CHECK(answer != (int)VOW_REJECTED || out.kind == VOW_ERROR);
    CHECK(!is_cancelled || vow_current_is_cancelled());
    atomic_fetch_add(&all.answers[was_cancelled ? 3 : answer < 3 && answer >= 0 ? answer : 0], 1);
    vow_value_release(out);
}

static vow_value run(vow_value input, void *context) {
    runner *self = context;
    (void)input;
    for (; self->waits < 6; self->waits++) {
        wait_somehow(self);
    }
    CHECK_INT_EQ(atomic_load(&self->ends), 0);
    if (self->fails) {
        return vow_error("stress", 2, "from a fiber");
    }
    atomic_fetch_add(&all.objects, 1);
    return vow_object(NULL, &object_class);
}

/* Settles promises, makes new ones and cancels fibers, until all have ended. */
static void *disturb(void *context) {
    uint64_t random = random_seed((int)(intptr_t)context);
    while (atomic_load(&all.has_ended) == 0) {
        uint64_t choice = random_next(&random);
        size_t place = (size_t)(choice >> 8) % SOURCES;
        if (choice % 16 == 0) {
            vow_promise *victim = borrow(&all.victims[place]);
            if (victim != NULL) {
                vow_cancel(victim);
                vow_promise_release(victim);
            }
        } else {
            vow_resolver *resolver;
            vow_promise *promise = vow_promise_create(&resolver);
            vow_promise_release(atomic_exchange(&all.promises[place], promise));
            resolver = atomic_exchange(&all.resolvers[place], resolver);
            if (resolver != NULL) {
                vow_resolve(resolver, some_value(&random));
                vow_resolver_release(resolver);
            }
        }
        random_pause(&random);
    }
    return NULL;
}

/* The outcome of a fiber must be one that its body allows. */
static void check_runner(runner *self) {
    vow_value out;
    int answer = vow_await(self->fiber, VOW_FOREVER, &out);
    if (answer == (int)VOW_FULFILLED) {
        CHECK(!self->fails && vow_object_pointer(out, NULL) == NULL && out.kind == VOW_OBJECT);
        CHECK_INT_EQ(self->waits, 6);
    } else if (CHECK_INT_EQ(answer, VOW_REJECTED) && vow_error_code(out) != VOW_ECANCELLED) {
        CHECK(self->fails && vow_error_code(out) == 2);
        CHECK_INT_EQ(self->waits, 6);
    } else {
        CHECK(self->waits == 6 || self->waits == 0);
    }
    CHECK_INT_EQ(atomic_load(&self->ends), 1);
    vow_value_release(out);
}

/* A thread with a loop: makes fibers on every executor but the loop of another thread, and on its
 * own, and waits for them while the loop runs. */
static void *drive(void *context) {
    uint64_t random = random_seed(100 + (int)(intptr_t)context);
    vow_loop *loop = vow_loop_create();
    for (long done = 0; done < all.count; done += BATCH) {
        runner *runners = calloc(BATCH, sizeof *runners);
        for (int i = 0; i < BATCH; i++) {
            uint64_t choice = random_next(&random);
            runner *self = &runners[i];
            self->random = choice | 1;
            self->fails = choice >> 60 == 0;
            self->next_of = i > 0 ? &runners[choice % (uint64_t)i] : NULL;
            vow_executor *executor = (choice >> 16) % 4 == 0
                                         ? vow_loop_executor(loop)
                                         : all.executors[(choice >> 20) % EXECUTORS];
            vow_fiber_options options = {.size = sizeof options, .destroy = runner_end};
            self->fiber = vow_fiber(executor, run, self, &options);
            if ((choice >> 24) % 4 == 0) {
                vow_promise_release(atomic_exchange(&all.victims[(choice >> 32) % SOURCES],
                                                    vow_promise_retain(self->fiber)));
            }
        }
        for (int i = 0; i < BATCH; i++) {
            check_runner(&runners[i]);
        }
        for (int i = 0; i < BATCH; i++) {
            vow_promise_release(runners[i].fiber);
        }
        for (int i = 0; i < SOURCES; i++) {
            vow_promise_release(atomic_exchange(&all.victims[i], NULL));
        }
        free(runners);
    }
    vow_loop_destroy(loop);
    return NULL;
}

TEST("fibers on every executor, settled, cancelled and timed out by four threads, all end well") {
    pthread_t drivers[2], disturbers[2];
    worker threads[2];
    vow_on_unhandled(stress_ignore, NULL);
    all.count = size_of_run("FIBERS", 200000) / slowness();
    void *queues[2] = {dispatch_queue_create("vow.serial", QUEUE_SERIAL),
                       dispatch_queue_create("vow.concurrent", QUEUE_CONCURRENT)};
    for (int i = 0; i < 2; i++) {
        worker_start(&threads[i]);
    }
    all.executors[0] = vow_executor_inline();
    all.executors[1] = vow_executor_pool();
    all.executors[2] = vow_executor_serial("stress");
    all.executors[3] = vow_executor_dispatch(queues[0], VOW_SERIAL);
    all.executors[4] = vow_executor_dispatch(queues[1], 0);
    all.executors[5] = vow_executor_custom(&worker_class, &threads[0]);
    all.executors[6] = vow_executor_custom(&worker_class, &threads[1]);
    for (int i = 0; i < 2; i++) {
        disturbers[i] = start_thread(disturb, (void *)(intptr_t)i);
        drivers[i] = start_thread(drive, (void *)(intptr_t)i);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(drivers[i], NULL);
    }
    atomic_store(&all.has_ended, 1);
    for (int i = 0; i < 2; i++) {
        pthread_join(disturbers[i], NULL);
    }
    for (int i = 0; i < SOURCES; i++) {
        vow_promise_release(atomic_exchange(&all.promises[i], NULL));
        vow_resolver_release(atomic_exchange(&all.resolvers[i], NULL));
    }
    for (int i = 2; i < EXECUTORS; i++) {
        vow_executor_release(all.executors[i]);
    }
    for (int i = 0; i < 2; i++) {
        worker_stop(&threads[i]);
        dispatch_release(queues[i]);
    }
    printf("# waits: %lld timed out, %lld fulfilled, %lld rejected, %lld cancelled\n",
           atomic_load(&all.answers[0]), atomic_load(&all.answers[1]), atomic_load(&all.answers[2]),
           atomic_load(&all.answers[3]));
    for (int i = 0; i < 4; i++) {
        CHECK(atomic_load(&all.answers[i]) > 0);
    }
    for (int64_t limit = now_ns() + LONG_ENOUGH;
         atomic_load(&all.destroyed) != atomic_load(&all.objects) && now_ns() < limit;) {
        usleep(200);
    }
    CHECK_INT_EQ(atomic_load(&all.destroyed), atomic_load(&all.objects));
    vow_on_unhandled(NULL, NULL);
}
