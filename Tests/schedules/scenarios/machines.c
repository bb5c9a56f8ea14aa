/* What runs functions one after the other, while a wait inside a handler looks through it. */
#include "../scenario.h"

#include <stddef.h>

static list_executor waits, works;
static vow_promise *repeated;
static int answer, steps;

static bool again(vow_value state, void *context) {
    (void)context;
    return state.as.integer < 1;
}

static vow_value step(vow_value state, void *context) {
    (void)context;
    steps++;
    return vow_int(state.as.integer + 1);
}

static vow_value wait_inside(vow_value input, void *context) {
    (void)input;
    (void)context;
    answer = vow_await(repeated, VOW_FOREVER, NULL);
    return vow_none();
}

static void start(void) {
    answer = -100;
    steps = 0;
    list_executor_make(&waits);
    list_executor_make(&works);
    vow_executor_set_default(works.handle);
    repeated = vow_repeat(vow_int(0), again, step, NULL);
    vow_executor_set_default(vow_executor_inline());
    vow_promise_release(vow_async(waits.handle, wait_inside, NULL));
}

static void wait_for_all(void) {
    list_executor_work(&waits, 1);
}

/* One step, and the question that ends it. */
static void take_steps(void) {
    list_executor_work(&works, 2);
}

static void finish(void) {
    CHECK(answer == VOW_FULFILLED && steps == 1);
    check_settled(repeated, VOW_FULFILLED, 1);
    outcome(0);
    vow_promise_release(repeated);
    vow_executor_release(waits.handle);
    vow_executor_release(works.handle);
    CHECK(waits.destroyed == 1 && works.destroyed == 1);
}

SCENARIO machine_looked_through = {
    "machine-looked-through", start, {wait_for_all, take_steps}, finish, 2, 1,
};
