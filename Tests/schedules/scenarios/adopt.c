/* Adoption against settling and registering. */
#include "../scenario.h"

#include <stddef.h>
#include <string.h>

static deferred outer, middle, inner;
static call calls[2];

static void start(void) {
    outer = defer();
    middle = defer();
    inner = defer();
    memset(calls, 0, sizeof calls);
}

static void finish(void) {
    check_once(&calls[0], false, 9);
    check_once(&calls[1], false, 9);
    check_order(calls, 2);
    check_settled(outer.promise, VOW_FULFILLED, 9);
    outcome(calls[1].registered < calls[0].started ? 0 : 1);
    release(&outer);
    release(&middle);
    release(&inner);
}

static void outer_follows_inner(void) {
    resolve_with(&outer, &inner);
}

static void outer_follows_middle(void) {
    resolve_with(&outer, &middle);
}

static void middle_follows_inner(void) {
    resolve_with(&middle, &inner);
}

static void settle_inner(void) {
    CHECK(vow_resolve(inner.resolver, vow_int(9)));
}

static void register_on_outer(void) {
    on_settled(outer.promise, NULL, &calls[0]);
    on_settled(outer.promise, NULL, &calls[1]);
}

SCENARIO adopt_settle_register = {
    "adopt-settle-register",
    start,
    {outer_follows_inner, settle_inner, register_on_outer},
    finish,
    2,
    2,
};

static void start_registered(void) {
    start();
    register_on_outer();
}

static void finish_chain(void) {
    check_settled(middle.promise, VOW_FULFILLED, 9);
    finish();
}

/* Two links of a path are made while its end settles; the one in the middle is held. */
SCENARIO adopt_chain = {
    "adopt-chain",
    start_registered,
    {outer_follows_middle, middle_follows_inner, settle_inner},
    finish_chain,
    2,
    1,
};

/* A finally whose handler returns a pending promise: it holds its own outcome meanwhile. */
static vow_promise *held;

static vow_value wait_for_inner(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_from_promise(vow_promise_retain(inner.promise));
}

static void start_finally(void) {
    vow_reaction reaction;
    start();
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = reaction.on_rejected = wait_for_inner;
    reaction.executor = vow_executor_inline();
    reaction.flags = VOW_FINALLY;
    held = vow_then_with(vow_promise_retain(outer.promise), &reaction);
    on_settled(held, NULL, &calls[0]);
}

static void settle_outer(void) {
    CHECK(vow_resolve(outer.resolver, vow_int(4)));
}

static void let_go_of_finally(void) {
    vow_promise_release(held);
}

static void finish_finally(void) {
    check_once(&calls[0], false, 4);
    outcome(0);
    release(&outer);
    release(&middle);
    release(&inner);
}

SCENARIO adopt_finally = {
    "adopt-finally",
    start_finally,
    {settle_outer, settle_inner, let_go_of_finally},
    finish_finally,
    2,
    1,
};

/* A thenable that gives its resolver to another thread, which settles it there. */
static vow_resolver *given;

static bool subscribe(void *pointer, vow_resolver *resolver) {
    (void)pointer;
    given = resolver;
    return true;
}

static bool is_given(const void *argument) {
    (void)argument;
    return given != NULL;
}

static void resolve_with_thenable(void) {
    static const vow_class cls = {sizeof cls, "thenable", NULL, subscribe};
    CHECK(vow_resolve(outer.resolver, vow_object(NULL, &cls)));
}

static void settle_given(void) {
    scheduler_block_until(is_given, NULL);
    CHECK(vow_resolve(given, vow_int(9)));
    vow_resolver_release(given);
}

static void start_thenable(void) {
    start();
    given = NULL;
}

SCENARIO adopt_thenable = {
    "adopt-thenable",
    start_thenable,
    {resolve_with_thenable, settle_given, register_on_outer},
    finish,
    2,
    2,
};
