/* Sizes, places and numbers of vow.h that a compiled program has inside. None of them changes
 * within a soname; a struct that the program gives grows at its end, and says its size. */
#include "tools.h"

TEST("vow_value is laid out as compiled programs have it") {
    CHECK_INT_EQ(sizeof(vow_value), 16);
    CHECK_INT_EQ(offsetof(vow_value, kind), 0);
    CHECK_INT_EQ(offsetof(vow_value, reserved), 4);
    CHECK_INT_EQ(offsetof(vow_value, as), 8);
}

TEST("vow_class is laid out as compiled programs have it") {
    CHECK_INT_EQ(sizeof(vow_class), 32);
    CHECK_INT_EQ(offsetof(vow_class, size), 0);
    CHECK_INT_EQ(offsetof(vow_class, name), 8);
    CHECK_INT_EQ(offsetof(vow_class, destroy), 16);
    CHECK_INT_EQ(offsetof(vow_class, subscribe), 24);
}

TEST("vow_reaction is laid out as compiled programs have it") {
    CHECK_INT_EQ(sizeof(vow_reaction), 72);
    CHECK_INT_EQ(offsetof(vow_reaction, size), 0);
    CHECK_INT_EQ(offsetof(vow_reaction, on_fulfilled), 8);
    CHECK_INT_EQ(offsetof(vow_reaction, on_rejected), 16);
    CHECK_INT_EQ(offsetof(vow_reaction, context), 24);
    CHECK_INT_EQ(offsetof(vow_reaction, destroy), 32);
    CHECK_INT_EQ(offsetof(vow_reaction, executor), 40);
    CHECK_INT_EQ(offsetof(vow_reaction, token), 48);
    CHECK_INT_EQ(offsetof(vow_reaction, flags), 56);
    CHECK_INT_EQ(offsetof(vow_reaction, label), 64);
}

TEST("vow_executor_class is laid out as compiled programs have it") {
    CHECK_INT_EQ(sizeof(vow_executor_class), 40);
    CHECK_INT_EQ(offsetof(vow_executor_class, size), 0);
    CHECK_INT_EQ(offsetof(vow_executor_class, submit), 8);
    CHECK_INT_EQ(offsetof(vow_executor_class, current), 16);
    CHECK_INT_EQ(offsetof(vow_executor_class, destroy), 24);
    CHECK_INT_EQ(offsetof(vow_executor_class, flags), 32);
}

TEST("vow_call is laid out as compiled programs have it") {
    CHECK_INT_EQ(sizeof(vow_call), 48);
    CHECK_INT_EQ(offsetof(vow_call, size), 0);
    CHECK_INT_EQ(offsetof(vow_call, context), 8);
    CHECK_INT_EQ(offsetof(vow_call, destroy), 16);
    CHECK_INT_EQ(offsetof(vow_call, executor), 24);
    CHECK_INT_EQ(offsetof(vow_call, token), 32);
    CHECK_INT_EQ(offsetof(vow_call, label), 40);
}

TEST("vow_fiber_options is laid out as compiled programs have it") {
    CHECK_INT_EQ(sizeof(vow_fiber_options), 40);
    CHECK_INT_EQ(offsetof(vow_fiber_options, size), 0);
    CHECK_INT_EQ(offsetof(vow_fiber_options, stack), 8);
    CHECK_INT_EQ(offsetof(vow_fiber_options, token), 16);
    CHECK_INT_EQ(offsetof(vow_fiber_options, destroy), 24);
    CHECK_INT_EQ(offsetof(vow_fiber_options, label), 32);
}

TEST("vow_retry_policy is laid out as compiled programs have it") {
    CHECK_INT_EQ(sizeof(vow_retry_policy), 64);
    CHECK_INT_EQ(offsetof(vow_retry_policy, size), 0);
    CHECK_INT_EQ(offsetof(vow_retry_policy, attempts), 8);
    CHECK_INT_EQ(offsetof(vow_retry_policy, first_delay_ns), 16);
    CHECK_INT_EQ(offsetof(vow_retry_policy, factor), 24);
    CHECK_INT_EQ(offsetof(vow_retry_policy, max_delay_ns), 32);
    CHECK_INT_EQ(offsetof(vow_retry_policy, jitter), 40);
    CHECK_INT_EQ(offsetof(vow_retry_policy, deadline_ns), 48);
    CHECK_INT_EQ(offsetof(vow_retry_policy, may_retry), 56);
}

TEST("vow_scope_options is laid out as compiled programs have it") {
    CHECK_INT_EQ(sizeof(vow_scope_options), 40);
    CHECK_INT_EQ(offsetof(vow_scope_options, size), 0);
    CHECK_INT_EQ(offsetof(vow_scope_options, flags), 8);
    CHECK_INT_EQ(offsetof(vow_scope_options, deadline_ns), 16);
    CHECK_INT_EQ(offsetof(vow_scope_options, grace_ns), 24);
    CHECK_INT_EQ(offsetof(vow_scope_options, label), 32);
}

