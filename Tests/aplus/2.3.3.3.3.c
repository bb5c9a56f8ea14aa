/* Promises/A+ 2.3.3.3.3: of all that a thenable says, the first counts and the rest is ignored. */
#include "offer.h"

/* What is said with a resolver: resolve with an offer, or reject with its error. */
typedef struct move {
    offer what;
    bool by_reject;
} move;

#define MOVES 11

static void move_init(move *self, int kind, int number) {
    static const offer_shape shapes[MOVES] = {PLAIN,    PLAIN,    PROMISE,  PROMISE,
                                              PROMISE,  PROMISE,  THENABLE, THENABLE,
                                              THENABLE, THENABLE, PLAIN};
    bool later = kind == 4 || kind == 5 || kind == 8 || kind == 9;
    offer_init(&self->what, shapes[kind], later, kind % 2 != 0 || kind == MOVES - 1, number);
    self->by_reject = kind == MOVES - 1;
}

static bool move_make(move *self, vow_resolver *resolver) {
    vow_value value = offer_value(&self->what);
    return self->by_reject ? vow_reject(resolver, value) : vow_resolve(resolver, value);
}

/* When the two moves are made. */
typedef enum timing {
    BOTH_AT_ONCE,    /* in subscribe */
    SECOND_LATER,    /* the second by another thread, before the first has an outcome */
    SECOND_TOO_LATE, /* the second by another thread, when the promise is settled */
    BOTH_LATER,      /* by another thread */
    BOTH_BY_THREADS, /* by two threads at once */
    TIMINGS,
} timing;

typedef struct duel {
    move moves[2];
    timing when;
    vow_resolver *kept;
    atomic_int ends;
} duel;

static void duel_end(void *pointer) {
    atomic_fetch_add(&((duel *)pointer)->ends, 1);
}

static bool duel_subscribe(void *pointer, vow_resolver *resolver) {
    duel *self = pointer;
    if (self->when < BOTH_LATER) {
        CHECK(move_make(&self->moves[0], resolver));
    }
    if (self->when == BOTH_AT_ONCE) {
        CHECK(!move_make(&self->moves[1], resolver));
        vow_resolver_release(resolver);
    } else {
        self->kept = resolver;
    }
    return true;
}

static const vow_class duel_class = {sizeof(vow_class), "duel", duel_end, duel_subscribe};

static void *second_only(void *context) {
    duel *self = context;
    CHECK(!move_make(&self->moves[1], self->kept));
    return NULL;
}

static void *one_after_the_other(void *context) {
    duel *self = context;
    CHECK(move_make(&self->moves[0], self->kept));
    CHECK(!move_make(&self->moves[1], self->kept));
    return NULL;
}

typedef struct racer {
    duel *in;
    int move;
    bool won;
} racer;

static void *race(void *context) {
    racer *self = context;
    self->won = move_make(&self->in->moves[self->move], self->in->kept);
    return NULL;
}

/* Two threads make one move each; gives the number of the one that counted. */
static int race_both(duel *self) {
    racer racers[2] = {{self, 0, false}, {self, 1, false}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        threads[i] = start_thread(race, &racers[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK(racers[0].won != racers[1].won);
    return racers[1].won ? 1 : 0;
}

static void on_thread(void *(*run)(void *), duel *self) {
    pthread_join(start_thread(run, self), NULL);
}

static void fight(int first, int second, timing when) {
    duel self;
    memset(&self, 0, sizeof self);
    move_init(&self.moves[0], first, 100);
    move_init(&self.moves[1], second, 200);
    self.when = when;
    int winner = 0;
    vow_promise *promise = vow_promise_with(vow_object(&self, &duel_class));
    if (when == SECOND_LATER) {
        on_thread(second_only, &self);
    } else if (when == BOTH_LATER) {
        on_thread(one_after_the_other, &self);
    } else if (when == BOTH_BY_THREADS) {
        winner = race_both(&self);
    }
    offer_expect(&self.moves[winner].what, vow_promise_retain(promise));
    vow_state state = vow_promise_state(promise);
    if (when == SECOND_TOO_LATE) {
        on_thread(second_only, &self);
    }
    vow_resolver_release(self.kept);
    offer_end(&self.moves[winner].what, 1);
    offer_end(&self.moves[1 - winner].what, 0);
    CHECK_INT_EQ(vow_promise_state(promise), state);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
    vow_promise_release(promise);
}

/* A promise that came second is rejected unseen in some duels, which is no fault here. */
static void say_nothing(vow_value error, void *context) {
    (void)error;
    (void)context;
}

static void fight_all(timing when) {
    vow_on_unhandled(say_nothing, NULL);
    for (int first = 0; first < MOVES; first++) {
        for (int second = 0; second < MOVES; second++) {
            int failures = atomic_load(&harness_failures);
            fight(first, second, when);
            if (atomic_load(&harness_failures) != failures) {
                printf("# in this case: move %d, then move %d\n", first, second);
            }
        }
    }
    vow_on_unhandled(NULL, NULL);
}

TEST("2.3.3.3.3: the first of two answers counts, both in subscribe") {
    fight_all(BOTH_AT_ONCE);
}

TEST("2.3.3.3.3: the first of two answers counts, the second before the first has an outcome") {
    fight_all(SECOND_LATER);
}

TEST("2.3.3.3.3: the first of two answers counts, the second when all is settled") {
    fight_all(SECOND_TOO_LATE);
}

TEST("2.3.3.3.3: the first of two answers counts, both from another thread") {
    fight_all(BOTH_LATER);
}

TEST("2.3.3.3.3: of two answers by two threads at once, one counts") {
    fight_all(BOTH_BY_THREADS);
}
