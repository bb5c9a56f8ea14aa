/* Cancelling promises that follow others, or begin to, or are being moved. */
#include "list.h"

#include <stddef.h>
#include <string.h>

static deferred outer, middle, inner, source;
static watched link, later;
static heard hook;
static bool has_cancelled, has_settled;

static void start(void) {
    outer = defer();
    middle = defer();
    inner = defer();
    source = defer();
    memset(&link, 0, sizeof link);
    memset(&later, 0, sizeof later);
    memset(&hook, 0, sizeof hook);
    has_cancelled = has_settled = false;
}

static void let_go(void) {
    let_go_of_watched(&link);
    let_go_of_watched(&later);
    release(&outer);
    release(&middle);
    release(&inner);
    release(&source);
}

/* The follower, or what it follows, has the only reference then. */
static void give(deferred *it, deferred *followed) {
    CHECK(vow_resolve(it->resolver, vow_from_promise(followed->promise)));
    followed->promise = NULL;
}

static void settle_inner(void) {
    has_settled = vow_resolve(inner.resolver, vow_int(9));
}

static void cancel_outer(void) {
    has_cancelled = vow_cancel(outer.promise);
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

const scenario cancel_follower = {
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

const scenario cancel_adopting = {
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
const scenario cancel_path = {
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

const scenario cancel_path_settled = {
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

static void run_link(void) {
    CHECK(vow_resolve(source.resolver, vow_int(1)));
}

/* If it was cancelled before, the handler never ran. */
static void finish_moving(void) {
    check_watched(&link);
    vow_promise_release(link.returned);
    finish_passed();
}

const scenario cancel_moving = {
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

const scenario cancel_one_moving = {
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

const scenario cancel_sibling_moving = {
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

const scenario cancel_while_dying = {
    "cancel-while-dying",
    start_between,
    {run_link, cancel_outer, let_go_of_link},
    finish_between,
    2,
    3,
};

/* A ring of two closes, and a member is cancelled. */
static void start_ring(void) {
    start();
    watch(&later, outer.promise, NULL, NULL);
}

static void outer_follows(void) {
    vow_resolve(outer.resolver, vow_from_promise(vow_promise_retain(inner.promise)));
}

static void inner_follows(void) {
    vow_resolve(inner.resolver, vow_from_promise(vow_promise_retain(outer.promise)));
}

static void finish_ring(void) {
    int64_t content = content_of_promise(outer.promise);
    /* The rejection may come down from the ring. */
    CHECK(content == VOW_ECYCLE || (content == VOW_ECANCELLED && has_cancelled));
    CHECK(content_of_promise(inner.promise) == VOW_ECANCELLED ||
          content_of_promise(inner.promise) == VOW_ECYCLE);
    check_watched(&later);
    CHECK(later.rejected == 1 && later.content == content);
    outcome(has_cancelled);
    let_go();
}

const scenario cancel_ring = {
    "cancel-ring", start_ring, {outer_follows, inner_follows, cancel_outer}, finish_ring, 2, 2,
};

/* The same where nobody else reads the other member. */
static void outer_gives(void) {
    vow_promise *followed = inner.promise;
    inner.promise = NULL;
    vow_resolve(outer.resolver, vow_from_promise(followed));
}

static void finish_ring_unheld(void) {
    int64_t content = content_of_promise(outer.promise);
    /* The rejection may come down from the ring. */
    CHECK(content == VOW_ECYCLE || (content == VOW_ECANCELLED && has_cancelled));
    check_watched(&later);
    CHECK(unhandled == 0);
    outcome(has_cancelled);
    let_go();
}

const scenario cancel_ring_unheld = {
    "cancel-ring-unheld", start_ring, {outer_gives, inner_follows, cancel_outer},
    finish_ring_unheld,   2,          2,
};

/* Two followers move on together, into a ring that closes meanwhile; what closes it is cancelled,
 * and nobody reads the other one any more. */
static void start_moving_ring(void) {
    start();
    link.returned = vow_promise_retain(inner.promise);
    watch(&link, source.promise, NULL, NULL);
    CHECK(vow_resolve(outer.resolver, vow_from_promise(vow_promise_retain(link.promise))));
    CHECK(vow_resolve(middle.resolver, vow_from_promise(link.promise)));
    link.promise = NULL;
    watch(&later, outer.promise, NULL, NULL);
}

static void inner_follows_middle(void) {
    vow_promise *followed = middle.promise;
    middle.promise = NULL;
    vow_resolve(inner.resolver, vow_from_promise(followed));
}

static void cancel_inner(void) {
    has_cancelled = vow_cancel(inner.promise);
}

static void finish_moving_ring(void) {
    int64_t content = content_of_promise(inner.promise);
    check_watched(&link);
    /* The rejection may come down from the ring. */
    CHECK(content == VOW_ECYCLE || (content == VOW_ECANCELLED && has_cancelled));
    check_watched(&later);
    CHECK(later.rejected == 1);
    outcome(has_cancelled);
    let_go();
}

const scenario cancel_moving_ring = {
    "cancel-moving-ring",
    start_moving_ring,
    {run_link, inner_follows_middle, cancel_inner},
    finish_moving_ring,
    2,
    2,
};

/* A finally that waits for its handler's promise, or is about to. */
static void start_finally(void) {
    start();
    hear_resolver(&hook, inner.resolver);
    link.returned = inner.promise;
    inner.promise = NULL;
    watch_as(&link, source.promise, NULL, NULL, VOW_FINALLY);
    watch(&later, link.promise, NULL, NULL);
}

static void start_waiting_finally(void) {
    start_finally();
    run_link();
}

static void cancel_link(void) {
    has_cancelled = vow_cancel(link.promise);
}

static void finish_finally(void) {
    int64_t content = content_of_promise(link.promise);
    check_watched(&link);
    CHECK(content == (has_cancelled ? VOW_ECANCELLED : 1));
    check_watched(&later);
    CHECK(later.content == content);
    vow_promise_release(link.returned);
    check_heard(&hook, !has_settled, 1);
    outcome(has_cancelled);
    let_go();
}

const scenario cancel_waiting_finally = {
    "cancel-waiting-finally",
    start_waiting_finally,
    {cancel_link, settle_inner},
    finish_finally,
    4,
    2,
};

const scenario cancel_finally = {
    "cancel-finally", start_finally, {run_link, cancel_link, settle_inner}, finish_finally, 2, 2,
};

/* And somebody follows it. */
static void start_followed_finally(void) {
    start_finally();
    CHECK(vow_resolve(outer.resolver, vow_from_promise(vow_promise_retain(link.promise))));
}

static void finish_followed_finally(void) {
    CHECK(content_of_promise(outer.promise) == content_of_promise(link.promise));
    finish_finally();
}

const scenario cancel_followed_finally = {
    "cancel-followed-finally",
    start_followed_finally,
    {run_link, cancel_link, settle_inner},
    finish_followed_finally,
    2,
    2,
};

/* A thenable is asked, or not any more. */
static vow_resolver *given;
static bool was_asked;

static bool subscribe(void *pointer, vow_resolver *resolver) {
    (void)pointer;
    hear_resolver(&hook, resolver);
    given = resolver;
    was_asked = true;
    return true;
}

static void resolve_with_thenable(void) {
    static const vow_class cls = {sizeof cls, "thenable", NULL, subscribe};
    vow_resolve(outer.resolver, vow_object(NULL, &cls));
}

static void start_thenable(void) {
    start();
    watch(&later, outer.promise, NULL, NULL);
    given = NULL;
    was_asked = false;
}

static void finish_thenable(void) {
    CHECK(has_cancelled);
    check_watched(&later);
    CHECK(later.rejected == 1 && later.content == VOW_ECANCELLED);
    if (was_asked) {
        check_heard(&hook, 1, 1);
        vow_resolver_release(given);
    }
    outcome(was_asked);
    let_go();
}

const scenario cancel_thenable = {
    "cancel-thenable", start_thenable, {resolve_with_thenable, cancel_outer}, finish_thenable, 3, 2,
};
