/* Tests G8: rings of 1,000 promises, closed by four threads at once. RING_ROUNDS: how many rings.
 */
#include "stress.h"

#define THREADS 4
#define PROMISES 1000

typedef struct ring {
    vow_promise *promises[PROMISES];
    vow_resolver *resolvers[PROMISES];
    /* Each promise adopts the one that stands `step` further. */
    int step;
    pthread_barrier_t gate;
    long rounds;
} ring;

typedef struct hand {
    ring *in;
    int number;
} hand;

static void open_ring(ring *self, long round) {
    /* No step divides the number of promises, so each goes round through all of them. */
    static const int steps[3] = {1, 3, PROMISES - 1};
    self->step = steps[round % 3];
    for (int i = 0; i < PROMISES; i++) {
        self->promises[i] = vow_promise_create(&self->resolvers[i]);
    }
}

static void adopt(ring *self, int from) {
    vow_promise *to = vow_promise_retain(self->promises[(from + self->step) % PROMISES]);
    CHECK(vow_resolve(self->resolvers[from], vow_from_promise(to)));
    vow_resolver_release(self->resolvers[from]);
}

static void judge(ring *self) {
    for (int i = 0; i < PROMISES; i++) {
        CHECK_INT_EQ(vow_promise_state(self->promises[i]), VOW_REJECTED);
        CHECK_INT_EQ(code_of(self->promises[i]), VOW_ECYCLE);
    }
}

static void *close_part(void *context) {
    hand *self = context;
    ring *in = self->in;
    uint64_t random = random_seed(self->number);
    for (long round = 0; round < in->rounds; round++) {
        if (self->number == 0) {
            open_ring(in, round);
        }
        pthread_barrier_wait(&in->gate);
        random_pause(&random);
        for (int i = self->number; i < PROMISES; i += THREADS) {
            adopt(in, i);
        }
        pthread_barrier_wait(&in->gate);
        if (self->number == 0) {
            judge(in);
        }
    }
    return NULL;
}

TEST("G8: of rings of 1,000 promises that four threads close at once, every promise is rejected") {
    ring in;
    pthread_t threads[THREADS];
    hand hands[THREADS];
    memset(&in, 0, sizeof in);
    in.rounds = size_of_run("RING_ROUNDS", slowness() > 1 ? 1000 / slowness() : 1000);
    pthread_barrier_init(&in.gate, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        hands[i] = (hand){&in, i};
        threads[i] = start_thread(close_part, &hands[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&in.gate);
}
