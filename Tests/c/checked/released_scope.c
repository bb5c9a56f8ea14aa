/* Tests the checked build: a scope that was closed or released is caught wherever it is used. */
#include "aborts.h"

static vow_scope *released(void) {
    vow_scope *scope = vow_scope_create();
    vow_scope_release(scope);
    return scope;
}

static void use_add(void) {
    vow_scope_add(released(), fulfilled_int(1));
}

static void use_cancel(void) {
    vow_scope_cancel(released());
}

static void use_close(void) {
    vow_promise_release(vow_scope_close(released()));
}

static void use_release(void) {
    vow_scope_release(released());
}

TEST("a released scope is caught by every function that takes one, and that is named") {
    check_aborts(use_add, "vow_scope_add");
    check_aborts(use_cancel, "vow_scope_cancel");
    check_aborts(use_close, "vow_scope_close");
    check_aborts(use_release, "vow_scope_release");
}

static void add_to_closed(void) {
    vow_resolver *resolver;
    vow_scope *scope = vow_scope_create();
    vow_scope_add(scope, vow_promise_create(&resolver));
    vow_promise *end = vow_scope_close(scope);
    vow_scope_add(scope, fulfilled_int(1));
    vow_promise_release(end);
}

TEST("a closed scope is caught although it has members") {
    check_aborts(add_to_closed, "vow_scope_add");
}
