/* What closes a ring is cancelled. */
#include "cancel_follow_tools.h"

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

SCENARIO cancel_ring = {
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

SCENARIO cancel_ring_unheld = {
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

SCENARIO cancel_moving_ring = {
    "cancel-moving-ring",
    start_moving_ring,
    {run_link, inner_follows_middle, cancel_inner},
    finish_moving_ring,
    2,
    2,
};