TEST("vow_allocator is laid out as compiled programs have it") {
    CHECK_INT_EQ(sizeof(vow_allocator), 32);
    CHECK_INT_EQ(offsetof(vow_allocator, size), 0);
    CHECK_INT_EQ(offsetof(vow_allocator, allocate), 8);
    CHECK_INT_EQ(offsetof(vow_allocator, deallocate), 16);
    CHECK_INT_EQ(offsetof(vow_allocator, context), 24);
}

TEST("vow_statistics is laid out as compiled programs have it") {
    CHECK_INT_EQ(sizeof(vow_statistics), 80);
    CHECK_INT_EQ(offsetof(vow_statistics, size), 0);
    CHECK_INT_EQ(offsetof(vow_statistics, created), 8);
    CHECK_INT_EQ(offsetof(vow_statistics, settled), 16);
    CHECK_INT_EQ(offsetof(vow_statistics, live), 24);
    CHECK_INT_EQ(offsetof(vow_statistics, pending), 32);
    CHECK_INT_EQ(offsetof(vow_statistics, handlers), 40);
    CHECK_INT_EQ(offsetof(vow_statistics, bytes), 48);
    CHECK_INT_EQ(offsetof(vow_statistics, spare), 56);
    CHECK_INT_EQ(offsetof(vow_statistics, stacks), 64);
    CHECK_INT_EQ(offsetof(vow_statistics, deepest), 72);
}

TEST("constants are the numbers that compiled programs have inside") {
    CHECK_INT_EQ(VOW_NONE, 0);
    CHECK_INT_EQ(VOW_BOOL, 1);
    CHECK_INT_EQ(VOW_INT, 2);
    CHECK_INT_EQ(VOW_DOUBLE, 3);
    CHECK_INT_EQ(VOW_POINTER, 4);
    CHECK_INT_EQ(VOW_STRING, 5);
    CHECK_INT_EQ(VOW_OBJECT, 6);
    CHECK_INT_EQ(VOW_LIST, 7);
    CHECK_INT_EQ(VOW_ERROR, 8);
    CHECK_INT_EQ(VOW_PROMISE, 9);
    CHECK_INT_EQ(VOW_NUL_TERMINATED, SIZE_MAX);
    CHECK_INT_EQ(VOW_EINVAL, -1);
    CHECK_INT_EQ(VOW_ENOMEM, -2);
    CHECK_INT_EQ(VOW_EFORKED, -3);
    CHECK_INT_EQ(VOW_EBROKEN, -4);
    CHECK_INT_EQ(VOW_ECYCLE, -5);
    CHECK_INT_EQ(VOW_ECANCELLED, -6);
    CHECK_INT_EQ(VOW_ETIMEDOUT, -7);
    CHECK_INT_EQ(VOW_EDEADLOCK, -8);
    CHECK_INT_EQ(VOW_EAGGREGATE, -9);
    CHECK_INT_EQ(VOW_ESHUTDOWN, -10);
    CHECK_INT_EQ(VOW_EREASON, -11);
    CHECK_INT_EQ(VOW_PENDING, 0);
    CHECK_INT_EQ(VOW_FULFILLED, 1);
    CHECK_INT_EQ(VOW_REJECTED, 2);
    CHECK_INT_EQ(VOW_COOPERATIVE, 1);
    CHECK_INT_EQ(VOW_FINALLY, 1);
    CHECK_INT_EQ(VOW_ANY_CODE, INT64_MIN);
    CHECK_INT_EQ(VOW_FOREVER, -1);
    CHECK_INT_EQ(VOW_BARRIER, 1);
    CHECK_INT_EQ(VOW_SERIAL, 2);
    CHECK_INT_EQ(VOW_READ, 1);
    CHECK_INT_EQ(VOW_WRITE, 2);
    CHECK_INT_EQ(VOW_NS, 1);
    CHECK_INT_EQ(VOW_US, 1000);
    CHECK_INT_EQ(VOW_MS, 1000000);
    CHECK_INT_EQ(VOW_SECOND, 1000000000);
    CHECK_INT_EQ(VOW_WAITING, 0);
    CHECK_INT_EQ(VOW_RUNNING, 1);
    CHECK_INT_EQ(VOW_HAS_RUN, 2);
    CHECK_INT_EQ(VOW_NEVER_RUNS, 3);
    CHECK_INT_EQ(VOW_SCOPE_FAIL_FAST, 1);
    CHECK_INT_EQ(VOW_GRAPH_DOT, 0);
    CHECK_INT_EQ(VOW_GRAPH_JSON, 1);
}
