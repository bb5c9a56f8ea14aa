/* book.h: what the programs of the book share. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <vow.h>

/* Waits for promise (consumed) and prints how it ended. */
static inline void show(const char *label, vow_promise *promise) {
    vow_value outcome;
    char text[200];
    int state = vow_await(promise, VOW_FOREVER, &outcome);
    vow_promise_release(promise);
    if (state < 0) {
        fprintf(stderr, "%s: %s\n", label, vow_error_name(state));
        exit(1);
    }
    vow_value_describe(outcome, text, sizeof text);
    printf("%s: %s\n", label, text);
    vow_value_release(outcome);
}

/* The leak gate: what main returns. No promise may be alive at the end, and no value kept. */
static inline int nothing_left(void) {
    int64_t alive = vow_shutdown(VOW_FOREVER);
    vow_statistics left = {.size = sizeof left};
    if (alive == 0 && vow_stats(&left) == 0 && left.bytes == 0)
        return 0;
    fprintf(stderr, "left: %" PRId64 " promises, %" PRIu64 " bytes\n", alive, left.bytes);
    return 1;
}
