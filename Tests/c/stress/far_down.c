/* G12: members far down in one queue, promises that follow and reactions in turn, are cancelled by
 * several threads, each from another end, while a thread registers others, and in each second round
 * the promise settles meanwhile. STRESS_ROUNDS: rounds. */
#include "stress.h"

#define THREADS 3
#define MEMBERS 3600 /* many pieces of a look */

static vow_promise *members[MEMBERS], *first;
static bool cancelled[MEMBERS];
static atomic_int destroyed;

static void count_end(void *context) {
    (void)context;
    atomic_fetch_add(&destroyed, 1);
}

static vow_value pass(vow_value input, void *context) {
    (void)context;
    return vow_value_retain(input);
}

static vow_promise *react(void) {
    vow_reaction reaction = {.size = sizeof reaction};
    reaction.on_fulfilled = pass;
    reaction.destroy = count_end;
    reaction.executor = vow_executor_inline();
    return vow_then_with(vow_promise_retain(first), &reaction);
}

static vow_promise *follow(void) {
    vow_resolver *resolver;
    vow_promise *follower = vow_promise_create(&resolver);
    vow_resolve(resolver, vow_from_promise(vow_promise_retain(first)));
    vow_resolver_release(resolver);
    return follower;
}

/* One the oldest first, one the newest first, one in no order. */
static void *cancel_part(void *context) {
    int part = (int)(intptr_t)context;
    int count = MEMBERS / THREADS;
    for (int i = 0; i < count; i++) {
        int turn = part == 0 ? i : part == 1 ? count - 1 - i : i * 7919 % count;
        int index = turn * THREADS + part;
        cancelled[index] = vow_cancel(members[index]);
    }
    return NULL;
}

static void *register_others(void *context) {
    vow_promise **others = context;
    for (int i = 0; i < MEMBERS / 4; i++) {
        others[i] = i % 2 == 0 ? react() : follow();
    }
    return NULL;
}

static void judge(vow_promise *promise, bool is_cancelled) {
    vow_value outcome;
    int state = vow_await(promise, VOW_FOREVER, &outcome);
    CHECK_INT_EQ(state, is_cancelled ? VOW_REJECTED : VOW_FULFILLED);
    vow_value_release(outcome);
    vow_promise_release(promise);
}

TEST("G12: who is cancelled far down in a queue has that outcome, and its neighbours have theirs") {
    static vow_promise *others[MEMBERS / 4];
    for (long round = size_of_run("STRESS_ROUNDS", 40); round > 0; round--) {
        vow_resolver *resolver;
        pthread_t threads[THREADS + 1];
        first = vow_promise_create(&resolver);
        atomic_store(&destroyed, 0);
        for (int i = 0; i < MEMBERS; i++) {
            members[i] = i % 2 == 0 ? follow() : react();
        }
        for (int i = 0; i < THREADS; i++) {
            CHECK_INT_EQ(pthread_create(&threads[i], NULL, cancel_part, (void *)(intptr_t)i), 0);
        }
        CHECK_INT_EQ(pthread_create(&threads[THREADS], NULL, register_others, others), 0);
        if (round % 2 == 0) {
            sched_yield();
            vow_resolve(resolver, vow_int(1));
        }
        for (int i = 0; i <= THREADS; i++) {
            pthread_join(threads[i], NULL);
        }
        if (round % 2 != 0) {
            vow_resolve(resolver, vow_int(1));
        }
        for (int i = 0; i < MEMBERS; i++) {
            CHECK(cancelled[i] || round % 2 == 0);
            judge(members[i], cancelled[i]);
        }
        for (int i = 0; i < MEMBERS / 4; i++) {
            judge(others[i], false);
        }
        CHECK_INT_EQ(atomic_load(&destroyed), MEMBERS / 2 + MEMBERS / 8);
        vow_resolver_release(resolver);
        vow_promise_release(first);
    }
}
