/* What follows is cancelled, or moves, or dies. */
#include "cancel_follow_tools.h"

/* The follower, or what it follows, has the only reference then. */
static void give(deferred *it, deferred *followed) {
    CHECK(vow_resolve(it->resolver, vow_from_promise(followed->promise)));
    followed->promise = NULL;
}

/* What reads `outer` has its outcome. */
static void check_outer(void) {
    check_watched(&later);
    CHECK(content_of_promise(outer.promise) == (has_cancelled ? VOW_ECANCELLED : 9));
    CHECK(later.fulfilled == !has_cancelled && later.rejected == has_cancelled);
    outcome(has_cancelled);
}

static void finish(void) {
    check_outer();
    check_heard(&hook, !has_settled, !has_settled);
    let_go();
}

static void start_pending(void) {
    start();
    hear_resolver(&hook, inner.resolver);
    watch(&later, outer.promise, NULL, NULL);
}

static void start_following(void) {
    start_pending();
    give(&outer, &inner);
}

SCENARIO cancel_follower = {
    "cancel-follower", start_following, {cancel_outer, settle_inner}, finish, 4, 2,
};

/* While the adoption is under way. */
static void outer_follows_inner(void) {
    vow_promise *followed = inner.promise;
    inner.promise = NULL;
    vow_resolve(outer.resolver, vow_from_promise(followed));
}

/* Nobody is left to read inner, which is told or cancelled, as far as others pass there at that
 * moment. */
static void finish_passed(void) {
    check_outer();
    check_heard(&hook, !has_settled, 1);
    let_go();
}

SCENARIO cancel_adopting = {
    "cancel-adopting",
    start_pending,
    {outer_follows_inner, cancel_outer, settle_inner},
    finish_passed,
    2,
    2,
};

/* A path of two is made meanwhile. */
static void outer_follows_middle(void) {
    vow_promise *followed = middle.promise;
    middle.promise = NULL;
    vow_resolve(outer.resolver, vow_from_promise(followed));
}

static void middle_follows_inner(void) {
    vow_promise *followed = inner.promise;
    inner.promise = NULL;
    vow_resolve(middle.resolver, vow_from_promise(followed));
}

static void outer_follows_middle_then_cancel(void) {
    outer_follows_middle();
    cancel_outer();
}

static void finish_path_cancelled(void) {
    vow_promise_release(inner.promise);
    inner.promise = NULL;
    check_watched(&later);
    CHECK(has_cancelled && later.rejected == 1);
    check_heard(&hook, 1, 1);
    outcome(0);
    let_go();
}

/* Whatever the order is, nobody is left to read inner. */
SCENARIO cancel_path = {
    "cancel-path",
    start_pending,
    {outer_follows_middle_then_cancel, middle_follows_inner},
    finish_path_cancelled,
    3,
    1,
};

static void start_path(void) {
    start_pending();
    give(&outer, &middle);
}

SCENARIO cancel_path_settled = {
    "cancel-path-settled", start_path, {cancel_outer, middle_follows_inner, settle_inner},
    finish_passed,         2,          2,
};

/* `outer` follows a reaction whose handler returns `inner`: outer moves on, and is cancelled, while
 * inner settles. */
static void start_moving(void) {
    start_pending();
    link.returned = inner.promise;
    inner.promise = NULL;
    watch(&link, source.promise, NULL, NULL);
    CHECK(vow_resolve(outer.resolver, vow_from_promise(link.promise)));
    link.promise = NULL;
}

/* If it was cancelled before, the handler never ran. */
static void finish_moving(void) {
    check_watched(&link);
    vow_promise_release(link.returned);
    finish_passed();
}

SCENARIO cancel_moving = {
    "cancel-moving", start_moving, {run_link, cancel_outer, settle_inner}, finish_moving, 2, 2,
};

/* Two followers move on together; one is cancelled. */
static void start_two_moving(void) {
    start();
    link.returned = vow_promise_retain(inner.promise);
    hear_resolver(&hook, inner.resolver);
    watch(&link, source.promise, NULL, NULL);
    CHECK(vow_resolve(outer.resolver, vow_from_promise(vow_promise_retain(link.promise))));
    CHECK(vow_resolve(middle.resolver, vow_from_promise(link.promise)));
    link.promise = NULL;
    watch(&later, outer.promise, NULL, NULL);
}

static void finish_two_moving(void) {
    check_watched(&link);
    CHECK(has_settled && content_of_promise(middle.promise) == 9);
    check_outer();
    check_heard(&hook, 0, 0);
    let_go();
}

SCENARIO cancel_one_moving = {
    "cancel-one-moving",
    start_two_moving,
    {run_link, cancel_outer, settle_inner},
    finish_two_moving,
    2,
    2,
};

/* Three reactions follow the one that moves them on. The oldest is cancelled first, by which the
 * others know their places in its queue; the one between is cancelled while it is in none. */
static deferred ready;
static watched siblings[3];

static void start_siblings(void) {
    start();
    ready = defer();
    CHECK(vow_resolve(ready.resolver, vow_int(1)));
    link.returned = vow_promise_retain(inner.promise);
    hear_resolver(&hook, inner.resolver);
    watch(&link, source.promise, NULL, NULL);
    memset(siblings, 0, sizeof siblings);
    for (int i = 0; i < 3; i++) {
        siblings[i].returned = vow_promise_retain(link.promise);
        watch(&siblings[i], ready.promise, NULL, NULL);
    }
    let_go_of_watched(&link);
    CHECK(vow_cancel(siblings[0].promise));
}

static void cancel_sibling(void) {
    has_cancelled = vow_cancel(siblings[1].promise);
}

static void finish_siblings(void) {
    int64_t expected[3] = {VOW_ECANCELLED, has_cancelled ? VOW_ECANCELLED : 9, 9};
    check_watched(&link);
    for (int i = 0; i < 3; i++) {
        check_watched(&siblings[i]);
        CHECK(siblings[i].fulfilled == 1);
        CHECK(content_of_promise(siblings[i].promise) == expected[i]);
        let_go_of_watched(&siblings[i]);
    }
    check_heard(&hook, 0, 0);
    outcome(has_cancelled);
    release(&ready);
    let_go();
}

SCENARIO cancel_sibling_moving = {
    "cancel-sibling-moving",
    start_siblings,
    {run_link, cancel_sibling, settle_inner},
    finish_siblings,
    2,
    2,
};

/* Its follower, which it stays between, is cancelled; or its own handle is given back meanwhile. */
static void start_between(void) {
    start_pending();
    link.returned = inner.promise;
    inner.promise = NULL;
    watch(&link, source.promise, NULL, NULL);
    CHECK(vow_resolve(outer.resolver, vow_from_promise(vow_promise_retain(link.promise))));
}

static void let_go_of_link(void) {
    let_go_of_watched(&link);
}

static void finish_between(void) {
    CHECK(has_cancelled);
    check_watched(&later);
    if (hook.called == 0) {
        /* A reaction goes on, though nobody reads it, and what uses its context is waited for. */
        CHECK(link.fulfilled == 1);
        settle_inner();
        CHECK(has_settled);
    }
    check_watched(&link);
    vow_promise_release(link.returned);
    check_heard(&hook, 0, 1);
    outcome(link.fulfilled + has_settled);
    let_go();
}

SCENARIO cancel_while_dying = {
    "cancel-while-dying",
    start_between,
    {run_link, cancel_outer, let_go_of_link},
    finish_between,
    2,
    3,
};
