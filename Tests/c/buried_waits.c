/* Tests G11 where a handler runs inside the wait of another one, or goes on to the next. */
#include "worker.h"

typedef struct helper {
    vow_executor *elsewhere;
    int64_t limit;
} helper;

static vow_value add_slowly(vow_value input, void *context) {
    usleep(2000);
    return add_one(input, context);
}

static vow_value wait_elsewhere(vow_value input, void *context) {
    helper *self = context;
    (void)input;
    vow_promise *work = vow_async(self->elsewhere, add_slowly, NULL);
    int answer = vow_await(work, self->limit, NULL);
    vow_promise_release(work);
    return vow_int(answer);
}

typedef struct two_serials {
    vow_executor *second;
    helper inner;
} two_serials;

static vow_value wait_for_helper(vow_value input, void *context) {
    two_serials *self = context;
    (void)input;
    vow_promise *first = vow_async(self->second, wait_elsewhere, &self->inner);
    vow_promise *behind = vow_async(self->second, add_one, NULL);
    vow_promise *members[] = {first, behind};
    vow_promise *both = vow_all_settled(members, 2);
    int answer = vow_await(both, VOW_FOREVER, NULL);
    vow_promise_release(both);
    return vow_int(answer);
}

static int64_t answer_with_helper(vow_executor *first, vow_executor *second,
                                  vow_executor *elsewhere, int64_t limit) {
    two_serials self = {second, {elsewhere, limit}};
    return int_of(vow_async(first, wait_for_helper, &self));
}

TEST("G11: behind a handler that waits for something else a wait goes on") {
    vow_executor *first = vow_executor_serial("first"), *second = vow_executor_serial("second"),
                 *third = vow_executor_serial("third");
    for (int round = 0; round < 20; round++) {
        CHECK_INT_EQ(answer_with_helper(first, second, third, VOW_FOREVER), VOW_FULFILLED);
        CHECK_INT_EQ(answer_with_helper(first, second, vow_executor_pool(), VOW_FOREVER),
                     VOW_FULFILLED);
        /* That one's time-out ends both. */
        CHECK_INT_EQ(answer_with_helper(first, second, first, 5 * MILLISECOND), VOW_FULFILLED);
    }
    vow_executor_release(first);
    vow_executor_release(second);
    vow_executor_release(third);
}

typedef struct buried {
    vow_executor *held; /* the first handler holds it up */
    vow_executor *others;
    atomic_int refused;
    atomic_int through;  /* waits that have ended; who counts one here uses this no more */
    vow_resolver *begin; /* settles what the handler waits for that runs another one inside */
} buried;

static void wait_unless_refused(buried *self, vow_promise *promise) {
    int answer = vow_await(promise, VOW_FOREVER, NULL);
    CHECK(answer == VOW_FULFILLED || answer == VOW_EDEADLOCK);
    atomic_fetch_add(&self->refused, answer == VOW_EDEADLOCK);
    vow_promise_release(promise);
    atomic_fetch_add(&self->through, 1);
}

static vow_value wait_for_what_is_held_up(vow_value input, void *context) {
    buried *self = context;
    wait_unless_refused(self, vow_async(self->held, add_one, NULL));
    return vow_value_retain(input);
}

static vow_value wait_inside(vow_value input, void *context) {
    buried *self = context;
    vow_resolve(self->begin, vow_none());
    vow_resolver_release(self->begin);
    wait_unless_refused(self, vow_async(self->others, wait_for_what_is_held_up, self));
    return vow_value_retain(input);
}

/* What it waits for is settled by the inline handler that it runs meanwhile, which then waits
 * itself. */
static vow_value wait_over_another(vow_value input, void *context) {
    buried *self = context;
    vow_promise *begun = vow_promise_create(&self->begin);
    vow_promise *inside = vow_async(vow_executor_inline(), wait_inside, self);
    wait_unless_refused(self, begun);
    vow_promise_release(inside);
    return vow_value_retain(input);
}

static vow_value hold_up(vow_value input, void *context) {
    buried *self = context;
    wait_unless_refused(self, vow_async(self->others, wait_over_another, self));
    return vow_value_retain(input);
}

static void check_buried(vow_executor *others) {
    for (int round = 0; round < 100; round++) {
        buried self = {vow_executor_serial("held"), others, 0, 0, NULL};
        vow_promise *first = vow_async(self.held, hold_up, &self);
        CHECK_INT_EQ(vow_await(first, LONG_ENOUGH, NULL), VOW_FULFILLED);
        CHECK(atomic_load(&self.refused) >= 1);
        vow_promise_release(first);
        /* If it was the first one that was refused, others are about to use what stands here. */
        CHECK(reaches(&self.through, 4));
        vow_executor_release(self.held);
    }
}

TEST("G11: a ring through a handler whose wait is over, but runs another one that waits") {
    check_buried(vow_executor_pool());
}

static vow_value second_of(vow_value first, vow_value second, void *context) {
    (void)first;
    (void)context;
    return vow_value_retain(second);
}

/* Waits for what settles first, then for work of the executor that is held up. */
static vow_value wait_for_a_sum(vow_value input, void *context) {
    buried *self = context;
    vow_promise *members[] = {vow_delay(2 * MILLISECOND), vow_async(self->held, add_one, NULL)};
    wait_unless_refused(self, vow_reduce(members, 2, vow_int(0), second_of, NULL));
    return vow_value_retain(input);
}

static vow_value hold_up_for_a_sum(vow_value input, void *context) {
    buried *self = context;
    wait_unless_refused(self, vow_async(self->others, wait_for_a_sum, self));
    return vow_value_retain(input);
}

TEST("G11: a ring that is complete when vow_reduce goes on to the next promise") {
    for (int round = 0; round < 50; round++) {
        buried self = {vow_executor_serial("held"), vow_executor_pool(), 0, 0, NULL};
        vow_promise *first = vow_async(self.held, hold_up_for_a_sum, &self);
        CHECK_INT_EQ(vow_await(first, LONG_ENOUGH, NULL), VOW_FULFILLED);
        CHECK(atomic_load(&self.refused) >= 1);
        vow_promise_release(first);
        /* If it was the first one that was refused, others are about to use what stands here. */
        CHECK(reaches(&self.through, 2));
        vow_executor_release(self.held);
    }
}
