/* A finally that waits for its handler's promise, and others that follow it meanwhile. */
#include "../scenario.h"

#include <stddef.h>
#include <string.h>

static deferred source, returned, follower;
static vow_promise *finally;
/* What its handler returns: `returned`, or a reaction to it. */
static vow_promise *given;
static call calls[2];

static vow_value give(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_from_promise(vow_promise_retain(given));
}

static void start(void) {
    vow_reaction reaction;
    source = defer();
    returned = defer();
    follower = defer();
    memset(calls, 0, sizeof calls);
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = reaction.on_rejected = give;
    reaction.executor = vow_executor_inline();
    reaction.flags = VOW_FINALLY;
    finally = vow_then_with(vow_promise_retain(source.promise), &reaction);
    given = vow_promise_retain(returned.promise);
}

/* Nobody follows `returned`: it is a reaction that waits for it. */
static void start_with_reaction(void) {
    vow_reaction reaction;
    start();
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.executor = vow_executor_inline();
    given = vow_then_with(given, &reaction);
}

static void start_watched(void) {
    start();
    on_settled(finally, NULL, &calls[0]);
    on_settled(returned.promise, NULL, &calls[1]);
}

static void fulfil_source(void) {
    CHECK(vow_resolve(source.resolver, vow_int(4)));
}

static void follow_finally(const deferred *it) {
    CHECK(vow_resolve(it->resolver, vow_from_promise(vow_promise_retain(finally))));
}

static void returned_follows(void) {
    follow_finally(&returned);
}

static void follower_follows(void) {
    follow_finally(&follower);
}

static void fulfil_returned(void) {
    CHECK(vow_resolve(returned.resolver, vow_int(9)));
}

static void let_go(void) {
    release(&source);
    release(&returned);
    release(&follower);
    vow_promise_release(given);
    vow_promise_release(finally);
}

static void finish_ring(void) {
    check_settled(finally, VOW_REJECTED, VOW_ECYCLE);
    check_settled(returned.promise, VOW_REJECTED, VOW_ECYCLE);
    outcome(0);
    let_go();
}

static void finish_ring_watched(void) {
    check_once(&calls[0], true, VOW_ECYCLE);
    check_once(&calls[1], true, VOW_ECYCLE);
    finish_ring();
}

/* It waits for a promise that follows it. */
SCENARIO ring_through_finally = {
    "ring-through-finally", start, {fulfil_source, returned_follows}, finish_ring, 3, 1,
};

SCENARIO ring_through_watched_finally = {
    "ring-through-watched-finally",
    start_watched,
    {fulfil_source, returned_follows},
    finish_ring_watched,
    3,
    1,
};

static void finish_ring_with_reaction(void) {
    check_settled(given, VOW_REJECTED, VOW_ECYCLE);
    finish_ring();
}

/* It waits for a reaction to a promise that follows it. */
SCENARIO ring_through_finally_and_reaction = {
    "ring-through-finally-and-reaction",
    start_with_reaction,
    {fulfil_source, returned_follows},
    finish_ring_with_reaction,
    3,
    1,
};

/* Who follows it gets its own outcome, and not that of what it waits for. */
static void finish_followed(void) {
    check_settled(finally, VOW_FULFILLED, 4);
    check_settled(follower.promise, VOW_FULFILLED, 4);
    outcome(0);
    let_go();
}

SCENARIO adopt_waiting_finally = {
    "adopt-waiting-finally", start, {fulfil_source, follower_follows, fulfil_returned},
    finish_followed,         2,     1,
};
