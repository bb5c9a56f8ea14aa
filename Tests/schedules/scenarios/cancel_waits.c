/* A promise that was cancelled while it follows, or begins to, settles after what it follows,
 * unless somebody else reads that (G14): however the cancellation comes between the steps. */
#include "../scenario.h"

#include <stddef.h>
#include <string.h>

static deferred outer, middle, inner, source;
static watched link;
static heard hook;
static bool has_cancelled, has_adopted;

static void start(void) {
    outer = defer();
    middle = defer();
    inner = defer_cooperative();
    source = defer();
    memset(&link, 0, sizeof link);
    memset(&hook, 0, sizeof hook);
    has_cancelled = has_adopted = false;
    hear_resolver(&hook, inner.resolver);
}

static void let_go(void) {
    let_go_of_watched(&link);
    release(&outer);
    release(&middle);
    release(&inner);
    release(&source);
}

static void cancel_outer(void) {
    has_cancelled = vow_cancel(outer.promise);
}

static void check_waits(const deferred *follower) {
    CHECK(vow_promise_state(follower->promise) == VOW_PENDING);
    check_heard(&hook, 1, 1);
    vow_resolver_release(inner.resolver);
    inner.resolver = NULL;
    CHECK(content_of_promise(follower->promise) == VOW_ECANCELLED);
}

static void resolve_with_inner(const deferred *follower) {
    vow_value adopted = vow_from_promise(inner.promise);
    inner.promise = NULL;
    has_adopted = vow_resolve(follower->resolver, adopted);
}

static void adopt_inner(void) {
    resolve_with_inner(&outer);
}

static void finish_adopted(void) {
    CHECK(has_cancelled);
    if (has_adopted) {
        check_waits(&outer);
    } else {
        CHECK(content_of_promise(outer.promise) == VOW_ECANCELLED);
    }
    outcome(has_adopted);
    let_go();
}

SCENARIO cancel_attaching = {
    "cancel-attaching", start, {adopt_inner, cancel_outer}, finish_adopted, 3, 2,
};

/* And while a promise in between moves its follower on to it. */
static void start_moved(void) {
    start();
    link.returned = inner.promise;
    inner.promise = NULL;
    watch(&link, source.promise, NULL, NULL);
    vow_promise_release(source.promise);
    source.promise = NULL;
    CHECK(vow_resolve(outer.resolver, vow_from_promise(link.promise)));
    link.promise = NULL;
}

static void resolve_source(void) {
    (void)vow_resolve(source.resolver, vow_int(1));
}

static void finish_moved(void) {
    /* Its handler has run in any case, and returned `inner`. */
    CHECK(has_cancelled);
    check_waits(&outer);
    outcome(link.fulfilled);
    let_go();
}

SCENARIO cancel_moved = {
    "cancel-moved", start_moved, {resolve_source, cancel_outer}, finish_moved, 3, 2,
};

/* The same by a promise whose resolver is kept: it outlives its follower's going on. */
static void start_moved_by_hand(void) {
    start();
    CHECK(vow_resolve(outer.resolver, vow_from_promise(middle.promise)));
    middle.promise = NULL;
}

static void resolve_middle(void) {
    resolve_with_inner(&middle);
}

SCENARIO cancel_moved_by_hand = {
    "cancel-moved-by-hand",
    start_moved_by_hand,
    {resolve_middle, cancel_outer},
    finish_adopted,
    3,
    2,
};

/* Both followers of it are cancelled: each may take the other for the one that it is needed by, but
 * not both. */
static void start_both_followers(void) {
    start();
    resolve_with(&outer, &inner);
    resolve_with_inner(&middle);
    CHECK(has_adopted);
}

static void cancel_middle(void) {
    (void)vow_cancel(middle.promise);
}

static void finish_both_followers(void) {
    int waits = vow_promise_state(outer.promise) == VOW_PENDING;
    CHECK(waits != (vow_promise_state(middle.promise) == VOW_PENDING));
    check_waits(waits ? &outer : &middle);
    outcome(waits);
    let_go();
}

SCENARIO cancel_both_followers = {
    "cancel-both-followers",
    start_both_followers,
    {cancel_outer, cancel_middle},
    finish_both_followers,
    3,
    2,
};
