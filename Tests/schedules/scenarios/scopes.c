/* Scopes: their end is let go of, or cancelled, while the last member settles. */
#include "list.h"

#include <stddef.h>
#include <string.h>

static deferred member;
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

const scenario scope_let_go = {
    "scope-let-go", start, {let_go, settle_member}, finish_let_go, 4, 1,
};

const scenario scope_end_cancelled = {
    "scope-end-cancelled", start, {cancel_end, settle_member}, finish_cancelled, 4, 3,
};
