/* Rings that several threads close together: every member is rejected, none is left pending. */
#include "../scenario.h"

#include <string.h>

static deferred members[4];
static call calls[4], more;

static void start(void) {
    memset(calls, 0, sizeof calls);
    memset(&more, 0, sizeof more);
    for (int i = 0; i < 4; i++) {
        members[i] = defer();
        on_settled(members[i].promise, NULL, &calls[i]);
    }
}

static void follow(int follower, int followed) {
    resolve_with(&members[follower], &members[followed]);
}

static void finish(int rejected) {
    for (int i = 0; i < 4; i++) {
        if (i < rejected) {
            check_once(&calls[i], true, VOW_ECYCLE);
            check_settled(members[i].promise, VOW_REJECTED, VOW_ECYCLE);
        } else {
            CHECK(vow_promise_state(members[i].promise) == VOW_PENDING && calls[i].times == 0);
        }
    }
    for (int i = 0; i < 4; i++) {
        release(&members[i]);
        check_once(&calls[i], true, i < rejected ? VOW_ECYCLE : VOW_EBROKEN);
    }
    outcome(0);
}

static void follow_0_0(void) {
    follow(0, 0);
}

static void follow_0_1(void) {
    follow(0, 1);
}

static void follow_1_0(void) {
    follow(1, 0);
}

static void follow_1_2(void) {
    follow(1, 2);
}

static void follow_2_0(void) {
    follow(2, 0);
}

static void follow_2_0_and_0_1(void) {
    follow(2, 0);
    follow(0, 1);
}

static void follow_3_0(void) {
    follow(3, 0);
}

static void register_more(void) {
    CHECK(vow_await(members[0].promise, VOW_FOREVER, NULL) == VOW_REJECTED);
    on_settled(members[0].promise, NULL, &more);
}

static void finish_1(void) {
    check_once(&more, true, VOW_ECYCLE);
    CHECK(more.started > calls[0].started);
    finish(1);
}

static void finish_2(void) {
    finish(2);
}

static void finish_3(void) {
    finish(3);
}

static void finish_4(void) {
    finish(4);
}

SCENARIO ring_of_one = {
    "ring-of-one", start, {follow_0_0, register_more}, finish_1, 3, 1,
};

SCENARIO ring_of_two = {
    "ring-of-two", start, {follow_0_1, follow_1_0}, finish_2, 3, 1,
};

SCENARIO ring_of_three = {
    "ring-of-three", start, {follow_0_1, follow_1_2, follow_2_0}, finish_3, 2, 1,
};

SCENARIO ring_of_three_by_two = {
    "ring-of-three-by-two", start, {follow_1_2, follow_2_0_and_0_1}, finish_3, 2, 1,
};

/* One that follows into the ring while it closes is rejected with it. */
SCENARIO ring_with_tail = {
    "ring-with-tail", start, {follow_0_1, follow_1_2, follow_2_0, follow_3_0}, finish_4, 1, 1,
};
