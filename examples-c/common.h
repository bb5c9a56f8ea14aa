/* common.h: what the examples share: printing a value, waiting for one, and leaving nothing. */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "vow.h"

/* Writes "label: value" (value borrowed). Errors show their domain, code and message. */
static inline void show(const char *label, vow_value value) {
    printf("%s: ", label);
    if (value.kind == VOW_NONE) {
        printf("nothing");
    } else if (value.kind == VOW_BOOL) {
        printf("%s", value.as.boolean ? "true" : "false");
    } else if (value.kind == VOW_INT) {
        printf("%" PRId64, value.as.integer);
    } else if (value.kind == VOW_STRING) {
        printf("\"%s\"", vow_string_bytes(value, NULL));
    } else if (value.kind == VOW_LIST) {
        printf("a list of %zu", vow_list_count(value));
    } else if (value.kind == VOW_ERROR) {
        printf("error %s %" PRId64 ", %s", vow_error_domain(value), vow_error_code(value),
               vow_error_message(value));
    } else {
        printf("a value of kind %" PRIu32, value.kind);
    }
    printf("\n");
}

/* Waits until promise (consumed) settles and returns its value or error (owned). */
static inline vow_value wait_for(vow_promise *promise) {
    vow_value outcome;
    int state = vow_await(promise, VOW_FOREVER, &outcome);
    vow_promise_release(promise);
    if (state != VOW_FULFILLED && state != VOW_REJECTED) {
        fprintf(stderr, "vow_await: %s\n", vow_error_name(state));
        exit(1);
    }
    return outcome;
}

/* Waits for promise (consumed) and shows how it ended. */
static inline void show_result(const char *label, vow_promise *promise) {
    vow_value outcome = wait_for(promise);
    show(label, outcome);
    vow_value_release(outcome);
}

/* The last line of a program that leaves nothing behind: says how many promises are still alive.
 * Returns what main should. */
static inline int nothing_left(void) {
    vow_statistics statistics = {.size = sizeof statistics};
    for (int i = 0; i < 2000 && vow_stats(&statistics) == 0 && statistics.live > 0; i++) {
        poll(NULL, 0, 1); /* a thread of the pool may need a moment to give its reference back */
    }
    printf("promises alive at the end: %" PRIu64 "\n", statistics.live);
    return statistics.live == 0 ? 0 : 1;
}

#endif
