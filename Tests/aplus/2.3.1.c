/* Promises/A+ 2.3.1: a promise that is resolved with itself is rejected with VOW_ECYCLE. */
#include "offer.h"

static void is_cycle(vow_promise *promise) {
    vow_value out = vow_none();
    CHECK_INT_EQ(vow_await(promise, LONG_ENOUGH, &out), VOW_REJECTED);
    CHECK_STR_EQ(vow_error_domain(out), "vow");
    CHECK_INT_EQ(vow_error_code(out), VOW_ECYCLE);
    vow_value_release(out);
    vow_promise_release(promise);
}

/* A handler that returns the promise which it decides. */
static vow_value give_own(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(vow_promise_retain(*(vow_promise **)context));
}

static void handler_returns_own(trial *self) {
    vow_promise *own = NULL;
    own = either_on(self->executor, vow_promise_retain(self->promise), give_own, &own);
    trial_settle(self);
    is_cycle(own);
}

TEST("2.3.1: a handler for a value that returns its own promise") {
    for_each(handler_returns_own, FULFILS, STILL_PENDING);
}

TEST("2.3.1: a handler for an error that returns its own promise") {
    for_each(handler_returns_own, REJECTS, STILL_PENDING);
}

TEST("2.3.1: a resolver that is given its own promise, and that decides nothing afterwards") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(vow_resolve(resolver, vow_from_promise(vow_promise_retain(promise))));
    CHECK(!vow_resolve(resolver, vow_int(1)));
    CHECK_INT_EQ(vow_promise_state(promise), VOW_REJECTED);
    vow_resolver_release(resolver);
    is_cycle(promise);
}

TEST("2.3.1: the handlers that wait for it get the error, on each executor") {
    vow_executor *serial = vow_executor_serial("cycle");
    vow_executor *executors[3] = {vow_executor_inline(), vow_executor_pool(), serial};
    for (int i = 0; i < 3; i++) {
        vow_resolver *resolver;
        vow_promise *promise = vow_promise_create(&resolver);
        vow_promise *code =
            link_full(executors[i], vow_promise_retain(promise), add_one, give_code, NULL, NULL);
        CHECK(vow_resolve(resolver, vow_from_promise(promise)));
        vow_resolver_release(resolver);
        CHECK_INT_EQ(int_of(code), VOW_ECYCLE);
    }
    vow_executor_release(serial);
}

/* A thenable that gives the promise which asked it. */
static bool give_asker(void *pointer, vow_resolver *resolver) {
    CHECK(vow_resolve(resolver, vow_from_promise(vow_promise_retain(*(vow_promise **)pointer))));
    vow_resolver_release(resolver);
    return true;
}

static const vow_class mirror = {sizeof(vow_class), "mirror", NULL, give_asker};

TEST("2.3.1: a thenable that gives back the promise that follows it") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(vow_resolve(resolver, vow_object(&promise, &mirror)));
    vow_resolver_release(resolver);
    is_cycle(promise);
}
