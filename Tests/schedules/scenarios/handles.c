/* Promises in the middle of a path that stood there only for a handle or a resolver, when that is
 * given back: their followers move on, while other threads walk past, cancel, settle or close a
 * ring. */
#include "../scenario.h"

#include <string.h>

static deferred first, middle, third, end;
static call calls[2];

static void make(void) {
    first = defer();
    middle = defer();
    third = defer();
    end = defer();
    memset(calls, 0, sizeof calls);
    on_settled(first.promise, NULL, &calls[0]);
    on_settled(third.promise, NULL, &calls[1]);
}

/* first follows middle follows end; middle has a handle. */
static void start_held(void) {
    make();
    resolve_with(&first, &middle);
    resolve_with(&middle, &end);
    vow_resolver_release(middle.resolver);
    middle.resolver = NULL;
}

static void release_handle(void) {
    vow_promise_release(middle.promise);
    middle.promise = NULL;
}

static void third_follows_first(void) {
    resolve_with(&third, &first);
}

static void settle_end(void) {
    CHECK(vow_resolve(end.resolver, vow_int(6)));
    vow_resolver_release(end.resolver);
    end.resolver = NULL;
}

static void clean_up(void) {
    release(&first);
    release(&middle);
    release(&third);
    release(&end);
}

static void finish_settled(void) {
    check_once(&calls[0], false, 6);
    outcome(0);
    clean_up();
}

static void finish_joined(void) {
    check_once(&calls[0], false, 6);
    check_once(&calls[1], false, 6);
    outcome(0);
    clean_up();
}

SCENARIO handle_released_settle = {
    "handle-released-settle", start_held, {release_handle, settle_end}, finish_settled, 3, 1,
};

SCENARIO handle_released_joined = {
    "handle-released-joined",
    start_held,
    {release_handle, third_follows_first, settle_end},
    finish_joined,
    2,
    1,
};

static void cancel_first(void) {
    vow_cancel(first.promise);
}

static void finish_cancelled(void) {
    bool is_cancelled = calls[0].rejected;
    check_once(&calls[0], is_cancelled, is_cancelled ? VOW_ECANCELLED : 6);
    outcome(is_cancelled ? 1 : 0);
    clean_up();
}

SCENARIO handle_released_cancel = {
    "handle-released-cancel", start_held, {release_handle, cancel_first, settle_end},
    finish_cancelled,         2,          2,
};

static void close_ring(void) {
    resolve_with(&end, &first);
    vow_resolver_release(end.resolver);
    end.resolver = NULL;
}

static void finish_ring(void) {
    check_once(&calls[0], true, VOW_ECYCLE);
    outcome(0);
    clean_up();
}

SCENARIO handle_released_ring = {
    "handle-released-ring", start_held, {release_handle, close_ring}, finish_ring, 3, 1,
};

/* Two in a row. */
static void start_two(void) {
    make();
    resolve_with(&first, &middle);
    resolve_with(&middle, &third);
    resolve_with(&third, &end);
}

static void release_third(void) {
    vow_promise_release(third.promise);
    third.promise = NULL;
}

SCENARIO handles_released = {
    "handles-released", start_two, {release_handle, release_third, settle_end}, finish_joined, 2, 1,
};

/* Nobody but its resolver holds the one in the middle when it begins to follow. */
static void start_resolver(void) {
    make();
    vow_value followed = vow_from_promise(middle.promise);
    middle.promise = NULL;
    CHECK(vow_resolve(first.resolver, followed));
}

/* Who cancels the first may have cancelled this one with it. */
static void resolve_middle(void) {
    (void)vow_resolve(middle.resolver, vow_from_promise(vow_promise_retain(end.promise)));
    vow_resolver_release(middle.resolver);
    middle.resolver = NULL;
}

SCENARIO resolver_held_settle = {
    "resolver-held-settle",
    start_resolver,
    {resolve_middle, third_follows_first, settle_end},
    finish_joined,
    2,
    1,
};

SCENARIO resolver_held_cancel = {
    "resolver-held-cancel",
    start_resolver,
    {resolve_middle, cancel_first, settle_end},
    finish_cancelled,
    2,
    2,
};

static vow_resolver *kept;

static void start_kept(void) {
    start_resolver();
    kept = vow_resolver_retain(middle.resolver);
}

static void release_kept(void) {
    vow_resolver_release(kept);
}

static void finish_kept(void) {
    check_once(&calls[0], true, VOW_ECANCELLED);
    outcome(0);
    clean_up();
}

SCENARIO resolver_released_meanwhile = {
    "resolver-released-meanwhile",
    start_kept,
    {resolve_middle, release_kept, cancel_first},
    finish_kept,
    2,
    1,
};
