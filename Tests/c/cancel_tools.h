/* What the tests of cancelling share. */
#ifndef VOW_TEST_CANCEL_TOOLS_H
#define VOW_TEST_CANCEL_TOOLS_H

#include "small_stack.h"
#include "worker.h"

/* Calls of a hook, and of its destroy. */
typedef counter hook;

static inline void hook_called(void *context) {
    atomic_fetch_add(&((hook *)context)->runs, 1);
}

static inline bool hook_is(hook *of, int runs, int ends) {
    return CHECK_INT_EQ(atomic_load(&of->runs), runs) && CHECK_INT_EQ(atomic_load(&of->ends), ends);
}

/* A pending promise whose producer asks to be told. */
static inline vow_promise *hooked(vow_resolver **resolver, hook *of) {
    vow_promise *promise = vow_promise_create(resolver);
    CHECK_INT_EQ(vow_resolver_on_cancel(*resolver, hook_called, of, counter_end), 0);
    return promise;
}

static inline vow_promise *counted(vow_executor *executor, vow_promise *promise, counter *of) {
    return link_full(executor, promise, counter_run, NULL, of, counter_end);
}

static inline bool is_cancelled(vow_promise *promise) {
    vow_value error = vow_none();
    return CHECK(vow_promise_peek(promise, &error)) && CHECK_INT_EQ(error.kind, VOW_ERROR) &&
           CHECK_INT_EQ(vow_error_code(error), VOW_ECANCELLED) &&
           CHECK_STR_EQ(vow_error_domain(error), "vow");
}

#endif
