/* Tests vow_reduce, vow_repeat and vow_catch_if. */
#include "map_tools.h"

TEST("vow_reduce takes the promises in turn") {
    vow_resolver *resolver;
    vow_promise *promises[4] = {fulfilled_int(2), vow_promise_create(&resolver), fulfilled_int(4),
                                fulfilled_int(5)};
    vow_promise *reduced = vow_reduce(promises, 4, vow_int(1), append_digit, NULL);
    CHECK_INT_EQ(vow_await(reduced, 5 * MILLISECOND, NULL), VOW_PENDING);
    vow_resolve(resolver, vow_int(3));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(reduced), 12345);
    CHECK_INT_EQ(int_of(vow_reduce(NULL, 0, vow_int(6), append_digit, NULL)), 6);
    CHECK_INT_EQ(code_of(vow_reduce(NULL, 3, numbers(2), append_digit, NULL)), VOW_EINVAL);
    vow_promise *with_null[3] = {fulfilled_int(2), NULL, fulfilled_int(4)};
    CHECK_INT_EQ(code_of(vow_reduce(with_null, 3, numbers(2), append_digit, NULL)), VOW_EINVAL);
}

TEST("vow_reduce is rejected with the place, and gives the rest up") {
    for (int by_function = 0; by_function < 3; by_function++) {
        vow_resolver *resolver;
        atomic_int stopped = 0;
        vow_promise *promises[4] = {fulfilled_int(2),
                                    by_function == 1 ? fulfilled_int(9) : rejected_code(9),
                                    vow_promise_create(&resolver), rejected_code(10)};
        vow_resolver_on_cancel(resolver, note_stop, &stopped, NULL);
        vow_promise *reduced = vow_reduce(promises, 4, vow_int(1), append_digit, NULL);
        vow_value out = vow_none();
        if (by_function < 2) {
            CHECK_INT_EQ(vow_await(reduced, LONG_ENOUGH, &out), VOW_REJECTED);
            CHECK_INT_EQ(vow_error_code(out), 9);
            CHECK_INT_EQ(vow_error_index(out), 1);
            vow_value_release(out);
        } else {
            vow_cancel(reduced);
        }
        CHECK(reaches(&stopped, 1));
        vow_promise_release(reduced);
        vow_resolver_release(resolver);
    }
}

static vow_value forked_next(vow_value input, void *context) {
    (void)context;
    if (input.as.integer == 5) {
        return vow_error("test", 5, "five");
    }
    return vow_from_promise(vow_then(fulfilled_int(input.as.integer), add_one, NULL));
}

static void *repeat_often(void *context) {
    int64_t limit = 200000;
    vow_executor_set_default(vow_executor_inline());
    vow_statistics before = harness_stats();
    vow_promise *loop = vow_repeat(vow_int(0), below_limit, promised_next, &limit);
    CHECK(harness_stats().bytes < before.bytes + 2000);
    CHECK_INT_EQ(int_of(loop), limit);
    vow_executor_set_default(NULL);
    (void)context;
    return NULL;
}

TEST("vow_repeat runs while it should, in constant stack") {
    int64_t limit = 1000;
    CHECK_INT_EQ(int_of(vow_repeat(vow_int(0), below_limit, add_one, &limit)), 1000);
    CHECK_INT_EQ(int_of(vow_repeat(vow_int(7), below_limit, promised_next, &limit)), 1000);
    CHECK_INT_EQ(int_of(vow_repeat(vow_int(2000), below_limit, promised_next, &limit)), 2000);
    CHECK_INT_EQ(code_of(vow_repeat(vow_int(0), below_limit, forked_next, &limit)), 5);
    on_small_stack(repeat_often, NULL);
}

static bool for_ever(vow_value state, void *context) {
    atomic_fetch_add((atomic_int *)context, 1);
    return state.kind == VOW_STRING;
}

static vow_value new_string(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_string("again", 5);
}

TEST("a cancelled vow_repeat ends") {
    for (int round = 0; round < 50; round++) {
        /* Outlives the last run, which the gate sees only in counters. */
        static atomic_int runs;
        atomic_store(&runs, 0);
        vow_statistics before = harness_stats();
        vow_promise *loop = vow_repeat(vow_string("a", 1), for_ever, new_string, &runs);
        CHECK(reaches(&runs, 10 + round));
        CHECK(vow_cancel(loop));
        CHECK_INT_EQ(code_of(loop), VOW_ECANCELLED);
        harness_gate(&before);
    }
}

TEST("vow_catch_if runs for the errors that it names, and passes others on") {
    CHECK_INT_EQ(int_of(vow_catch_if(rejected_code(7), "test", 7, give_code, NULL)), 7);
    CHECK_INT_EQ(int_of(vow_catch_if(rejected_code(7), NULL, 7, give_code, NULL)), 7);
    CHECK_INT_EQ(int_of(vow_catch_if(rejected_code(7), "test", VOW_ANY_CODE, give_code, NULL)), 7);
    CHECK_INT_EQ(int_of(vow_catch_if(rejected_code(7), NULL, VOW_ANY_CODE, give_code, NULL)), 7);
    CHECK_INT_EQ(code_of(vow_catch_if(rejected_code(7), "tes", 7, give_code, NULL)), 7);
    CHECK_INT_EQ(code_of(vow_catch_if(rejected_code(7), "tester", 7, give_code, NULL)), 7);
    CHECK_INT_EQ(code_of(vow_catch_if(rejected_code(7), "test", 8, give_code, NULL)), 7);
    CHECK_INT_EQ(code_of(vow_catch_if(rejected_code(7), "", VOW_ANY_CODE, give_code, NULL)), 7);
    CHECK_INT_EQ(int_of(vow_catch_if(fulfilled_int(3), "test", 7, give_code, NULL)), 3);
    char domain[5] = "test";
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    promise = vow_catch_if(promise, domain, 7, give_code, NULL);
    domain[0] = 'x';
    vow_reject(resolver, vow_error("test", 7, "seven"));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), 7);
    promise = vow_catch_if(vow_promise_create(&resolver), "test", 7, give_code, NULL);
    vow_cancel(promise);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}
