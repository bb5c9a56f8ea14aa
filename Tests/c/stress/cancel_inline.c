/* G3, G12: a link in the middle of an inline chain is cancelled while the chain runs. A link begins
 * without an atomic step, so its promise may be about to die when the canceller looks for the link
 * there. */
#include "stress.h"

#include <sched.h>

#define LINKS 24

typedef struct race {
    _Atomic(vow_promise *) target;
    atomic_long delay, turn, done;
} race;

static vow_value pass(vow_value input, void *context) {
    (void)context;
    return vow_value_retain(input);
}

static void idle(long steps) {
    for (volatile long i = 0; i < steps; i++) {
    }
}

/* Spins, for the two have to be quick; but not for ever on one processor. */
static void await_turn(const atomic_long *word, long other) {
    for (int i = 1; atomic_load(word) == other; i++) {
        if (i % 4096 == 0) {
            sched_yield();
        }
    }
}

static void *cancel_each(void *context) {
    race *it = context;
    for (long seen = 0;;) {
        await_turn(&it->turn, seen);
        seen = atomic_load(&it->turn);
        if (seen < 0) {
            return NULL;
        }
        idle(atomic_load(&it->delay));
        vow_cancel(atomic_load(&it->target));
        atomic_store(&it->done, seen);
    }
}

TEST("G3: a link of a running inline chain is cancelled, and what it reads dies meanwhile") {
    static race it;
    uint64_t random = random_seed(4);
    long rounds = size_of_run("CANCEL_INLINE", 500000) / slowness();
    vow_on_unhandled(stress_ignore, NULL);
    vow_executor_set_default(vow_executor_inline());
    vow_statistics before = harness_stats();
    pthread_t canceller = start_thread(cancel_each, &it);
    for (long round = 1; round <= rounds; round++) {
        vow_resolver *resolver;
        vow_promise *end = vow_promise_create(&resolver), *middle = NULL;
        int which = 3 + (int)(random_next(&random) % (LINKS - 4));
        for (int i = 0; i < LINKS; i++) {
            end = vow_then(end, pass, NULL);
            if (i == which) {
                middle = vow_promise_retain(end);
            }
        }
        atomic_store(&it.target, middle);
        atomic_store(&it.delay, (long)(random_next(&random) % 400));
        atomic_store(&it.turn, round);
        idle((long)(random_next(&random) % 200));
        vow_resolve(resolver, vow_int(round));
        vow_resolver_release(resolver);
        await_turn(&it.done, round - 1);
        CHECK(vow_promise_state(end) != VOW_PENDING);
        vow_promise_release(middle);
        vow_promise_release(end);
    }
    atomic_store(&it.turn, -1);
    pthread_join(canceller, NULL);
    vow_statistics now = harness_stats();
    CHECK(now.live == before.live && now.handlers == before.handlers);
    vow_executor_set_default(NULL);
}
