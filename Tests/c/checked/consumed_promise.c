/* Tests the checked build: a promise that is used after a function consumed it is caught, although
 * what reads it keeps its memory, and both functions are named. */
#include "aborts.h"

static vow_resolver *resolver;

/* A pending promise, which its resolver keeps. */
static vow_promise *pending(void) {
    return vow_promise_create(&resolver);
}

static void read_after_then(void) {
    vow_promise *promise = pending();
    vow_promise *next = vow_then(promise, add_one, NULL);
    vow_promise_state(promise);
    vow_promise_release(next);
}

static void then_twice(void) {
    vow_promise *promise = pending();
    vow_promise *one = vow_then(promise, add_one, NULL);
    vow_promise *other = vow_then(promise, add_one, NULL);
    vow_promise_release(one);
    vow_promise_release(other);
}

static void release_after_finally(void) {
    vow_promise *promise = pending();
    vow_promise *next = vow_finally(promise, add_one, NULL);
    vow_promise_release(promise);
    vow_promise_release(next);
}

static void await_after_catch(void) {
    vow_promise *promise = pending();
    vow_promise *next = vow_catch(promise, add_one, NULL);
    vow_await(promise, 0, NULL);
    vow_promise_release(next);
}

static void retain_after_catch_if(void) {
    vow_promise *promise = pending();
    vow_promise *next = vow_catch_if(promise, NULL, VOW_ANY_CODE, add_one, NULL);
    vow_promise_retain(promise);
    vow_promise_release(next);
}

static void cancel_after_timeout(void) {
    vow_promise *promise = pending();
    vow_promise *next = vow_timeout(promise, VOW_SECOND);
    vow_cancel(promise);
    vow_promise_release(next);
}

static void peek_after_detach(void) {
    vow_promise *promise = pending();
    vow_detach(promise);
    vow_promise_peek(promise, NULL);
}

static void label_after_as_value(void) {
    vow_promise *promise = pending();
    vow_value value = vow_from_promise(promise);
    vow_promise_set_progress(promise, 0.5, NULL);
    vow_value_release(value);
}

static void then_after_all(void) {
    vow_promise *promise = pending();
    vow_promise *whole = vow_all(&promise, 1);
    vow_promise *next = then_inline(promise, add_one, NULL);
    vow_promise_release(next);
    vow_promise_release(whole);
}

static void twice_in_a_race(void) {
    vow_promise *both[2] = {pending(), NULL};
    both[1] = both[0];
    vow_promise_release(vow_race(both, 2));
}

static void add_after_reduce(void) {
    vow_scope *scope = vow_scope_create();
    vow_promise *promise = pending();
    vow_promise *whole =
        vow_reduce(&promise, 1, vow_none(), (vow_reducer)(void (*)(void))add_one, NULL);
    vow_scope_add(scope, promise);
    vow_promise_release(whole);
}

static void add_twice(void) {
    vow_scope *scope = vow_scope_create();
    vow_promise *promise = pending();
    vow_scope_add(scope, promise);
    vow_scope_add(scope, promise);
}

#define SAYS(function, taker) function ": the promise was consumed before, by " taker "\n"

TEST("a promise that was consumed is caught while it is pending, and who took it is named") {
    check_aborts(read_after_then, SAYS("vow_promise_state", "vow_then"));
    check_aborts(then_twice, SAYS("vow_then", "vow_then"));
    check_aborts(release_after_finally, SAYS("vow_promise_release", "vow_finally"));
    check_aborts(await_after_catch, SAYS("vow_await", "vow_catch"));
    check_aborts(retain_after_catch_if, SAYS("vow_promise_retain", "vow_catch_if"));
    check_aborts(cancel_after_timeout, SAYS("vow_cancel_with", "vow_timeout"));
    check_aborts(peek_after_detach, SAYS("vow_promise_peek", "vow_detach"));
    check_aborts(label_after_as_value, SAYS("vow_promise_set_progress", "vow_from_promise"));
}

TEST("the same where many are consumed, and for one that is given twice") {
    check_aborts(then_after_all, SAYS("vow_then_with", "vow_all"));
    check_aborts(twice_in_a_race, SAYS("vow_race", "vow_race"));
    check_aborts(add_after_reduce, SAYS("vow_scope_add", "vow_reduce"));
    check_aborts(add_twice, SAYS("vow_scope_add", "vow_scope_add"));
}

static void read_freed(void) {
    vow_promise *promise = fulfilled_int(1);
    vow_promise *next = vow_then(promise, add_one, NULL);
    vow_await(next, VOW_FOREVER, NULL);
    vow_promise_release(next);
    vow_promise_state(promise);
}

static void read_released(void) {
    vow_promise *promise = fulfilled_int(1);
    vow_promise_release(promise);
    vow_promise_state(promise);
}

TEST("who took it is named after it is freed, too") {
    check_aborts(read_freed, SAYS("vow_promise_state", "vow_then"));
    check_aborts(read_released, SAYS("vow_promise_state", "vow_promise_release"));
}

TEST("what was retained may be used after the other handle was consumed") {
    vow_promise *promise = pending();
    vow_promise *next = then_inline(vow_promise_retain(promise), add_one, NULL);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    vow_value out;
    CHECK(vow_promise_peek(promise, &out) && out.as.integer == 1);
    vow_promise_release(promise);
    CHECK_INT_EQ(int_of(next), 2);
}

TEST("a promise that comes back from a value has a handle again") {
    vow_promise *promise = pending();
    vow_value value = vow_from_promise(promise);
    vow_promise *borrowed = NULL;
    CHECK(vow_as_promise(value, &borrowed) && borrowed == promise);
    CHECK_INT_EQ(vow_promise_state(borrowed), VOW_PENDING);
    vow_promise_release(vow_promise_retain(borrowed));
    CHECK_INT_EQ(vow_promise_state(borrowed), VOW_PENDING);
    promise = vow_promise_with(value);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    vow_promise *same =
        vow_reduce(NULL, 0, vow_from_promise(promise), (vow_reducer)(void (*)(void))add_one, NULL);
    same = vow_timeout(same, VOW_FOREVER);
    CHECK(vow_resolve(resolver, vow_int(3)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(same), 3);
}

TEST("a promise that a function gives back has a handle again") {
    vow_promise *promise = vow_timeout(fulfilled_int(1), VOW_SECOND);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_FULFILLED);
    CHECK_INT_EQ(int_of(vow_timeout(promise, VOW_FOREVER)), 1);
}

TEST("a promise that is consumed where it cannot be used is consumed once") {
    vow_promise *promise = vow_then(pending(), NULL, NULL);
    CHECK_INT_EQ(code_of(promise), VOW_EINVAL);
    vow_resolver_release(resolver);
    vow_promise *members[2] = {pending(), NULL};
    CHECK_INT_EQ(code_of(vow_all(members, 2)), VOW_EINVAL);
    vow_resolver_release(resolver);
}
