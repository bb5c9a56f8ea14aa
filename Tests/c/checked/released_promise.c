/* Tests the checked build: a promise handle that was released is caught wherever it is used. */
#include "aborts.h"

static vow_promise *released(void) {
    vow_promise *promise = fulfilled_int(1);
    vow_promise_release(promise);
    return promise;
}

static void use_state(void) {
    vow_promise_state(released());
}

static void use_peek(void) {
    vow_promise_peek(released(), NULL);
}

static void use_await(void) {
    vow_await(released(), 0, NULL);
}

static void use_then(void) {
    vow_detach(vow_then(released(), add_one, NULL));
}

static void use_catch(void) {
    vow_detach(vow_catch(released(), add_one, NULL));
}

static void use_finally(void) {
    vow_detach(vow_finally(released(), add_one, NULL));
}

static void use_then_with(void) {
    then_inline(released(), add_one, NULL);
}

static void use_retain(void) {
    vow_promise_retain(released());
}

static void use_release(void) {
    vow_promise_release(released());
}

static void use_as_value(void) {
    vow_value_release(vow_from_promise(released()));
}

TEST("a released promise is caught by every function that takes one, and that is named") {
    check_aborts(use_state, "vow_promise_state");
    check_aborts(use_peek, "vow_promise_peek");
    check_aborts(use_await, "vow_await");
    check_aborts(use_then, "vow_then");
    check_aborts(use_catch, "vow_catch");
    check_aborts(use_finally, "vow_finally");
    check_aborts(use_then_with, "vow_then_with");
    check_aborts(use_retain, "vow_promise_retain");
    check_aborts(use_release, "vow_promise_release");
    check_aborts(use_as_value, "vow_from_promise");
}

static void use_consumed(void) {
    vow_promise *promise = fulfilled_int(1);
    vow_promise *next = then_inline(promise, add_one, NULL);
    vow_promise_state(promise);
    vow_promise_release(next);
}

TEST("a promise that a link consumed is a released one") {
    check_aborts(use_consumed, "vow_promise_state");
}

static void use_with_live_resolver(void) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise_release(promise);
    vow_promise_state(promise);
    vow_resolver_release(resolver);
}

TEST("a released promise is caught although its resolver lives") {
    check_aborts(use_with_live_resolver, "vow_promise_state");
}

static void use_after_others(void) {
    vow_promise *promise = released();
    vow_promise *others[64];
    for (int i = 0; i < 64; i++) {
        others[i] = fulfilled_int(i);
    }
    vow_promise_state(promise);
    for (int i = 0; i < 64; i++) {
        vow_promise_release(others[i]);
    }
}

TEST("a released promise is caught although others were made since") {
    check_aborts(use_after_others, "vow_promise_state");
}
