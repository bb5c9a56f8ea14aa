/* G11 on a loop's own thread: whoever settles the promise raises the loop's event at any moment,
 * also between the waiter's look and its sleep, and is never missed. STRESS_ROUNDS: round trips. */
#include "stress.h"

typedef struct table {
    long rounds;
    vow_promise **there, **back;
    vow_resolver **settle_there, **settle_back;
} table;

static void *answer(void *context) {
    table *of = context;
    for (long i = 0; i < of->rounds; i++) {
        CHECK(vow_await(of->there[i], VOW_FOREVER, NULL) == VOW_FULFILLED);
        CHECK(vow_resolve(of->settle_back[i], vow_none()));
    }
    return NULL;
}

TEST("G11: a thread that runs its loop is woken by every settling") {
    table of = {.rounds = size_of_run("STRESS_ROUNDS", 20000)};
    size_t size = (size_t)of.rounds * sizeof(void *);
    of.there = malloc(size);
    of.back = malloc(size);
    of.settle_there = malloc(size);
    of.settle_back = malloc(size);
    for (long i = 0; i < of.rounds; i++) {
        of.there[i] = vow_promise_create(&of.settle_there[i]);
        of.back[i] = vow_promise_create(&of.settle_back[i]);
    }
    vow_loop *loop = vow_loop_create();
    pthread_t other;
    CHECK(pthread_create(&other, NULL, answer, &of) == 0);
    for (long i = 0; i < of.rounds; i++) {
        CHECK(vow_resolve(of.settle_there[i], vow_none()));
        CHECK(vow_await(of.back[i], LONG_ENOUGH, NULL) == VOW_FULFILLED);
    }
    pthread_join(other, NULL);
    for (long i = 0; i < of.rounds; i++) {
        vow_resolver_release(of.settle_there[i]);
        vow_resolver_release(of.settle_back[i]);
        vow_promise_release(of.there[i]);
        vow_promise_release(of.back[i]);
    }
    free(of.there);
    free(of.back);
    free(of.settle_there);
    free(of.settle_back);
    vow_loop_destroy(loop);
}
