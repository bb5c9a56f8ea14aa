/* Waiting threads against the thread that settles, and against their time-outs. */
#include "../scenario.h"

#include <string.h>

/* The scheduler decides when it passes. */
#define A_WHILE 3600000000000

static deferred it, other;
static call calls[2];
static int answers[2];
static vow_value values[2];
static bool was_settled;

static void start(void) {
    it = defer();
    other = defer();
    memset(calls, 0, sizeof calls);
    answers[0] = answers[1] = -100;
    was_settled = false;
}

static void wait_as(int number, int64_t timeout) {
    bool must_be_settled = was_settled;
    answers[number] = vow_await(it.promise, timeout, &values[number]);
    if (answers[number] == VOW_PENDING) {
        CHECK(timeout != VOW_FOREVER && !must_be_settled);
        CHECK(values[number].kind == VOW_NONE);
    } else {
        CHECK(answers[number] == VOW_FULFILLED && values[number].as.integer == 5);
        CHECK(vow_promise_state(it.promise) == VOW_FULFILLED);
    }
}

static void wait_0(void) {
    wait_as(0, VOW_FOREVER);
}

static void wait_1(void) {
    wait_as(1, VOW_FOREVER);
}

static void wait_a_while_0(void) {
    wait_as(0, A_WHILE);
}

static void wait_a_while_1(void) {
    wait_as(1, A_WHILE);
}

static void settle(void) {
    CHECK(vow_resolve(it.resolver, vow_int(5)));
    was_settled = true;
}

static void finish(void) {
    int late = (answers[0] == VOW_PENDING) + 2 * (answers[1] == VOW_PENDING);
    check_settled(it.promise, VOW_FULFILLED, 5);
    outcome(late);
    release(&it);
    release(&other);
}

SCENARIO await_settle = {
    "await-settle", start, {wait_0, wait_1, settle}, finish, 2, 1,
};

SCENARIO await_time_out = {
    "await-time-out", start, {wait_a_while_0, settle}, finish, 3, 2,
};

/* Two leave the queue in any order, from its head and from behind, while a handler enters it. */
static void register_one(void) {
    on_settled(it.promise, NULL, &calls[0]);
}

static void finish_with_handler(void) {
    check_once(&calls[0], false, 5);
    finish();
}

SCENARIO two_await = {
    "two-await-time-out", start, {wait_a_while_0, wait_a_while_1, register_one, settle},
    finish_with_handler,  1,     4,
};

/* The waiting thread frees all as soon as it is woken: the settling one must not need it any more.
 */
static void wait_and_free(void) {
    wait_as(0, VOW_FOREVER);
    release(&it);
}

static void finish_freed(void) {
    CHECK(answers[0] == VOW_FULFILLED);
    outcome(0);
    release(&other);
}

SCENARIO await_and_free = {
    "await-and-free", start, {wait_and_free, settle}, finish_freed, 4, 1,
};

/* Waiting for a promise that begins to follow another one meanwhile. */
static void follow(void) {
    resolve_with(&it, &other);
}

static void settle_other(void) {
    CHECK(vow_resolve(other.resolver, vow_int(5)));
}

SCENARIO await_follower = {
    "await-follower", start, {wait_a_while_0, follow, settle_other}, finish, 2, 2,
};
