/* What the tests of map and its relatives share. */
#ifndef VOW_TEST_MAP_TOOLS_H
#define VOW_TEST_MAP_TOOLS_H

#include "meter.h"
#include "small_stack.h"

static inline vow_value numbers(int64_t count) {
    vow_value *items = malloc(sizeof(vow_value) * (size_t)(count + 1));
    for (int64_t i = 0; i < count; i++) {
        items[i] = vow_int(i);
    }
    vow_value list = vow_list(items, (size_t)count);
    free(items);
    return list;
}

static inline void note_stop(void *context) {
    atomic_fetch_add((atomic_int *)context, 1);
}

static inline vow_value append_digit(vow_value accumulated, vow_value item, void *context) {
    (void)context;
    if (item.as.integer == 9) {
        return vow_error("test", 9, "nine");
    }
    int64_t sum = 10 * accumulated.as.integer + item.as.integer;
    return item.as.integer % 2 ? vow_int(sum) : vow_from_promise(fulfilled_int(sum));
}

static inline bool below_limit(vow_value state, void *context) {
    return state.as.integer < *(int64_t *)context;
}

static inline vow_value promised_next(vow_value input, void *context) {
    (void)context;
    return vow_from_promise(fulfilled_int(input.as.integer + 1));
}

#endif
