/* Tests combined promises and new work in a forked child. */
#include "fork_tools.h"

/* Two promises that are combined in every way. */
typedef struct pairs {
    vow_resolver *resolvers[2];
    vow_promise *combined[5];
    vow_promise *limited;
    vow_promise *end;
} pairs;

static vow_value add_both(vow_value accumulated, vow_value item, void *context) {
    (void)context;
    return vow_int(accumulated.as.integer + item.as.integer);
}

static void pairs_make(pairs *all) {
    vow_promise *promises[2];
    vow_promise *members[2];
    vow_scope *scope = vow_scope_create();
    for (int i = 0; i < 2; i++) {
        promises[i] = vow_promise_create(&all->resolvers[i]);
    }
    for (int i = 0; i < 5; i++) {
        members[0] = vow_promise_retain(promises[0]);
        members[1] = vow_promise_retain(promises[1]);
        all->combined[i] = i == 0   ? vow_all(members, 2)
                           : i == 1 ? vow_all_settled(members, 2)
                           : i == 2 ? vow_any(members, 2)
                           : i == 3 ? vow_some(members, 2, 2)
                                    : vow_race(members, 2);
    }
    CHECK_INT_EQ(vow_scope_add(scope, vow_promise_retain(promises[1])), 0);
    all->end = vow_scope_close(scope);
    all->limited = vow_timeout(promises[0], HOUR);
    vow_promise_release(promises[1]);
}

static void pairs_settle(void *context) {
    pairs *all = context;
    for (int i = 0; i < 2; i++) {
        CHECK(vow_resolve(all->resolvers[i], vow_int(i)));
        vow_resolver_release(all->resolvers[i]);
    }
    for (int i = 0; i < 5; i++) {
        CHECK_INT_EQ(code_of(all->combined[i]), 0);
    }
    CHECK_INT_EQ(code_of(all->limited), 0);
    CHECK_INT_EQ(code_of(all->end), 0);
}

static void pairs_cancel(void *context) {
    pairs *all = context;
    for (int i = 0; i < 5; i++) {
        CHECK(vow_cancel(all->combined[i]));
        CHECK_INT_EQ(code_of(all->combined[i]), VOW_ECANCELLED);
    }
    CHECK(vow_cancel(all->limited));
    CHECK_INT_EQ(code_of(all->limited), VOW_ECANCELLED);
    CHECK(!vow_resolve(all->resolvers[0], vow_int(1)));
    CHECK(vow_resolve(all->resolvers[1], vow_int(1)));
    CHECK_INT_EQ(code_of(all->end), 0);
}

TEST("pending combined promises settle in the child as in the parent, and are cancelled apart") {
    pairs all;
    pairs_make(&all);
    in_child(pairs_settle, &all);
    in_child(pairs_cancel, &all);
    for (int i = 0; i < 5; i++) {
        CHECK_INT_EQ(vow_promise_state(all.combined[i]), VOW_PENDING);
    }
    pairs_settle(&all);
}

/* A list of three numbers. */
static vow_value numbers(void) {
    vow_value items[3] = {vow_int(1), vow_int(2), vow_int(3)};
    return vow_list(items, 3);
}

static bool below_three(vow_value state, void *context) {
    (void)context;
    return state.as.integer < 3;
}

static void check_new_work(int64_t code) {
    vow_promise *promises[2] = {fulfilled_int(1), fulfilled_int(2)};
    vow_retry_policy policy;
    memset(&policy, 0, sizeof policy);
    policy.size = sizeof policy;
    policy.attempts = 2;
    CHECK_INT_EQ(code_of(vow_map(numbers(), add_one, NULL, 2)), code);
    CHECK_INT_EQ(code_of(vow_reduce(promises, 2, vow_int(0), add_both, NULL)), code);
    CHECK_INT_EQ(code_of(vow_repeat(vow_int(0), below_three, add_one, NULL)), code);
    CHECK_INT_EQ(code_of(vow_retry(&policy, add_one, NULL)), code);
    CHECK_INT_EQ(code_of(vow_catch_if(rejected_code(3), "test", 3, give_code, NULL)), code);
}

static void work_in_child(void *context) {
    vow_resolver *resolver;
    (void)context;
    check_new_work(VOW_EFORKED);
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK_INT_EQ(vow_resolver_on_cancel(resolver, hear_of_it, context, counter_end), 0);
    CHECK_INT_EQ(code_of(vow_timeout(promise, HOUR)), VOW_EFORKED);
    check_told(context, 1, 1);
    vow_resolver_release(resolver);
    vow_executor_set_default(vow_executor_inline());
    check_new_work(0);
    vow_executor_set_default(NULL);
    vow_loop *own = vow_loop_create_virtual();
    check_new_work(0);
    CHECK_INT_EQ(code_of(vow_timeout(vow_delay(10 * SECOND), SECOND)), VOW_ETIMEDOUT);
    vow_loop_destroy(own);
}

TEST("new maps, retries and the like of a child are VOW_EFORKED, but inline and on its own loops") {
    counter told = {0};
    in_child(work_in_child, &told);
    check_new_work(0);
}

static void leave_map(void *context) {
    vow_promise *map = context;
    CHECK_INT_EQ(vow_await(map, VOW_FOREVER, NULL), VOW_EFORKED);
    CHECK(vow_cancel(map));
    CHECK_INT_EQ(code_of(map), VOW_ECANCELLED);
}

TEST(
    "a map that is under way on the pool stays with the parent, and the child may cancel its own") {
    atomic_store(&may_end, 0);
    atomic_store(&under_way, 0);
    vow_promise *map = vow_map(numbers(), work_until_told, NULL, 2);
    CHECK(reaches(&under_way, 2));
    in_child(leave_map, map);
    CHECK_INT_EQ(vow_promise_state(map), VOW_PENDING);
    atomic_store(&may_end, 1);
    CHECK_INT_EQ(code_of(map), 0);
}
