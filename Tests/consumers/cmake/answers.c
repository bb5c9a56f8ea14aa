/* answers.c: a library of somebody else that makes promises. */
#include "answers.h"

static vow_value twice(vow_value input, void *context) {
    (void)context;
    return vow_int(2 * input.as.integer);
}

vow_promise *answers_twice(int64_t number) {
    return vow_then(vow_promise_with(vow_int(number)), twice, NULL);
}
