/* Tests chapter 7: which of several loops of one thread gets what is made there. */
#include "tools.h"

TEST("of two loops of a thread, the one made last gets what is made there") {
    vow_loop *first = vow_loop_create();
    vow_loop *second = vow_loop_create();
    CHECK(vow_executor_current() == vow_loop_executor(second));
    vow_loop_destroy(second);
    CHECK(vow_executor_current() == vow_loop_executor(first));
    vow_loop_destroy(first);
}

TEST("an older loop that is run again gets what is made there from then on") {
    vow_loop *first = vow_loop_create();
    vow_loop *second = vow_loop_create();
    CHECK_INT_EQ(vow_loop_run_once(first, 0), 0);
    CHECK(vow_executor_current() == vow_loop_executor(first));
    vow_promise *delay = vow_delay(1);
    CHECK_INT_EQ(vow_loop_run_until(first, delay, LONG_ENOUGH), VOW_FULFILLED);
    vow_promise_release(delay);
    CHECK_INT_EQ(vow_loop_run_once(second, 0), 0);
    CHECK(vow_executor_current() == vow_loop_executor(second));
    vow_loop_destroy(first);
    CHECK(vow_executor_current() == vow_loop_executor(second));
    vow_loop_destroy(second);
}
