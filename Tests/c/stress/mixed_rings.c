/* Rings that go through a reaction, closed by two and three threads at once. STRESS_MIXED_RINGS:
 * rounds. */
#include "stress.h"
#include <sched.h>

#define MOST_THREADS 3

/* Promise i follows promise i + 1, and the last one the link that is made from the first. */
typedef struct ring {
    vow_promise *promises[MOST_THREADS + 1]; /* the last one is the link */
    vow_resolver *resolvers[MOST_THREADS];
    counter handlers;
    int runs; /* of the handler, for each ring */
    int threads;
    long rounds;
    vow_promise *(*link)(struct ring *self, vow_promise *first);
    atomic_long opened; /* the round that may begin */
    atomic_long closed; /* threads that have ended a round, over all rounds */
    atomic_bool broken; /* the rest of the rounds is left out */
} ring;

typedef struct hand {
    ring *in;
    int number;
} hand;

/* A gate that lets the threads leave at once: one that sleeps would come too late for the race. */
static void spin_until(atomic_long *number, long value) {
    for (long tries = 0; atomic_load(number) < value; tries++) {
        if (tries > 5000) {
            sched_yield();
        }
    }
}

static void open_ring(ring *self) {
    memset(&self->handlers, 0, sizeof self->handlers);
    for (int i = 0; i < self->threads; i++) {
        self->promises[i] = vow_promise_create(&self->resolvers[i]);
    }
    self->promises[self->threads] = self->link(self, vow_promise_retain(self->promises[0]));
}

static bool judge(ring *self) {
    bool good = true;
    for (int i = 0; i <= self->threads; i++) {
        vow_value out;
        int state = vow_await(self->promises[i], 5 * SECOND * slowness(), &out);
        good = CHECK_INT_EQ(state, VOW_REJECTED) && good;
        good = CHECK_INT_EQ(vow_error_code(out), VOW_ECYCLE) && good;
        vow_value_release(out);
        vow_promise_release(self->promises[i]);
    }
    good = CHECK_INT_EQ(atomic_load(&self->handlers.runs), self->runs) && good;
    return CHECK_INT_EQ(atomic_load(&self->handlers.ends), 1) && good;
}

static void *close_ring(void *context) {
    hand *self = context;
    ring *in = self->in;
    uint64_t random = random_seed(self->number);
    for (long round = 1; round <= in->rounds; round++) {
        if (self->number == 0) {
            open_ring(in);
            atomic_store(&in->opened, round);
        }
        spin_until(&in->opened, round);
        if (atomic_load(&in->broken)) {
            break;
        }
        random_pause(&random);
        vow_promise *next = vow_promise_retain(in->promises[self->number + 1]);
        CHECK(vow_resolve(in->resolvers[self->number], vow_from_promise(next)));
        vow_resolver_release(in->resolvers[self->number]);
        atomic_fetch_add(&in->closed, 1);
        if (self->number == 0) {
            spin_until(&in->closed, round * in->threads);
            if (!judge(in)) {
                atomic_store(&in->broken, true);
                atomic_store(&in->opened, in->rounds);
                break;
            }
        }
    }
    return NULL;
}

static void run(int threads, int runs, vow_promise *(*link)(ring *, vow_promise *), long rounds) {
    ring in;
    pthread_t others[MOST_THREADS];
    hand hands[MOST_THREADS];
    memset(&in, 0, sizeof in);
    in.runs = runs;
    in.threads = threads;
    in.link = link;
    in.rounds = size_of_run("STRESS_MIXED_RINGS", rounds / slowness());
    for (int i = 0; i < threads; i++) {
        hands[i] = (hand){&in, i};
        others[i] = start_thread(close_ring, &hands[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(others[i], NULL);
    }
}

static vow_promise *link_then(ring *self, vow_promise *first) {
    return link_full(vow_executor_inline(), first, counter_run, NULL, &self->handlers, counter_end);
}

static vow_promise *link_pool(ring *self, vow_promise *first) {
    return link_full(vow_executor_pool(), first, counter_run, NULL, &self->handlers, counter_end);
}

TEST("G8: rings through a reaction that two threads close at once are rejected with VOW_ECYCLE") {
    run(2, 0, link_then, 150000);
}

TEST("G8: so are those that three threads close at once") {
    run(3, 0, link_then, 50000);
}

TEST("G8: so are those through a reaction on the pool") {
    run(2, 0, link_pool, 50000);
    run(3, 0, link_pool, 15000);
}

static vow_promise *link_finally(ring *self, vow_promise *first) {
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = counter_run;
    reaction.on_rejected = counter_run;
    reaction.context = &self->handlers;
    reaction.destroy = counter_end;
    reaction.executor = vow_executor_inline();
    reaction.flags = VOW_FINALLY;
    return vow_then_with(first, &reaction);
}

TEST("G8: so are those through a finally, whose handler sees the rejection") {
    run(2, 1, link_finally, 150000);
    run(3, 1, link_finally, 50000);
}
