/* Rings that close through combined promises. */
#include "../scenario.h"

#include <stddef.h>

static deferred p, q;
static vow_promise *of_p, *of_q;

static vow_promise *all_of(const deferred *it) {
    vow_promise *members[] = {vow_promise_retain(it->promise)};
    return vow_all(members, 1);
}

static vow_promise *scope_of(const deferred *it) {
    vow_scope *scope = vow_scope_create();
    CHECK(vow_scope_add(scope, vow_promise_retain(it->promise)) == 0);
    return vow_scope_close(scope);
}

static void start_with(vow_promise *(*combine)(const deferred *)) {
    p = defer();
    q = defer();
    of_p = combine(&p);
    of_q = combine(&q);
}

static void start_all(void) {
    start_with(all_of);
}

static void start_scopes(void) {
    start_with(scope_of);
}

static void p_needs_q(void) {
    CHECK(vow_resolve(p.resolver, vow_from_promise(vow_promise_retain(of_q))));
}

static void q_needs_p(void) {
    CHECK(vow_resolve(q.resolver, vow_from_promise(vow_promise_retain(of_p))));
}

static void finish(void) {
    check_settled(p.promise, VOW_REJECTED, VOW_ECYCLE);
    check_settled(q.promise, VOW_REJECTED, VOW_ECYCLE);
    outcome(0);
    release(&p);
    release(&q);
    vow_promise_release(of_p);
    vow_promise_release(of_q);
}

SCENARIO ring_through_all = {
    "ring-through-all", start_all, {p_needs_q, q_needs_p}, finish, 2, 1,
};

SCENARIO ring_through_scopes = {
    "ring-through-scopes", start_scopes, {p_needs_q, q_needs_p}, finish, 2, 1,
};
