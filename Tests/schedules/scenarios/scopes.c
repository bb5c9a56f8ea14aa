/* Scopes: their end is let go of, or cancelled, or a member added, while the last member settles;
 * and they are closed by two. */
#include "../scenario.h"

#include <stddef.h>
#include <string.h>

static deferred member;
static vow_scope *kept;
static vow_promise *ending;
static heard stop;
static bool withdrew;

static void start(void) {
    member = defer();
    memset(&stop, 0, sizeof stop);
    hear_resolver(&stop, member.resolver);
    vow_scope *scope = vow_scope_create();
    CHECK(vow_scope_add(scope, member.promise) == 0);
    ending = vow_scope_close(scope);
    withdrew = false;
}

static void settle_member(void) {
    vow_reject(member.resolver, vow_error("test", 7, "the scope owns it"));
    vow_resolver_release(member.resolver);
}

static void let_go(void) {
    vow_promise_release(ending);
}

static void cancel_end(void) {
    withdrew = vow_cancel(ending);
    vow_promise_release(ending);
}

/* The member went on, and nobody has seen how it ended. */
static void finish_let_go(void) {
    check_heard(&stop, 0, 0);
    CHECK(unhandled == 1);
    outcome(0);
}

static void finish_cancelled(void) {
    check_heard(&stop, 0, 1);
    CHECK(withdrew || stop.called == 0);
    outcome(withdrew + stop.called);
}

SCENARIO scope_let_go = {
    "scope-let-go", start, {let_go, settle_member}, finish_let_go, 4, 1,
};

SCENARIO scope_end_cancelled = {
    "scope-end-cancelled", start, {cancel_end, settle_member}, finish_cancelled, 4, 3,
};

static vow_promise *late;
static int answer;

static void start_kept(void) {
    member = defer();
    vow_scope *scope = vow_scope_create();
    kept = vow_scope_retain(scope);
    CHECK(vow_scope_add(scope, member.promise) == 0);
    ending = vow_scope_close(scope);
    late = NULL;
}

static void add_late(void) {
    deferred other = defer();
    late = vow_promise_retain(other.promise);
    answer = vow_scope_add(kept, other.promise);
    /* Added, it is waited for; else it is cancelled. */
    CHECK(answer == VOW_ESHUTDOWN || vow_promise_state(ending) == VOW_PENDING);
    vow_resolve(other.resolver, vow_none());
    vow_resolver_release(other.resolver);
    vow_scope_release(kept);
}

static void finish_added(void) {
    CHECK(answer == 0 || answer == VOW_ESHUTDOWN);
    CHECK(vow_promise_state(late) == (answer == 0 ? VOW_FULFILLED : VOW_REJECTED));
    CHECK(vow_promise_state(ending) == VOW_REJECTED);
    vow_value error;
    vow_promise_peek(ending, &error);
    CHECK(vow_error_code(error) == 7);
    vow_promise_release(late);
    vow_promise_release(ending);
    outcome(answer != 0);
}

SCENARIO scope_added_to = {
    "scope-added-to", start_kept, {add_late, settle_member}, finish_added, 3, 2,
};

static vow_promise *ends[2];

static void start_unclosed(void) {
    vow_scope *scope = vow_scope_create();
    kept = vow_scope_retain(scope);
    ending = NULL;
}

static void close_one(void) {
    ends[0] = vow_scope_close(kept);
    CHECK(vow_promise_state(ends[0]) != VOW_REJECTED);
}

static void close_other(void) {
    ends[1] = vow_scope_close(kept);
}

static void finish_closed(void) {
    CHECK(ends[0] == ends[1]);
    CHECK(vow_promise_state(ends[0]) == VOW_FULFILLED);
    vow_promise_release(ends[0]);
    vow_promise_release(ends[1]);
    outcome(0);
}

SCENARIO scope_closed_twice = {
    "scope-closed-twice", start_unclosed, {close_one, close_other}, finish_closed, 4, 1,
};
