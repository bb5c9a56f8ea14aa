/* Tests cancelling against resolving with something that was acquired: whoever wins, it is released
 * once. */
#include "quiet.h"

#define ROUNDS 64 /* of one race; the threads meet before each */

typedef struct acquisition {
    vow_promise *end; /* what is cancelled */
    vow_resolver *resolver;
    atomic_int ran, released, destroyed;
    bool resolved, cancelled;
} acquisition;

typedef struct race {
    acquisition rounds[ROUNDS];
    atomic_int arrived;
    int turns;
} race;

static vow_value release_it(vow_value input, void *context) {
    acquisition *self = context;
    atomic_fetch_add(&self->ran, 1);
    if (input.kind == VOW_POINTER) {
        CHECK(input.as.pointer == self);
        atomic_fetch_add(&self->released, 1);
    }
    return vow_none();
}

static vow_value give_it(vow_value input, void *context) {
    (void)context;
    return input;
}

static void release_end(void *context) {
    atomic_fetch_add(&((acquisition *)context)->destroyed, 1);
}

/* Both threads come, and go on together. */
static void meet(atomic_int *arrived, int turn) {
    atomic_fetch_add(arrived, 1);
    while (atomic_load(arrived) < 2 * turn) {
        sched_yield();
    }
}

static void *resolve_all(void *context) {
    race *self = context;
    for (int turn = 0; turn < self->turns; turn++) {
        meet(&self->arrived, 2 * turn + 1);
        for (int i = 0; i < ROUNDS; i++) {
            acquisition *it = &self->rounds[i];
            /* Where that is refused, it is the producer who has it still. */
            it->resolved = vow_resolve(it->resolver, vow_pointer(it));
        }
        meet(&self->arrived, 2 * turn + 2);
    }
    return NULL;
}

static void begin(acquisition *self, vow_executor *on, bool has_then) {
    memset(self, 0, sizeof *self);
    vow_reaction cleaning = {.size = sizeof cleaning,
                             .on_fulfilled = release_it,
                             .on_rejected = release_it,
                             .context = self,
                             .destroy = release_end,
                             .executor = on,
                             .flags = VOW_FINALLY};
    self->end = vow_then_with(vow_promise_create(&self->resolver), &cleaning);
    if (has_then) {
        self->end = then_on(on, self->end, give_it, NULL);
    }
}

static void end(acquisition *self, int *both, int *acquired, int *released) {
    int64_t code = code_of(self->end);
    vow_resolver_release(self->resolver);
    CHECK_INT_EQ(code, self->cancelled ? VOW_ECANCELLED : 0);
    CHECK(self->resolved || self->cancelled);
    CHECK_INT_EQ(atomic_load(&self->ran), 1);
    CHECK_INT_EQ(atomic_load(&self->destroyed), 1);
    CHECK_INT_EQ(atomic_load(&self->released), self->resolved);
    *both += self->resolved && self->cancelled;
    *acquired += self->resolved;
    *released += atomic_load(&self->released);
}

TEST("G15: cancelling races with resolving: acquired is released, by the finally, in each round") {
    vow_executor *serial = vow_executor_serial("race");
    vow_executor *executors[3] = {vow_executor_inline(), serial, vow_executor_pool()};
    int acquired = 0, released = 0, both = 0;
    static race self;
    for (int way = 0; way < 6; way++) {
        memset(&self, 0, sizeof self);
        self.turns = many_of(100000, 1000000) / ROUNDS / 6 + 1;
        pthread_t thread = start_thread(resolve_all, &self);
        for (int turn = 0; turn < self.turns; turn++) {
            for (int i = 0; i < ROUNDS; i++) {
                begin(&self.rounds[i], executors[way / 2], way % 2);
            }
            meet(&self.arrived, 2 * turn + 1);
            for (int i = 0; i < ROUNDS; i++) {
                self.rounds[i].cancelled = vow_cancel(self.rounds[i].end);
            }
            meet(&self.arrived, 2 * turn + 2);
            for (int i = 0; i < ROUNDS; i++) {
                end(&self.rounds[i], &both, &acquired, &released);
            }
        }
        pthread_join(thread, NULL);
    }
    CHECK_INT_EQ(released, acquired);
    printf("# %d acquired, %d of them cancelled all the same\n", acquired, both);
    vow_executor_release(serial);
}

typedef struct pair {
    vow_promise *first,
        *second; /* links on the pool, of a promise and of one that has adopted it */
    vow_resolver *resolver;
    bool cancelled;
} pair;

typedef struct pairs {
    pair rounds[ROUNDS];
    atomic_int arrived;
    int turns;
} pairs;

static void begin_pair(pair *self) {
    vow_resolver *adopter;
    vow_promise *promise = vow_promise_create(&self->resolver);
    vow_promise *follower = vow_promise_create(&adopter);
    self->first = then_on(vow_executor_pool(), vow_promise_retain(promise), give_it, NULL);
    self->second = then_on(vow_executor_pool(), follower, give_it, NULL);
    CHECK(vow_resolve(adopter, vow_from_promise(promise)));
    vow_resolver_release(adopter);
}

static void *settle_pairs(void *context) {
    pairs *self = context;
    for (int turn = 0; turn < self->turns; turn++) {
        meet(&self->arrived, 2 * turn + 1);
        for (int i = 0; i < ROUNDS; i++) {
            vow_resolve(self->rounds[i].resolver, vow_int(7));
        }
        meet(&self->arrived, 2 * turn + 2);
    }
    return NULL;
}

TEST("a link that is cancelled while it is handed over, behind those of an adopted promise") {
    static pairs self;
    memset(&self, 0, sizeof self);
    self.turns = many_of(20000, 200000) / ROUNDS + 1;
    int cancelled = 0;
    pthread_t thread = start_thread(settle_pairs, &self);
    for (int turn = 0; turn < self.turns; turn++) {
        for (int i = 0; i < ROUNDS; i++) {
            begin_pair(&self.rounds[i]);
        }
        meet(&self.arrived, 2 * turn + 1);
        for (int i = 0; i < ROUNDS; i++) {
            self.rounds[i].cancelled = vow_cancel(self.rounds[i].second);
        }
        meet(&self.arrived, 2 * turn + 2);
        for (int i = 0; i < ROUNDS; i++) {
            pair *it = &self.rounds[i];
            CHECK_INT_EQ(int_of(it->first), 7);
            CHECK_INT_EQ(code_of(it->second), it->cancelled ? VOW_ECANCELLED : 0);
            vow_resolver_release(it->resolver);
            cancelled += it->cancelled;
        }
    }
    pthread_join(thread, NULL);
    printf("# %d of %d cancelled\n", cancelled, self.turns * ROUNDS);
}
