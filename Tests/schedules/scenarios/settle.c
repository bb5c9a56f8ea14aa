/* Resolving against resolving, and against registering. */
#include "../scenario.h"

#include <string.h>

static deferred it;
static call calls[4];
static int winner;

static void start(void) {
    it = defer();
    memset(calls, 0, sizeof calls);
    winner = -1;
}

static void resolve_as(int number) {
    if (vow_resolve(it.resolver, vow_int(number))) {
        CHECK(winner == -1);
        winner = number;
    }
}

static void resolve_0(void) {
    resolve_as(0);
}

static void resolve_1(void) {
    resolve_as(1);
}

static void check_winner(void) {
    CHECK(winner == 0 || winner == 1);
    check_settled(it.promise, VOW_FULFILLED, winner);
    outcome(winner);
    release(&it);
}

SCENARIO resolve_resolve = {
    "resolve-resolve", start, {resolve_0, resolve_1}, check_winner, 4, 2,
};

/* One registers twice, another resolves: before, between, during or after. */
static int settled_at;

static void register_two(void) {
    on_settled(it.promise, NULL, &calls[0]);
    on_settled(it.promise, NULL, &calls[1]);
}

static void register_two_more(void) {
    on_settled(it.promise, NULL, &calls[2]);
    on_settled(it.promise, NULL, &calls[3]);
}

static void settle(void) {
    CHECK(vow_resolve(it.resolver, vow_int(7)));
    settled_at = calls[0].times + calls[1].times;
}

static void check_two(void) {
    check_order(calls, 2);
    check_once(&calls[0], false, 7);
    check_once(&calls[1], false, 7);
    outcome(settled_at);
    release(&it);
}

SCENARIO register_settle = {
    "register-settle", start, {register_two, settle}, check_two, 3, 3,
};

static void check_four(void) {
    check_order(calls, 4);
    outcome(calls[0].started < calls[2].started ? 0 : 1);
    release(&it);
}

SCENARIO two_register_settle = {
    "two-register-settle", start, {register_two, register_two_more, settle}, check_four, 2, 2,
};

/* What waits for a chain behind the promise, whose links settle in a row. */
static vow_promise *last;

static vow_value add_one(vow_value input, void *context) {
    (void)context;
    return vow_int(input.as.integer + 1);
}

static vow_promise *then_inline(vow_promise *promise, vow_handler handler) {
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = handler;
    reaction.executor = vow_executor_inline();
    return vow_then_with(promise, &reaction);
}

static void start_chain(void) {
    start();
    last = then_inline(vow_promise_retain(it.promise), add_one);
    last = then_inline(last, NULL);
}

static void extend_chain(void) {
    on_settled(last, NULL, &calls[0]);
    last = then_inline(last, add_one);
    on_settled(last, NULL, &calls[1]);
}

static void check_chain(void) {
    check_once(&calls[0], false, 8);
    check_once(&calls[1], false, 9);
    outcome(calls[0].registered < calls[0].started ? 0 : 1);
    vow_promise_release(last);
    release(&it);
}

SCENARIO one_chain_settle = {
    "chain-settle", start_chain, {extend_chain, settle}, check_chain, 2, 2,
};
