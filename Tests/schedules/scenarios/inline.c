/* Inline reactions that a running handler puts off, and those of other threads that line up. */
#include "../scenario.h"

#include <string.h>

static deferred it, other;
static call calls[4], others[2], outer[2];

static void start(void) {
    it = defer();
    other = defer();
    memset(calls, 0, sizeof calls);
    memset(outer, 0, sizeof outer);
    vow_resolve(it.resolver, vow_int(7));
    vow_resolve(other.resolver, vow_int(1));
}

static void register_two(void) {
    on_settled(it.promise, NULL, &calls[0]);
    on_settled(it.promise, NULL, &calls[1]);
}

static void register_another(void) {
    on_settled(it.promise, NULL, &calls[2]);
}

static void register_last(void) {
    on_settled(it.promise, NULL, &calls[3]);
}

static void inside_handler(void) {
    outer[0].inside = register_two;
    on_settled(other.promise, NULL, &outer[0]);
}

static void inside_another_handler(void) {
    outer[1].inside = register_another;
    on_settled(other.promise, NULL, &outer[1]);
}

static void finish(int count) {
    check_order(calls, count);
    for (int i = 0; i < count; i++) {
        check_once(&calls[i], false, 7);
    }
    outcome(calls[2].started < calls[0].started ? 0 : calls[2].started < calls[1].started ? 1 : 2);
    release(&it);
    release(&other);
}

static void finish_3(void) {
    finish(3);
}

static void finish_4(void) {
    finish(4);
}

/* settled to delivering and back, while another thread registers outside of any handler. Behind
 * calls[0] it lines up or runs at once, but never between the two. */
SCENARIO put_off = {
    "put-off", start, {inside_handler, register_another}, finish_3, 3, 3,
};

/* Two threads put off on the same promise: one delivers, the other's lines up behind. */
SCENARIO put_off_twice = {
    "put-off-twice", start, {inside_handler, inside_another_handler, register_last}, finish_4, 2, 3,
};

/* A handler settles the promise: its reactions wait for the handler, others come meanwhile. */
static void start_pending(void) {
    start();
    vow_promise_release(it.promise);
    vow_resolver_release(it.resolver);
    it = defer();
}

static void settle_and_register(void) {
    CHECK(vow_resolve(it.resolver, vow_int(7)));
    on_settled(it.promise, NULL, &calls[1]);
}

static void settle_inside_handler(void) {
    on_settled(it.promise, NULL, &calls[0]);
    outer[0].inside = settle_and_register;
    on_settled(other.promise, NULL, &outer[0]);
}

SCENARIO settle_inside = {
    "settle-inside", start_pending, {settle_inside_handler, register_another}, finish_3, 3, 3,
};

/* One handler puts off reactions of two promises in turn; others line up behind them. */
static void register_in_turn(void) {
    on_settled(it.promise, NULL, &calls[0]);
    on_settled(other.promise, NULL, &others[0]);
    on_settled(it.promise, NULL, &calls[1]);
    on_settled(other.promise, NULL, &others[1]);
}

static void start_in_turn(void) {
    start();
    memset(others, 0, sizeof others);
}

static void in_turn_inside_handler(void) {
    outer[0].inside = register_in_turn;
    on_settled(other.promise, NULL, &outer[0]);
}

static void finish_in_turn(void) {
    check_order(others, 2);
    check_once(&others[0], false, 1);
    check_once(&others[1], false, 1);
    finish_3();
}

SCENARIO put_off_in_turn = {
    "put-off-in-turn",
    start_in_turn,
    {in_turn_inside_handler, register_another},
    finish_in_turn,
    3,
    3,
};
