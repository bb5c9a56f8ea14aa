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
static void meet(race *self, int turn) {
    atomic_fetch_add(&self->arrived, 1);
    while (atomic_load(&self->arrived) < 2 * turn) {
        sched_yield();
    }
}

static void *resolve_all(void *context) {
    race *self = context;
    for (int turn = 0; turn < self->turns; turn++) {
        meet(self, 2 * turn + 1);
        for (int i = 0; i < ROUNDS; i++) {
            acquisition *it = &self->rounds[i];
            /* Where that is refused, it is the producer who has it still. */
            it->resolved = vow_resolve(it->resolver, vow_pointer(it));
        }
        meet(self, 2 * turn + 2);
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
            meet(&self, 2 * turn + 1);
            for (int i = 0; i < ROUNDS; i++) {
                self.rounds[i].cancelled = vow_cancel(self.rounds[i].end);
            }
            meet(&self, 2 * turn + 2);
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
