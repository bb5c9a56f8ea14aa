/* Tests the checked build: a loop that was destroyed is caught wherever it is used. */
#include "aborts.h"

static vow_loop *destroyed(void) {
    vow_loop *loop = vow_loop_create_virtual();
    vow_loop_destroy(loop);
    return loop;
}

static void use_executor(void) {
    vow_loop_executor(destroyed());
}

static void use_fd(void) {
    vow_loop_fd(destroyed());
}

static void use_advance(void) {
    vow_loop_advance(destroyed(), 1);
}

static void use_run_once(void) {
    vow_loop_run_once(destroyed(), 0);
}

static void use_run_until(void) {
    vow_promise *promise = fulfilled_int(1);
    vow_loop_run_until(destroyed(), promise, 0);
    vow_promise_release(promise);
}

static void use_wake(void) {
    vow_loop_wake(destroyed());
}

static void use_destroy(void) {
    vow_loop_destroy(destroyed());
}

TEST("a destroyed loop is caught by every function that takes one, and that is named") {
    check_aborts(use_executor, "vow_loop_executor");
    check_aborts(use_fd, "vow_loop_fd");
    check_aborts(use_advance, "vow_loop_advance");
    check_aborts(use_run_once, "vow_loop_run_once");
    check_aborts(use_run_until, "vow_loop_run_until");
    check_aborts(use_wake, "vow_loop_wake");
    check_aborts(use_destroy, "vow_loop_destroy");
}

static void destroy_kept(void) {
    vow_loop *loop = vow_loop_create();
    vow_executor *executor = vow_executor_retain(vow_loop_executor(loop));
    vow_loop_destroy(loop);
    vow_loop_destroy(loop);
    vow_executor_release(executor);
}

TEST("a destroyed loop is caught although its executor lives") {
    check_aborts(destroy_kept, "vow_loop_destroy");
}

static void use_own_executor(void) {
    vow_loop *loop = vow_loop_create();
    vow_executor *executor = vow_loop_executor(loop);
    vow_loop_destroy(loop);
    vow_detach(vow_async(executor, add_one, NULL));
}

TEST("an executor that was borrowed of a destroyed loop is caught") {
    check_aborts(use_own_executor, "vow_async");
}

static vow_value destroy_and_use(vow_value input, void *context) {
    vow_loop *loop = context;
    (void)input;
    vow_loop_destroy(loop);
    return vow_int(vow_loop_run_once(loop, 0));
}

TEST("a handler that destroys its loop may still ask it to run, and is told VOW_ESHUTDOWN") {
    vow_loop *loop = vow_loop_create();
    vow_promise *promise =
        then_on(vow_loop_executor(loop), fulfilled_int(1), destroy_and_use, loop);
    CHECK_INT_EQ(vow_loop_run_once(loop, 0), VOW_ESHUTDOWN);
    CHECK_INT_EQ(int_of(promise), VOW_ESHUTDOWN);
}
