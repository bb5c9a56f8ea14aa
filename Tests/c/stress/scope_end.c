/* The end of a scope is let go of, or cancelled, while its last member settles on another thread.
 */
#include "stress.h"

#include <sched.h>

typedef struct race {
    _Atomic(vow_resolver *) member;
    atomic_long turn, done;
} race;

/* Spins, for the two have to be quick; but not for ever on one processor. */
static void await_turn(const atomic_long *word, long other) {
    for (int i = 1; atomic_load(word) == other; i++) {
        if (i % 4096 == 0) {
            sched_yield();
        }
    }
}

static void *settle_each(void *context) {
    race *it = context;
    uint64_t random = random_seed(2);
    for (long seen = 0;;) {
        await_turn(&it->turn, seen);
        seen = atomic_load(&it->turn);
        if (seen < 0) {
            return NULL;
        }
        random_pause(&random);
        vow_resolver *member = atomic_load(&it->member);
        vow_reject(member, vow_error("test", 1, "an error that is in memory of its own"));
        vow_resolver_release(member);
        atomic_store(&it->done, seen);
    }
}

static void race_for_the_end(bool cancels) {
    static race it;
    uint64_t random = random_seed(1);
    long rounds = size_of_run("SCOPE_END", 200000) / slowness();
    atomic_store(&it.turn, 0);
    atomic_store(&it.done, 0);
    vow_on_unhandled(stress_ignore, NULL);
    pthread_t settler = start_thread(settle_each, &it);
    for (long round = 1; round <= rounds; round++) {
        vow_resolver *member;
        vow_scope *scope = vow_scope_create();
        CHECK_INT_EQ(vow_scope_add(scope, vow_promise_create(&member)), 0);
        vow_promise *end = vow_scope_close(scope);
        atomic_store(&it.member, member);
        atomic_store(&it.turn, round);
        random_pause(&random);
        if (cancels) {
            vow_cancel(end);
        }
        vow_promise_release(end);
        await_turn(&it.done, round - 1);
    }
    atomic_store(&it.turn, -1);
    pthread_join(settler, NULL);
    vow_on_unhandled(NULL, NULL);
}

TEST("a scope's end that nobody waits for is let go of while the last member settles") {
    race_for_the_end(false);
}

TEST("a scope's end is cancelled while the last member settles") {
    race_for_the_end(true);
}
