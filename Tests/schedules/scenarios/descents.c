/* A member that stands far down in a queue is cancelled: it is looked for in pieces (of two members
 * here), and others cancel, come, settle, move in between. */
#include "../scenario.h"

#include <stddef.h>
#include <string.h>

enum { MEMBERS = 6 };

static deferred it, further, followers[MEMBERS];
static watched readers[MEMBERS], link;
static bool has_cancelled[MEMBERS], has_cancelled_link;

static void follow(int which) {
    followers[which] = defer();
    watch(&readers[which], followers[which].promise, NULL, NULL);
    resolve_with(&followers[which], &it);
}

/* The oldest follower is number 0; a reaction stands among them. */
static void start_with(int count) {
    memset(readers, 0, sizeof readers);
    memset(followers, 0, sizeof followers);
    memset(has_cancelled, 0, sizeof has_cancelled);
    memset(&link, 0, sizeof link);
    memset(&further, 0, sizeof further);
    has_cancelled_link = false;
    it = defer();
    for (int i = 0; i < count; i++) {
        follow(i);
        if (i == 1 && count == MEMBERS - 1) {
            watch(&link, it.promise, NULL, NULL);
        }
    }
}

static void start(void) {
    start_with(MEMBERS - 1);
}

static void cancel(int which) {
    has_cancelled[which] = vow_cancel(followers[which].promise);
}

static void cancel_oldest(void) {
    cancel(0);
}

static void resolve(void) {
    CHECK(vow_resolve(it.resolver, vow_int(1)));
}

/* Each has its own outcome, once, whatever has become of its neighbours. */
static void finish_members(int count) {
    for (int i = 0; i < count; i++) {
        check_watched(&readers[i]);
        CHECK(readers[i].fulfilled == !has_cancelled[i] && readers[i].rejected == has_cancelled[i]);
        vow_promise_release(readers[i].promise);
        release(&followers[i]);
    }
    if (link.promise != NULL) {
        CHECK((fate_of(&link) == 2) == !has_cancelled_link);
        let_go_of_watched(&link);
    }
    release(&it);
}

static void finish_cancelled(void) {
    CHECK(has_cancelled[0]);
    resolve();
    outcome(0);
    finish_members(MEMBERS - 1);
}

/* Those where the look may stand, the nearer to its end first. */
static void cancel_others(void) {
    cancel(2);
    cancel(3);
}

static void cancel_link_and_newest(void) {
    has_cancelled_link = vow_cancel(link.promise);
    cancel(4);
}

SCENARIO descent_place = {
    "descent-place", start, {cancel_oldest, cancel_others}, finish_cancelled, 2, 1,
};

SCENARIO descent_link = {
    "descent-link", start, {cancel_oldest, cancel_link_and_newest}, finish_cancelled, 2, 1,
};

static void cancel_next(void) {
    cancel(1);
}

SCENARIO descent_twice = {
    "descent-twice", start, {cancel_oldest, cancel_next, cancel_others}, finish_cancelled, 1, 1,
};

/* The newest leaves, another one comes, and leaves as well. */
static void come_and_go(void) {
    cancel(4);
    follow(5);
    cancel(5);
}

static void finish_with_newcomer(void) {
    CHECK(has_cancelled[0]);
    resolve();
    outcome(0);
    finish_members(MEMBERS);
}

SCENARIO descent_newcomer = {
    "descent-newcomer", start, {cancel_oldest, come_and_go}, finish_with_newcomer, 2, 1,
};

/* The queue is taken. */
static void finish_settled(void) {
    outcome(has_cancelled[0]);
    finish_members(MEMBERS - 1);
}

SCENARIO descent_settled = {
    "descent-settled", start, {cancel_oldest, resolve}, finish_settled, 2, 2,
};

/* The queue is emptied: nobody else reads the promise, which begins to follow. */
static void start_moving(void) {
    start_with(4);
    further = defer();
    vow_promise_release(it.promise);
    it.promise = NULL;
}

static void follow_further(void) {
    vow_promise *followed = further.promise;
    further.promise = NULL;
    CHECK(vow_resolve(it.resolver, vow_from_promise(followed)));
}

static void finish_moved(void) {
    CHECK(has_cancelled[0]);
    CHECK(vow_resolve(further.resolver, vow_int(2)));
    CHECK(readers[3].content == 2 || has_cancelled[3]);
    release(&further);
    outcome(0);
    finish_members(4);
}

SCENARIO descent_moving = {
    "descent-moving", start_moving, {cancel_oldest, follow_further}, finish_moved, 2, 1,
};

static void cancel_second(void) {
    cancel(1);
}

SCENARIO descent_moving_twice = {
    "descent-moving-twice",
    start_moving,
    {cancel_oldest, follow_further, cancel_second},
    finish_moved,
    1,
    1,
};
