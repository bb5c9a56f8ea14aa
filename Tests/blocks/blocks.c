/* The block forms of vow.h, chapter 4: each block is copied, and outlives its scope. */
#include "../c/harness.h"

static vow_value fail_with(int64_t code) {
    return vow_error("blocks", code, "planned");
}

TEST("vow_then_b runs a block with what it captured") {
    int64_t summand = 40;
    vow_promise *promise = vow_then_b(vow_promise_with(vow_int(2)), ^(vow_value input) {
      return vow_int(input.as.integer + summand);
    });
    vow_value value;
    CHECK_INT_EQ(vow_await(promise, VOW_FOREVER, &value), VOW_FULFILLED);
    CHECK_INT_EQ(value.as.integer, 42);
    vow_promise_release(promise);
}

TEST("vow_catch_b gets the error, which passes by vow_then_b") {
    __block int wrong = 0;
    vow_promise *promise = vow_then_b(vow_promise_with(fail_with(7)), ^(vow_value input) {
      wrong++;
      return vow_value_retain(input);
    });
    promise = vow_catch_b(promise, ^(vow_value error) {
      return vow_int(vow_error_code(error));
    });
    vow_value value;
    CHECK_INT_EQ(vow_await(promise, VOW_FOREVER, &value), VOW_FULFILLED);
    CHECK_INT_EQ(value.as.integer, 7);
    CHECK_INT_EQ(wrong, 0);
    vow_promise_release(promise);
}

TEST("vow_finally_b passes the outcome on; its own result does not count") {
    vow_promise *promise = vow_finally_b(vow_promise_with(vow_int(5)), ^(vow_value input) {
      return vow_int(input.as.integer + 100);
    });
    vow_value value;
    CHECK_INT_EQ(vow_await(promise, VOW_FOREVER, &value), VOW_FULFILLED);
    CHECK_INT_EQ(value.as.integer, 5);
    vow_promise_release(promise);
}
