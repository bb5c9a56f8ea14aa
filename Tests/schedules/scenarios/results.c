/* A handler's result counts before other foreign code runs, which may wait for it or give it up. */
#include "../scenario.h"

#include <stddef.h>
#include <string.h>

/* `result` is the promise of a handler of `source`; another handle to it is given to `other`. */
static deferred source, inner, other;
static vow_promise *result, *given;
static call calls[1];
static bool has_begun;
static int64_t expected;

/* Where the foreign code ran: before the handler, after it, or on another thread. */
static enum { NOWHERE = -1, BEFORE, AFTER, ELSEWHERE } place;

static void foreign_code_begins(void) {
    CHECK(place == NOWHERE);
    place = scheduler_self() != 0 ? ELSEWHERE : has_begun ? AFTER : BEFORE;
}

static void wait_for_result(void *pointer) {
    vow_value value;
    (void)pointer;
    foreign_code_begins();
    CHECK(vow_await(result, VOW_FOREVER, &value) == VOW_FULFILLED);
    CHECK(value.as.integer == expected);
}

static void let_go_of_result(void *pointer) {
    vow_promise *last = result;
    (void)pointer;
    foreign_code_begins();
    result = NULL;
    vow_promise_release(last);
}

static vow_value object_that_waits(void) {
    static const vow_class cls = {sizeof cls, "waiting", wait_for_result, NULL};
    return vow_object(NULL, &cls);
}

static vow_value give_number(vow_value input, void *context) {
    (void)input;
    (void)context;
    has_begun = true;
    scheduler_point();
    return vow_int(14);
}

static vow_value give_inner(vow_value input, void *context) {
    (void)input;
    (void)context;
    has_begun = true;
    return vow_from_promise(vow_promise_retain(inner.promise));
}

static vow_value give_object(vow_value input, void *context) {
    (void)input;
    (void)context;
    has_begun = true;
    return object_that_waits();
}

static vow_value never(vow_value input, void *context) {
    (void)input;
    (void)context;
    CHECK(!"a skipped handler ran");
    return vow_none();
}

static vow_promise *react(vow_handler fulfilled, uint32_t flags, void (*destroy)(void *)) {
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = fulfilled;
    reaction.on_rejected = never;
    reaction.destroy = destroy;
    reaction.executor = vow_executor_inline();
    reaction.flags = flags;
    return vow_then_with(vow_promise_retain(source.promise), &reaction);
}

static void start_with(vow_handler handler, uint32_t flags, int64_t number) {
    source = defer();
    inner = defer();
    other = defer();
    memset(calls, 0, sizeof calls);
    has_begun = false;
    place = NOWHERE;
    expected = number;
    result = react(handler, flags, NULL);
    given = vow_promise_retain(result);
    on_settled(other.promise, NULL, &calls[0]);
}

static void start(void) {
    start_with(give_number, 0, 14);
}

static void start_inner(void) {
    start_with(give_inner, 0, 14);
}

static void start_finally(void) {
    start_with(give_object, VOW_FINALLY, 7);
}

static void settle_source(void) {
    CHECK(vow_resolve(source.resolver, vow_int(7)));
}

/* Its context is destroyed: by whom depends on how far the handler is. */
static void register_skipped(void) {
    vow_promise_release(react(NULL, 0, wait_for_result));
}

static void register_skipped_that_lets_go(void) {
    vow_promise_release(react(NULL, 0, let_go_of_result));
}

static void follow_result(void) {
    CHECK(vow_resolve(other.resolver, vow_from_promise(given)));
    given = NULL;
}

static void settle_inner_and_follow(void) {
    CHECK(vow_resolve(inner.resolver, vow_int(14)));
    follow_result();
}

static void await_result(void) {
    vow_value value;
    CHECK(vow_await(given, VOW_FOREVER, &value) == VOW_FULFILLED);
    CHECK(value.as.integer == expected);
    follow_result();
}

static void finish(void) {
    check_once(&calls[0], false, expected);
    outcome((int)place);
    vow_promise_release(result);
    release(&source);
    release(&inner);
    release(&other);
}

SCENARIO result_before_context = {
    "result-before-context", start, {settle_source, register_skipped, follow_result}, finish, 2, 3,
};

SCENARIO result_before_release = {
    "result-before-release",
    start,
    {settle_source, register_skipped_that_lets_go, follow_result},
    finish,
    2,
    3,
};

/* The handler's promise is pending: the wait in the destructor is for the third thread. */
SCENARIO inner_before_context = {
    "inner-before-context",
    start_inner,
    {settle_source, register_skipped, settle_inner_and_follow},
    finish,
    2,
    3,
};

/* What a finally returned is of no interest, and waits for the finally as it is freed. */
static void finish_object(void) {
    CHECK(place == AFTER);
    place = BEFORE;
    finish();
}

SCENARIO result_before_object = {
    "result-before-object", start_finally, {settle_source, await_result}, finish_object, 3, 1,
};

/* The handler's input is freed with the promise it reads, whose last handle the other thread has.
 */
static void settle_with_object(void) {
    CHECK(vow_resolve(source.resolver, object_that_waits()));
    vow_resolver_release(source.resolver);
    source.resolver = NULL;
}

static void let_go_of_source(void) {
    vow_promise_release(source.promise);
    source.promise = NULL;
}

static void finish_input(void) {
    place = place == AFTER ? BEFORE : AFTER;
    finish();
}

SCENARIO result_before_input = {
    "result-before-input", start, {settle_with_object, let_go_of_source, await_result},
    finish_input,          2,     2,
};

/* Both come while the first handler runs, and are delivered together: the context of the one waits
 * for the other. */
static vow_promise *first;

static void start_late(void) {
    start();
    first = result;
    result = NULL;
}

static void wait_for_result_if_known(void *pointer) {
    if (result != NULL) {
        wait_for_result(pointer);
    } else {
        foreign_code_begins();
    }
}

static void register_skipped_and_result(void) {
    vow_promise_release(react(NULL, 0, wait_for_result_if_known));
    result = react(give_number, 0, NULL);
    follow_result();
}

static void finish_late(void) {
    vow_promise_release(first);
    finish();
}

SCENARIO late_before_context = {
    "late-before-context", start_late, {settle_source, register_skipped_and_result},
    finish_late,           2,          3,
};
