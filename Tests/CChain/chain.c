/* C links for chains that go through C and Swift, written against vow.h as any C program is. */
#include "chain.h"

#include "vow.h"

#include <inttypes.h>
#include <stdio.h>

static vow_value same(vow_value input, void *context) {
    (void)input;
    return vow_int((int64_t)(intptr_t)context);
}

vow_promise *chain_number(int64_t number) {
    return vow_async(vow_executor_pool(), same, (void *)(intptr_t)number);
}

vow_promise *chain_text(const char *text) {
    return vow_promise_with(vow_string(text, VOW_NUL_TERMINATED));
}

vow_promise *chain_failure(int64_t code) {
    return vow_promise_with(vow_error("chain", code, "made in C"));
}

static vow_value doubled(vow_value input, void *context) {
    (void)context;
    return vow_int(2 * input.as.integer);
}

vow_promise *chain_doubled(vow_promise *promise) {
    return vow_then(promise, doubled, NULL);
}

static vow_value described(vow_value error, void *context) {
    (void)context;
    char text[256];
    snprintf(text, sizeof text, "%s:%" PRId64 ":%s", vow_error_domain(error), vow_error_code(error),
             vow_error_message(error));
    return vow_string(text, VOW_NUL_TERMINATED);
}

vow_promise *chain_described(vow_promise *promise) {
    return vow_catch(promise, described, NULL);
}

int64_t chain_wait_number(vow_promise *promise) {
    vow_value value;
    int state = vow_await(promise, VOW_FOREVER, &value);
    int64_t number = state == VOW_FULFILLED ? value.as.integer : -vow_error_code(value);
    vow_value_release(value);
    return number;
}
