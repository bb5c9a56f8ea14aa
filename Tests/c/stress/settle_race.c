/* Threads that settle, drop and await the same promise at once. STRESS_ROUNDS: rounds. */
#include "stress.h"

#define THREADS 4

/* One round: what the threads fight for, and what came of it. */
typedef struct duel {
    vow_promise *promise;
    vow_resolver *resolver;
    atomic_int won;
    counter objects;
    int answers[THREADS];
    pthread_barrier_t gate;
    long rounds;
    void (*begin)(struct duel *self);
    void (*fight)(struct duel *self, int number);
    void (*judge)(struct duel *self);
} duel;

typedef struct fighter {
    duel *in;
    int number;
} fighter;

static void *fight(void *context) {
    fighter *self = context;
    duel *in = self->in;
    uint64_t random = random_seed(self->number);
    for (long round = 0; round < in->rounds; round++) {
        if (self->number == 0) {
            atomic_store(&in->won, 0);
            atomic_store(&in->objects.runs, 0);
            atomic_store(&in->objects.ends, 0);
            in->promise = vow_promise_create(&in->resolver);
            in->begin(in);
        }
        pthread_barrier_wait(&in->gate);
        random_pause(&random);
        in->fight(in, self->number);
        pthread_barrier_wait(&in->gate);
        if (self->number == 0) {
            in->judge(in);
        }
    }
    return NULL;
}

static void run(void (*begin)(duel *), void (*one)(duel *, int), void (*judge)(duel *)) {
    duel in;
    pthread_t threads[THREADS];
    fighter fighters[THREADS];
    memset(&in, 0, sizeof in);
    in.rounds = size_of_run("STRESS_ROUNDS", 10000);
    in.begin = begin;
    in.fight = one;
    in.judge = judge;
    pthread_barrier_init(&in.gate, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        fighters[i] = (fighter){&in, i};
        threads[i] = start_thread(fight, &fighters[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&in.gate);
}

static void begin_nothing(duel *in) {
    (void)in;
}

static void settle(duel *in, int number) {
    vow_value value = vow_object(&in->objects, &counter_class);
    bool won = number % 2 == 0 ? vow_resolve(in->resolver, value)
                               : vow_reject(in->resolver, vow_error_wrap("race", 1, NULL, value));
    atomic_fetch_add(&in->won, won);
}

static void judge_settle(duel *in) {
    CHECK_INT_EQ(atomic_load(&in->won), 1);
    CHECK_INT_EQ(atomic_load(&in->objects.ends), THREADS - 1);
    CHECK(vow_promise_peek(in->promise, NULL));
    vow_resolver_release(in->resolver);
    vow_promise_release(in->promise);
    CHECK_INT_EQ(atomic_load(&in->objects.ends), THREADS);
}

TEST("G1: of four threads that settle one promise, one wins, and the losers' values are freed") {
    run(begin_nothing, settle, judge_settle);
}

static void begin_shared(duel *in) {
    for (int i = 1; i < THREADS; i++) {
        vow_resolver_retain(in->resolver);
    }
}

static void settle_or_drop(duel *in, int number) {
    if (number % 2 == 0) {
        atomic_fetch_add(&in->won, vow_resolve(in->resolver, vow_int(number)));
    }
    vow_resolver_release(in->resolver);
}

static void judge_drop(duel *in) {
    CHECK_INT_EQ(atomic_load(&in->won), 1);
    CHECK_INT_EQ(vow_promise_state(in->promise), VOW_FULFILLED);
    vow_promise_release(in->promise);
}

TEST("G9: dropping resolvers does not break a promise that another one resolves in time") {
    run(begin_shared, settle_or_drop, judge_drop);
}

static void drop_only(duel *in, int number) {
    (void)number;
    vow_resolver_release(in->resolver);
}

static void judge_broken(duel *in) {
    vow_value error;
    CHECK(vow_promise_peek(in->promise, &error));
    CHECK_INT_EQ(vow_error_code(error), VOW_EBROKEN);
    vow_promise_release(in->promise);
}

TEST("G9: of four threads that drop the resolvers, the last one breaks the promise") {
    run(begin_shared, drop_only, judge_broken);
}

static void await_or_settle(duel *in, int number) {
    if (number == 0) {
        vow_resolve(in->resolver, vow_object(&in->objects, &counter_class));
        return;
    }
    static const int64_t timeouts[THREADS] = {0, 0, 3000, VOW_FOREVER};
    vow_value out;
    in->answers[number] = vow_await(in->promise, timeouts[number], &out);
    if (in->answers[number] == (int)VOW_FULFILLED) {
        CHECK(vow_object_pointer(out, &counter_class) == &in->objects);
    }
    vow_value_release(out);
}

static void judge_await(duel *in) {
    for (int i = 1; i < THREADS - 1; i++) {
        CHECK(in->answers[i] == (int)VOW_PENDING || in->answers[i] == (int)VOW_FULFILLED);
    }
    CHECK_INT_EQ(in->answers[THREADS - 1], VOW_FULFILLED);
    vow_resolver_release(in->resolver);
    CHECK_INT_EQ(atomic_load(&in->objects.ends), 0);
    vow_promise_release(in->promise);
    CHECK_INT_EQ(atomic_load(&in->objects.ends), 1);
}

TEST("G11: waits with no, a tiny and an endless time-out against settling") {
    run(begin_nothing, await_or_settle, judge_await);
}

static void begin_held(duel *in) {
    for (int i = 1; i < THREADS; i++) {
        vow_promise_retain(in->promise);
    }
}

static void register_or_settle(duel *in, int number) {
    if (number == 0) {
        vow_resolve(in->resolver, vow_int(1));
        vow_resolver_release(in->resolver);
        vow_promise_release(in->promise);
    } else {
        vow_promise_release(link_full(vow_executor_inline(), in->promise, counter_run, counter_run,
                                      &in->objects, counter_end));
    }
}

static void judge_registered(duel *in) {
    CHECK_INT_EQ(atomic_load(&in->objects.runs), THREADS - 1);
    CHECK_INT_EQ(atomic_load(&in->objects.ends), THREADS - 1);
}

TEST("G3: reactions that race with settling and with the last release all run once") {
    run(begin_held, register_or_settle, judge_registered);
}
