/* Threads that adopt, settle, register and close rings of promises at once. STRESS_RINGS and
 * STRESS_ROUNDS: rounds. */
#include "stress.h"

#define THREADS 4

typedef struct knot {
    vow_promise *promises[THREADS];
    vow_resolver *resolvers[THREADS];
    counter seen;
    pthread_barrier_t gate;
    long rounds;
    void (*act)(struct knot *self, int number);
    void (*judge)(struct knot *self);
} knot;

typedef struct hand {
    knot *in;
    int number;
} hand;

static void *pull(void *context) {
    hand *self = context;
    knot *in = self->in;
    uint64_t random = random_seed(self->number);
    for (long round = 0; round < in->rounds; round++) {
        if (self->number == 0) {
            memset(&in->seen, 0, sizeof in->seen);
            for (int i = 0; i < THREADS; i++) {
                in->promises[i] = vow_promise_create(&in->resolvers[i]);
            }
        }
        pthread_barrier_wait(&in->gate);
        random_pause(&random);
        in->act(in, self->number);
        pthread_barrier_wait(&in->gate);
        if (self->number == 0) {
            in->judge(in);
        }
        pthread_barrier_wait(&in->gate);
    }
    return NULL;
}

static void run(void (*act)(knot *, int), void (*judge)(knot *), long rounds) {
    knot in;
    pthread_t threads[THREADS];
    hand hands[THREADS];
    memset(&in, 0, sizeof in);
    in.act = act;
    in.judge = judge;
    in.rounds = rounds;
    pthread_barrier_init(&in.gate, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        hands[i] = (hand){&in, i};
        threads[i] = start_thread(pull, &hands[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&in.gate);
}

static void follow(knot *in, int from, int to) {
    CHECK(vow_resolve(in->resolvers[from], vow_from_promise(vow_promise_retain(in->promises[to]))));
    vow_resolver_release(in->resolvers[from]);
}

static void close_ring(knot *in, int number) {
    follow(in, number, (number + 1) % THREADS);
}

static void judge_ring(knot *in) {
    for (int i = 0; i < THREADS; i++) {
        CHECK_INT_EQ(code_of(in->promises[i]), VOW_ECYCLE);
    }
}

TEST("G8: rings that four threads close at once are rejected with VOW_ECYCLE, none hangs") {
    run(close_ring, judge_ring, size_of_run("STRESS_RINGS", 1000));
}

static void close_ring_with_reactions(knot *in, int number) {
    vow_promise *own = in->promises[number];
    vow_promise_release(link_full(vow_executor_inline(), vow_promise_retain(own), counter_run,
                                  give_code, &in->seen, counter_end));
    close_ring(in, number);
    vow_promise_release(link_full(vow_executor_inline(), vow_promise_retain(own), counter_run,
                                  give_code, &in->seen, counter_end));
}

static void judge_ring_with_reactions(knot *in) {
    judge_ring(in);
    CHECK(reaches(&in->seen.ends, THREADS * 2));
    CHECK_INT_EQ(atomic_load(&in->seen.ends), THREADS * 2);
    CHECK_INT_EQ(atomic_load(&in->seen.runs), 0);
}

TEST("G3, G8: the reactions on such a ring end once each, and see the rejection") {
    run(close_ring_with_reactions, judge_ring_with_reactions, size_of_run("STRESS_RINGS", 1000));
}

/* A row 0 -> 1 -> 2, whose links are made while 2 is settled and handlers are registered on 0. */
static void tie_row(knot *in, int number) {
    if (number < 2) {
        follow(in, number, number + 1);
    } else if (number == 2) {
        CHECK(vow_resolve(in->resolvers[2], vow_object(&in->seen, &counter_class)));
        vow_resolver_release(in->resolvers[2]);
    } else {
        for (int i = 0; i < 5; i++) {
            vow_promise_release(
                then_inline(vow_promise_retain(in->promises[0]), counter_run, &in->seen));
        }
        CHECK(vow_resolve(in->resolvers[3], vow_none()));
        vow_resolver_release(in->resolvers[3]);
    }
}

static void judge_row(knot *in) {
    vow_value out;
    CHECK_INT_EQ(vow_await(in->promises[0], LONG_ENOUGH, &out), VOW_FULFILLED);
    CHECK(vow_object_pointer(out, &counter_class) == &in->seen);
    CHECK(reaches(&in->seen.runs, 5));
    CHECK_INT_EQ(atomic_load(&in->seen.runs), 5);
    for (int i = 0; i < THREADS; i++) {
        vow_promise_release(in->promises[i]);
    }
    CHECK_INT_EQ(atomic_load(&in->seen.ends), 0);
    vow_value_release(out);
    CHECK_INT_EQ(atomic_load(&in->seen.ends), 1);
}

TEST("G1, G3: adopting against settling against registering loses no value and no handler") {
    run(tie_row, judge_row, size_of_run("STRESS_ROUNDS", 10000));
}

/* The same row, with every handle dropped by the thread that used it, and one that waits. */
static void drop_row(knot *in, int number) {
    if (number == 3) {
        CHECK(vow_resolve(in->resolvers[3], vow_none()));
        vow_resolver_release(in->resolvers[3]);
        vow_value out;
        CHECK_INT_EQ(vow_await(in->promises[0], LONG_ENOUGH, &out), VOW_FULFILLED);
        CHECK(vow_object_pointer(out, &counter_class) == &in->seen);
        vow_value_release(out);
    } else {
        tie_row(in, number);
    }
}

static void judge_dropped(knot *in) {
    for (int i = 0; i < THREADS; i++) {
        vow_promise_release(in->promises[i]);
    }
    CHECK_INT_EQ(atomic_load(&in->seen.ends), 1);
}

TEST("G11: a wait on the outermost promise is woken, whenever the links under it are made") {
    run(drop_row, judge_dropped, size_of_run("STRESS_ROUNDS", 10000));
}
