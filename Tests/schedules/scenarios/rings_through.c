/* Rings that close through a reaction: it reads one member, and its promise is another one. */
#include "../scenario.h"

#include <stddef.h>
#include <string.h>

/* a reads p, b reads q. Nobody else waits for any of them: what is rejected is seen in the end. */
static deferred p, q;
static vow_promise *a, *b;
static int recovered;

static vow_value never(vow_value input, void *context) {
    (void)input;
    (void)context;
    CHECK(!"a handler for values ran in a ring");
    return vow_none();
}

static vow_value recover(vow_value input, void *context) {
    (void)context;
    CHECK(vow_error_code(input) == VOW_ECYCLE);
    recovered++;
    return vow_int(3);
}

static vow_value pass_on(vow_value input, void *context) {
    (void)context;
    CHECK(input.as.integer == 3);
    return vow_value_retain(input);
}

static vow_promise *reaction_of(const deferred *it, vow_handler fulfilled, vow_handler rejected) {
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = fulfilled;
    reaction.on_rejected = rejected;
    reaction.executor = vow_executor_inline();
    return vow_then_with(vow_promise_retain(it->promise), &reaction);
}

static void start_with(vow_handler fulfilled, vow_handler rejected) {
    p = defer();
    q = defer();
    recovered = 0;
    a = reaction_of(&p, fulfilled, rejected);
    b = reaction_of(&q, fulfilled, rejected);
}

static void resolve_with_reaction(const deferred *it, vow_promise *reaction) {
    CHECK(vow_resolve(it->resolver, vow_from_promise(vow_promise_retain(reaction))));
}

static void p_follows_b(void) {
    resolve_with_reaction(&p, b);
}

static void q_follows_a(void) {
    resolve_with_reaction(&q, a);
}

static void q_follows_p(void) {
    resolve_with(&q, &p);
}

static void let_go(void) {
    release(&p);
    release(&q);
    vow_promise_release(a);
    vow_promise_release(b);
}

static void finish_all_rejected(void) {
    check_settled(p.promise, VOW_REJECTED, VOW_ECYCLE);
    check_settled(q.promise, VOW_REJECTED, VOW_ECYCLE);
    check_settled(a, VOW_REJECTED, VOW_ECYCLE);
    check_settled(b, VOW_REJECTED, VOW_ECYCLE);
    outcome(0);
    let_go();
}

static void start_skipped(void) {
    start_with(never, NULL);
}

SCENARIO ring_through_reactions = {
    "ring-through-reactions", start_skipped, {p_follows_b, q_follows_a}, finish_all_rejected, 3, 1,
};

/* Nobody waits for p: what is rejected with it is found by who follows p, or not at all. */
static void start_one_reaction(void) {
    p = defer();
    q = defer();
    a = NULL;
    b = reaction_of(&q, never, NULL);
}

static void finish_one_reaction(void) {
    check_settled(p.promise, VOW_REJECTED, VOW_ECYCLE);
    check_settled(q.promise, VOW_REJECTED, VOW_ECYCLE);
    check_settled(b, VOW_REJECTED, VOW_ECYCLE);
    outcome(0);
    let_go();
}

SCENARIO ring_through_one_reaction = {
    "ring-through-one-reaction",
    start_one_reaction,
    {p_follows_b, q_follows_p},
    finish_one_reaction,
    3,
    1,
};

/* The same when p is waited for: then p looks, and may be rejected while q walks past it. */
static call seen;

static void start_watched(void) {
    start_one_reaction();
    memset(&seen, 0, sizeof seen);
    on_settled(p.promise, NULL, &seen);
}

static void finish_watched(void) {
    check_once(&seen, true, VOW_ECYCLE);
    finish_one_reaction();
}

SCENARIO ring_past_rejected = {
    "ring-past-rejected", start_watched, {p_follows_b, q_follows_p}, finish_watched, 3, 1,
};

/* The reaction is registered when q may follow already. */
static void start_late_reaction(void) {
    p = defer();
    q = defer();
    a = b = NULL;
}

static void p_follows_new_b(void) {
    b = reaction_of(&q, never, NULL);
    p_follows_b();
}

SCENARIO ring_through_late_reaction = {
    "ring-through-late-reaction",
    start_late_reaction,
    {p_follows_new_b, q_follows_p},
    finish_one_reaction,
    3,
    1,
};

/* What the handlers return ends the ring: p, q or both are rejected, and the reactions never. */
static void start_handled(void) {
    start_with(pass_on, recover);
}

static bool is_rejected(const deferred *it) {
    bool rejected = vow_promise_state(it->promise) == VOW_REJECTED;
    check_settled(it->promise, rejected ? VOW_REJECTED : VOW_FULFILLED, rejected ? VOW_ECYCLE : 3);
    return rejected;
}

static void finish_handled(void) {
    int rejected = is_rejected(&p) + 2 * is_rejected(&q);
    check_settled(a, VOW_FULFILLED, 3);
    check_settled(b, VOW_FULFILLED, 3);
    CHECK(rejected > 0 && recovered == (rejected == 3 ? 2 : 1));
    outcome(rejected - 1);
    let_go();
}

SCENARIO ring_through_handlers = {
    "ring-through-handlers", start_handled, {p_follows_b, q_follows_a}, finish_handled, 3, 3,
};
