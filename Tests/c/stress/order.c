/* G2 under attack: handlers registered before, during and after settling, from four threads and
 * from handlers, start in the order of registration. STRESS_ROUNDS: rounds per executor.
 *
 * A clock that every registration ticks before and after it says which one happened before
 * which: when A's second tick is smaller than B's first, A must start first. */
#include "stress.h"

#define THREADS 4
#define EACH 4
#define MARKS (THREADS * EACH * 2)

typedef struct mark {
    struct arena *in;
    struct mark *child; /* registered by this one's handler; NULL: none */
    long before;        /* the clock before the registration */
    long after;         /* and after it */
    long started;       /* which place the handler's start has among all starts */
} mark;

typedef struct arena {
    vow_executor *executor;
    vow_promise *promise;
    vow_resolver *resolver;
    atomic_long clock;
    atomic_long starts;
    atomic_int done; /* registrations and handlers that are finished */
    mark marks[MARKS];
    pthread_barrier_t gate;
    long rounds;
} arena;

static vow_value start(vow_value input, void *context);

static void enrol(mark *self) {
    arena *in = self->in;
    self->before = atomic_fetch_add(&in->clock, 1);
    vow_promise *link = either_on(in->executor, vow_promise_retain(in->promise), start, self);
    self->after = atomic_fetch_add(&in->clock, 1);
    vow_promise_release(link);
    atomic_fetch_add(&in->done, 1);
}

static vow_value start(vow_value input, void *context) {
    mark *self = context;
    self->started = atomic_fetch_add(&self->in->starts, 1);
    if (self->child != NULL) {
        enrol(self->child);
    }
    atomic_fetch_add(&self->in->done, 1);
    return vow_value_retain(input);
}

/* Goes through the handlers as they started and looks for one that overtook an earlier one. */
static bool in_order(arena *in) {
    mark *by_start[MARKS] = {NULL};
    long latest = -1;
    for (int i = 0; i < MARKS; i++) {
        long place = in->marks[i].started;
        if (place < 0 || place >= MARKS || by_start[place] != NULL) {
            return CHECK(!"every handler started once");
        }
        by_start[place] = &in->marks[i];
    }
    for (int i = 0; i < MARKS; i++) {
        if (by_start[i]->after < latest) {
            return CHECK(!"handlers started in the order of their registration");
        }
        if (by_start[i]->before > latest) {
            latest = by_start[i]->before;
        }
    }
    return true;
}

static void set_up(arena *in) {
    in->promise = vow_promise_create(&in->resolver);
    atomic_store(&in->clock, 0);
    atomic_store(&in->starts, 0);
    atomic_store(&in->done, 0);
    for (int i = 0; i < MARKS; i++) {
        bool parent = i < THREADS * EACH;
        in->marks[i] = (mark){in, parent ? &in->marks[i + THREADS * EACH] : NULL, -1, -1, -1};
    }
}

/* Waits until all handlers ran, and judges the round. */
static bool tear_down(arena *in) {
    bool good = CHECK(reaches(&in->done, MARKS * 2)) && in_order(in);
    vow_resolver_release(in->resolver);
    vow_promise_release(in->promise);
    return good;
}

typedef struct attacker {
    arena *in;
    int number;
} attacker;

static void *attack(void *context) {
    attacker *self = context;
    arena *in = self->in;
    uint64_t random = random_seed(self->number);
    bool good = true;
    for (long round = 0; round < in->rounds; round++) {
        if (self->number == 0) {
            set_up(in);
        }
        pthread_barrier_wait(&in->gate);
        for (int i = 0; i < EACH; i++) {
            if (self->number == round % THREADS && i == (round / THREADS) % EACH) {
                vow_resolve(in->resolver, vow_int(round));
            }
            enrol(&in->marks[self->number * EACH + i]);
            if (random_next(&random) % 2 == 0) {
                random_pause(&random);
            }
        }
        pthread_barrier_wait(&in->gate);
        if (self->number == 0 && good) {
            good = tear_down(in);
        } else if (self->number == 0) {
            tear_down(in);
        }
    }
    return NULL;
}

static void attack_on(vow_executor *executor) {
    arena *in = calloc(1, sizeof *in);
    pthread_t threads[THREADS];
    attacker attackers[THREADS];
    if (in == NULL) {
        abort();
    }
    in->executor = executor;
    in->rounds = size_of_run("STRESS_ROUNDS", 10000);
    pthread_barrier_init(&in->gate, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        attackers[i] = (attacker){in, i};
        threads[i] = start_thread(attack, &attackers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("# %ld rounds\n", in->rounds);
    pthread_barrier_destroy(&in->gate);
    free(in);
}

TEST("G2: under attack on the inline executor") {
    attack_on(vow_executor_inline());
}

TEST("G2: under attack on a serial executor") {
    vow_executor *serial = vow_executor_serial("order");
    attack_on(serial);
    vow_executor_release(serial);
}

TEST("G2: under attack on a serial executor of the program") {
    worker thread;
    worker_start(&thread);
    vow_executor *executor = vow_executor_custom(&worker_class, &thread);
    attack_on(executor);
    vow_executor_release(executor);
    worker_stop(&thread);
    CHECK_INT_EQ(atomic_load(&thread.destroyed), 1);
}
