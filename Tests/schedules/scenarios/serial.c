/* A handler on a serial executor waits, and other threads make its wait endless, or not. */
#include "../scenario.h"

#include <stddef.h>
#include <string.h>

static list_executor executor;
static deferred waited_for, other;
static vow_promise *behind;
static call calls[4];
static int answer;

static vow_value wait_inside(vow_value input, void *context) {
    (void)input;
    (void)context;
    answer = vow_await(waited_for.promise, VOW_FOREVER, NULL);
    return vow_none();
}

static vow_value do_nothing(vow_value input, void *context) {
    (void)context;
    return vow_value_retain(input);
}

static vow_promise *then_on(vow_executor *on, vow_promise *promise, vow_handler handler) {
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = handler;
    reaction.executor = on;
    return vow_then_with(promise, &reaction);
}

static vow_promise *then_on_executor(vow_promise *promise, vow_handler handler) {
    return then_on(executor.handle, promise, handler);
}

static void prepare(void) {
    list_executor_make(&executor);
    waited_for = defer();
    other = defer();
    behind = NULL;
    memset(calls, 0, sizeof calls);
    answer = -100;
}

/* The handler that waits is the executor's first work. */
static void start(void) {
    prepare();
    vow_promise_release(vow_async(executor.handle, wait_inside, NULL));
}

static void clean_up(void) {
    outcome(0);
    vow_promise_release(behind);
    release(&waited_for);
    release(&other);
    vow_executor_release(executor.handle);
    CHECK(executor.destroyed == 1);
}

static void finish(int expected) {
    CHECK(answer == expected);
    CHECK(vow_promise_state(waited_for.promise) == VOW_FULFILLED);
    clean_up();
}

static void finish_refused(void) {
    finish(VOW_EDEADLOCK);
}

static void finish_fulfilled(void) {
    finish(VOW_FULFILLED);
}

static void work_two(void) {
    list_executor_work(&executor, 2);
}

/* What is waited for begins to follow work that only this executor could do. */
static void follow_new_work(void) {
    vow_promise *work = vow_async(executor.handle, do_nothing, NULL);
    CHECK(vow_resolve(waited_for.resolver, vow_from_promise(work)));
}

SCENARIO deadlock_by_work = {
    "deadlock-by-work", start, {work_two, follow_new_work}, finish_refused, 2, 1,
};

/* The reaction is there; one thread makes the way to it, another settles what it reads. */
static void start_following(void) {
    start();
    behind = then_on_executor(vow_promise_retain(other.promise), do_nothing);
}

static void follow_behind(void) {
    vow_value followed = vow_from_promise(vow_promise_retain(behind));
    CHECK(vow_resolve(waited_for.resolver, followed));
}

static void settle_other(void) {
    CHECK(vow_resolve(other.resolver, vow_int(2)));
}

SCENARIO deadlock_by_following = {
    "deadlock-by-following",
    start_following,
    {work_two, follow_behind, settle_other},
    finish_refused,
    2,
    1,
};

/* The way is made in two steps: the second of them is taken by a reaction that the first one has
 * put on it. */
static vow_value give_new_work(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_from_promise(vow_async(executor.handle, do_nothing, NULL));
}

static void start_two_followings(void) {
    start();
    behind = then_on(vow_executor_inline(), vow_promise_retain(other.promise), give_new_work);
}

SCENARIO deadlock_by_two_followings = {
    "deadlock-by-two-followings",
    start_two_followings,
    {work_two, follow_behind, settle_other},
    finish_refused,
    2,
    1,
};

/* Work for the executor that the wait does not need: it looks again, and goes on waiting. */
static void settle_waited_for(void) {
    CHECK(vow_resolve(waited_for.resolver, vow_int(1)));
}

SCENARIO no_deadlock = {
    "no-deadlock",
    start_following,
    {work_two, settle_other, settle_waited_for},
    finish_fulfilled,
    2,
    1,
};

/* Reactions of two threads and a settling third on a serial executor start in order. */
static void start_order(void) {
    prepare();
}

static void register_two(void) {
    on_settled(other.promise, executor.handle, &calls[0]);
    on_settled(other.promise, executor.handle, &calls[1]);
}

static void settle_and_register_two(void) {
    CHECK(vow_resolve(other.resolver, vow_int(2)));
    on_settled(other.promise, executor.handle, &calls[2]);
    on_settled(other.promise, executor.handle, &calls[3]);
}

static void work_four(void) {
    list_executor_work(&executor, 4);
}

static void finish_order(void) {
    check_order(calls, 4);
    clean_up();
}

SCENARIO serial_order = {
    "serial-order", start_order, {register_two, settle_and_register_two, work_four},
    finish_order,   2,           1,
};
