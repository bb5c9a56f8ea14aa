/* Promises/A+ 2.1.2: a fulfilled promise stays fulfilled, with one value. */
#include "final.h"

TEST("2.1.2: a promise that settles this way is fulfilled for every reader") {
    for_each(called_with_outcome, FULFILS, EVERY_WAY);
}

TEST("2.1.2.1: a fulfilled promise never changes its state, whoever tries") {
    for_each(stays_as_it_is, FULFILS, EVERY_WAY);
}

TEST("2.1.2.2: a fulfilled promise has a value, the same one for ever") {
    for_each(carries_one_outcome, FULFILS, EVERY_WAY);
}

TEST("2.1.2.2: the value of a fulfilled promise may be of any kind") {
    int target;
    const vow_value values[] = {
        vow_none(),           vow_bool(true),    vow_int(-1),         vow_double(0.5),
        vow_pointer(&target), vow_pointer(NULL), vow_string(NULL, 0), vow_list(NULL, 0),
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        vow_promise *promise = vow_promise_with(vow_value_retain(values[i]));
        ENDS_AS(vow_promise_retain(promise), VOW_FULFILLED, values[i]);
        ENDS_AS(promise, VOW_FULFILLED, values[i]);
        vow_value_release(values[i]);
    }
}
