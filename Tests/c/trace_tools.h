/* What the tests of tracing share beyond trace.h. */
#ifndef VOW_TEST_TRACE_TOOLS_H
#define VOW_TEST_TRACE_TOOLS_H

#include "trace.h"
#include "worker.h"

#include <link.h>
#include <locale.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

/* A promise that is called so, and its resolver. */
static inline vow_promise *named(const char *label, vow_resolver **resolver) {
    vow_promise *promise = vow_promise_create(resolver);
    vow_promise_set_label(promise, label);
    return promise;
}

static inline void fulfil(vow_resolver *resolver, vow_value value) {
    CHECK(vow_resolve(resolver, value));
    vow_resolver_release(resolver);
}

static inline vow_promise *called(vow_promise *promise, const char *label) {
    vow_promise_set_label(promise, label);
    return promise;
}

static inline vow_value pass(vow_value input, void *context) {
    (void)context;
    return vow_value_retain(input);
}

#endif
