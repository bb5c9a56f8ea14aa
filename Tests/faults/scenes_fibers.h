/* Scenes of fibers: that wait, time out, yield, wait for each other, and are cancelled. */
#ifndef VOW_TEST_SCENES_FIBERS_H
#define VOW_TEST_SCENES_FIBERS_H

#include "cast.h"

static inline vow_promise *cast_fiber(cast *self, vow_executor *executor, vow_handler body,
                                      counter **its) {
    *its = next_of(self->links, &self->given_links);
    vow_fiber_options options = {
        .size = sizeof options, .destroy = counter_end, .label = "a fiber"};
    return vow_fiber(executor, body, *its, &options);
}

/* Inside a fiber: waits for a promise (consumed), and gives its value or error, or the reason why
 * the wait was refused. */
static inline vow_value taken(vow_promise *promise) {
    vow_value out;
    int answer = vow_take(promise, VOW_FOREVER, &out);
    if (answer < 0 && is_code(answer, 0)) {
        out = vow_error("vow", answer, "a wait was refused");
    }
    return out;
}

static vow_value take_three(vow_value input, void *context) {
    (void)input;
    runs_now(context);
    vow_value_release(taken(vow_async(vow_executor_pool(), make_chain, &shared)));
    CHECK_INT_EQ(vow_fiber_yield(), 0);
    vow_value_release(taken(vow_then(fulfilled_int(1), make_string, &shared)));
    vow_value out = taken(vow_async(NULL, make_string, &shared));
    CHECK_INT_EQ(atomic_load(&((counter *)context)->ends), 0);
    return out;
}

static vow_value take_fibers(vow_value input, void *context) {
    (void)input;
    runs_now(context);
    vow_promise *all[3];
    for (int i = 0; i < 3; i++) {
        all[i] = vow_fiber(NULL, take_three, &shared, NULL);
    }
    return taken(vow_all(all, 3));
}

static void scene_fibers(cast *self) {
    counter *its;
    vow_executor *serial = vow_executor_serial("fibers");
    vow_executor *executors[3] = {vow_executor_inline(), vow_executor_pool(), serial};
    vow_promise *made[6];
    for (int i = 0; i < 6; i++) {
        made[i] = cast_fiber(self, executors[i / 2], i % 2 == 0 ? take_three : take_fibers, &its);
    }
    for (int i = 0; i < 6; i++) {
        settles(made[i], 0);
    }
    vow_executor_release(serial);
}

static vow_value return_chain(vow_value input, void *context) {
    (void)input;
    runs_now(context);
    return vow_from_promise(vow_async(vow_executor_pool(), make_chain, &shared));
}

static void scene_fiber_results(cast *self) {
    counter *its;
    settles(cast_fiber(self, NULL, return_chain, &its), 0);
    settles(cast_fiber(self, vow_executor_inline(), make_error, &its), 7);
    settles(cast_fiber(self, NULL, NULL, &its), VOW_EINVAL);
    CHECK_INT_EQ(atomic_load(&its->ends), 1);
    CHECK_INT_EQ(vow_fiber_yield(), VOW_EINVAL);
    vow_value out;
    int answer = vow_take(cast_inline(self, fulfilled_int(1), make_string, NULL), 0, &out);
    CHECK(answer == (int)VOW_FULFILLED || lacked_memory());
    vow_value_release(out);
    vow_promise_release(cast_fiber(self, vow_executor_inline(), take_three, &its));
}

static vow_value take_for_a_second(vow_value input, void *context) {
    (void)input;
    runs_now(context);
    for (int i = 0; i < 3; i++) {
        int64_t begin = vow_now();
        vow_resolver *resolver;
        int answer = vow_take(vow_promise_create(&resolver), SECOND, NULL);
        vow_resolver_release(resolver);
        CHECK((answer == (int)VOW_PENDING && vow_now() - begin == SECOND) || lacked_memory());
    }
    return taken(vow_then(vow_delay(SECOND), make_string, &shared));
}

static vow_value take_for_an_hour(vow_value input, void *context) {
    (void)input;
    runs_now(context);
    int answer = vow_take(vow_delay(2 * 3600 * SECOND), 3600 * SECOND, NULL);
    CHECK(answer == VOW_ESHUTDOWN || answer == (int)VOW_REJECTED || lacked_memory());
    return vow_int(answer);
}

static void scene_fibers_on_loop(cast *self) {
    counter *its;
    vow_loop *loop = vow_loop_create_virtual();
    if (is_made(loop)) {
        vow_promise *first = cast_fiber(self, NULL, take_for_a_second, &its);
        vow_promise *other = cast_fiber(self, NULL, take_for_a_second, &its);
        settles(first, 0);
        settles(other, 0);
        vow_promise *given_up = cast_fiber(self, NULL, take_for_an_hour, &its);
        vow_promise *left = cast_fiber(self, NULL, take_for_an_hour, &its);
        CHECK(!vow_nest_waits(false));
        vow_loop_run_once(loop, 0);
        /* Without memory for its wait the fiber has ended. */
        bool is_cancelled = vow_cancel_with(given_up, cast_object(self));
        CHECK(is_cancelled || lacked_memory());
        settles(given_up, is_cancelled ? VOW_ECANCELLED : 0);
        vow_promise *unbegun = cast_fiber(self, NULL, make_string, &its);
        vow_loop_destroy(loop);
        settles(left, 0);
        settles(unbegun, VOW_ESHUTDOWN);
    }
}

/* Two fibers that wait for each other. */
static vow_promise *opposite[2];
static atomic_int refused;

static vow_value wait_for(vow_promise *promise) {
    vow_value out;
    /* Without memory the scene does not wait for the fiber. */
    vow_promise_retain(promise);
    int answer = vow_await(promise, VOW_FOREVER, &out);
    vow_promise_release(promise);
    vow_value_release(out);
    if (answer < 0) {
        is_code(answer, VOW_ECYCLE);
        atomic_fetch_add(&refused, 1);
    }
    return vow_none();
}

static vow_value wait_for_second(vow_value input, void *context) {
    (void)input;
    runs_now(context);
    return wait_for(opposite[1]);
}

static vow_value wait_for_first(vow_value input, void *context) {
    (void)input;
    runs_now(context);
    return wait_for(opposite[0]);
}

static void scene_opposite_fibers(cast *self) {
    counter *its;
    vow_loop *loop = vow_loop_create();
    if (is_made(loop)) {
        atomic_store(&refused, 0);
        vow_promise *first = cast_fiber(self, NULL, wait_for_second, &its);
        opposite[0] = cast_inline(self, first, pass_on, NULL);
        opposite[1] = cast_fiber(self, NULL, wait_for_first, &its);
        settles(vow_promise_retain(opposite[1]), 0);
        settles(opposite[0], 0);
        vow_promise_release(opposite[1]);
        CHECK(atomic_load(&refused) == 1 || lacked_memory());
        vow_loop_destroy(loop);
    }
}

#define SCENES_FIBERS                                                                              \
    {"fibers", scene_fibers}, {"what fibers return", scene_fiber_results},                         \
        {"fibers on a loop", scene_fibers_on_loop}, {                                              \
        "fibers that wait for each other", scene_opposite_fibers                                   \
    }

#endif
