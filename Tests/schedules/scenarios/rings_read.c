/* A ring of two closes while a third thread waits for a member, or lets go of both. */
#include "../scenario.h"

#include <stddef.h>
#include <string.h>

/* The scheduler decides when it passes. */
#define A_WHILE 3600000000000

static deferred members[2], settled;
static vow_promise *given[2];
static call calls[2], outer;
static int answer;

static void start(void) {
    memset(calls, 0, sizeof calls);
    memset(&outer, 0, sizeof outer);
    answer = -100;
    settled = defer();
    CHECK(vow_resolve(settled.resolver, vow_int(1)));
    for (int i = 0; i < 2; i++) {
        members[i] = defer();
        given[i] = vow_promise_retain(members[i].promise);
    }
}

/* The member's resolver is gone then: the ring holds itself. */
static void follow(int follower, int followed) {
    CHECK(vow_resolve(members[follower].resolver, vow_from_promise(given[followed])));
    vow_resolver_release(members[follower].resolver);
    members[follower].resolver = NULL;
}

static void follow_0_1(void) {
    follow(0, 1);
}

static void follow_1_0(void) {
    follow(1, 0);
}

static void let_go(void) {
    release(&members[0]);
    release(&members[1]);
}

static void wait_a_while(void) {
    vow_value error;
    answer = vow_await(members[0].promise, A_WHILE, &error);
    CHECK(answer == VOW_PENDING || answer == VOW_REJECTED);
    CHECK(vow_error_code(error) == (answer == VOW_REJECTED ? VOW_ECYCLE : 0));
    vow_value_release(error);
}

static void finish(void) {
    outcome(answer == VOW_REJECTED ? 0 : 1);
    check_settled(members[0].promise, VOW_REJECTED, VOW_ECYCLE);
    check_settled(members[1].promise, VOW_REJECTED, VOW_ECYCLE);
    let_go();
    release(&settled);
}

SCENARIO ring_awaited = {
    "ring-awaited", start, {follow_0_1, follow_1_0, wait_a_while}, finish, 2, 2,
};

/* From inside a handler it looks ahead first, which must not go round and round. */
static void wait_inside_handler(void) {
    outer.inside = wait_a_while;
    on_settled(settled.promise, NULL, &outer);
}

SCENARIO ring_awaited_inside = {
    "ring-awaited-inside", start, {follow_0_1, follow_1_0, wait_inside_handler}, finish, 2, 2,
};

/* The last handles are given back meanwhile: only handlers see the ring, or nobody. */
static void start_handled(void) {
    start();
    on_settled(members[0].promise, NULL, &calls[0]);
    on_settled(members[1].promise, NULL, &calls[1]);
}

static void let_go_of_handles(void) {
    for (int i = 0; i < 2; i++) {
        vow_promise_release(members[i].promise);
        members[i].promise = NULL;
    }
}

static void finish_released(void) {
    /* Each was adopted by the other, which is a way to handle its rejection. */
    CHECK(unhandled == 0);
    outcome(0);
    let_go();
    release(&settled);
}

static void finish_handled(void) {
    check_once(&calls[0], true, VOW_ECYCLE);
    check_once(&calls[1], true, VOW_ECYCLE);
    finish_released();
}

SCENARIO ring_released = {
    "ring-released", start, {follow_0_1, follow_1_0, let_go_of_handles}, finish_released, 2, 1,
};

SCENARIO ring_released_handled = {
    "ring-released-handled",
    start_handled,
    {follow_0_1, follow_1_0, let_go_of_handles},
    finish_handled,
    2,
    1,
};
