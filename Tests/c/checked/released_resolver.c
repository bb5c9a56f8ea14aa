/* Tests the checked build: a resolver handle that was released is caught wherever it is used. */
#include "aborts.h"

/* A released resolver; its promise lives on. */
static vow_resolver *released(void) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_resolver_release(resolver);
    vow_promise_peek(promise, NULL);
    return resolver;
}

static void use_resolve(void) {
    vow_resolve(released(), vow_int(1));
}

static void use_reject(void) {
    vow_reject(released(), vow_error("test", 1, NULL));
}

static void use_retain(void) {
    vow_resolver_retain(released());
}

static void use_release(void) {
    vow_resolver_release(released());
}

TEST("a released resolver is caught by every function that takes one, and that is named") {
    check_aborts(use_resolve, "vow_resolve");
    check_aborts(use_reject, "vow_reject");
    check_aborts(use_retain, "vow_resolver_retain");
    check_aborts(use_release, "vow_resolver_release");
}

static void resolve_freed(void) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_resolve(resolver, vow_int(1));
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    vow_resolve(resolver, vow_int(2));
}

TEST("a resolver whose promise is freed is caught too") {
    check_aborts(resolve_freed, "vow_resolve");
}
