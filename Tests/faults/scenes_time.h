/* Scenes of time: delays, time-outs, retries, on loops and off. */
#ifndef VOW_TEST_SCENES_TIME_H
#define VOW_TEST_SCENES_TIME_H

#include "cast.h"

#define HOUR (3600 * SECOND)

static void scene_delays(cast *self) {
    int64_t begin = vow_now();
    vow_promise *given_up = vow_delay(HOUR);
    vow_promise *promise = cast_inline(self, vow_delay(MILLISECOND), make_string, NULL);
    promise = cast_link(self, vow_executor_pool(), promise, make_chain, pass_on);
    vow_promise_release(cast_inline(self, vow_delay(0), make_string, NULL));
    vow_promise_release(vow_delay(HOUR));
    CHECK(vow_cancel(given_up) || lacked_memory());
    settles(given_up, VOW_ECANCELLED);
    settles(promise, 0);
    CHECK(vow_now() - begin >= MILLISECOND || lacked_memory());
    settles(vow_delay(-1), VOW_EINVAL);
}

/* While a virtual loop waits for the pool, its clock moves on: there is no work for the pool here.
 */
static void scene_delays_on_loop(cast *self) {
    vow_loop *loop = vow_loop_create_virtual();
    if (is_made(loop)) {
        int64_t begin = vow_now();
        vow_promise *later = cast_inline(self, vow_delay(10 * SECOND), make_string, NULL);
        vow_promise *sooner = vow_then(vow_delay(SECOND), make_promise, &shared);
        vow_promise *never = vow_delay(HOUR);
        settles(sooner, 0);
        settles(later, 0);
        CHECK(vow_now() - begin == 10 * SECOND || lacked_memory());
        vow_loop_destroy(loop);
        settles(never, VOW_ESHUTDOWN);
    }
}

/* A handler on the loop has a delay of its own. */
static vow_value wait_a_while(vow_value input, void *context) {
    (void)input;
    runs_now(context);
    return vow_from_promise(vow_then(vow_delay(SECOND), make_string, &shared));
}

static void scene_advance(cast *self) {
    vow_loop *loop = vow_loop_create_virtual();
    if (is_made(loop)) {
        vow_promise *promise =
            cast_link(self, vow_loop_executor(loop), vow_delay(SECOND), wait_a_while, NULL);
        CHECK(vow_loop_advance(loop, SECOND) >= 0);
        CHECK(vow_promise_state(promise) == VOW_PENDING || lacked_memory());
        CHECK(vow_loop_advance(loop, SECOND) >= 0);
        CHECK(vow_promise_state(promise) != VOW_PENDING);
        settles(promise, 0);
        CHECK_INT_EQ(vow_loop_advance(loop, -1), VOW_EINVAL);
        vow_loop_destroy(loop);
    }
}

static void time_out(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    counter *told = cast_hook(self, resolver);
    promise = cast_inline(self, promise, pass_on, pass_on);
    promise = vow_timeout(promise, MILLISECOND);
    settles(cast_inline(self, promise, NULL, pass_on), VOW_ETIMEDOUT);
    vow_resolver_release(resolver);
    CHECK(reaches(&told->ends, 1));
    CHECK(atomic_load(&told->runs) == 1 || lacked_memory());
}

static void scene_timeout(cast *self) {
    time_out(self);
}

static void scene_timeout_on_loop(cast *self) {
    vow_loop *loop = vow_loop_create_virtual();
    if (is_made(loop)) {
        time_out(self);
        vow_loop_destroy(loop);
    }
}

static void scene_in_time(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    promise = vow_timeout(vow_timeout(promise, VOW_FOREVER), HOUR);
    promise = cast_inline(self, promise, make_chain, NULL);
    vow_promise_release(vow_timeout(vow_delay(HOUR), HOUR));
    vow_promise *given_up = vow_timeout(vow_delay(HOUR), HOUR);
    CHECK(vow_cancel_with(given_up, cast_object(self)) || lacked_memory());
    settles(given_up, VOW_ECANCELLED);
    resolve_last(resolver, cast_object(self));
    settles(promise, 0);
    settles(vow_timeout(vow_promise_with(cast_object(self)), -2), VOW_EINVAL);
}

/* Fails until the attempt of that number. */
typedef struct attempts {
    atomic_int made;
    int good;
    bool is_patient;
} attempts;

static vow_value attempt(vow_value input, void *context) {
    attempts *self = context;
    atomic_fetch_add(&self->made, 1);
    if (input.as.integer == self->good) {
        return vow_from_promise(vow_then(fulfilled_int(1), make_string, &shared));
    }
    return vow_error_wrap("test", 7, "an attempt", vow_value_retain(input));
}

static bool is_worth_it(vow_value error, void *context) {
    return error.kind == VOW_ERROR && ((attempts *)context)->is_patient;
}

/* Waits for a retry (consumed), whose error says how many attempts there were. */
static void fails_after(vow_promise *promise, attempts *all, int64_t code, int most) {
    vow_value error = vow_none();
    CHECK_INT_EQ(vow_await(promise, LONG_ENOUGH, &error), VOW_REJECTED);
    int64_t said = vow_error_attempts(error);
    if (is_code(vow_error_code(error), code) && !lacked_memory()) {
        CHECK_INT_EQ(said, atomic_load(&all->made));
        CHECK(said == most || most == 0);
    }
    /* The number needs an error of its own. */
    CHECK(said == 0 || said == atomic_load(&all->made));
    vow_value_release(error);
    vow_promise_release(promise);
}

static void scene_retry(cast *self) {
    static attempts good;
    static attempts bad;
    vow_loop *loop = vow_loop_create_virtual();
    vow_retry_policy policy;
    memset(&policy, 0, sizeof policy);
    policy.size = sizeof policy;
    policy.attempts = 4;
    policy.first_delay_ns = SECOND;
    policy.jitter = 0.5;
    policy.may_retry = is_worth_it;
    (void)self;
    if (is_made(loop)) {
        good = (attempts){.good = 3, .is_patient = true};
        bad = (attempts){.is_patient = true};
        vow_promise *promise = vow_retry(&policy, attempt, &good);
        fails_after(vow_retry(&policy, attempt, &bad), &bad, 7, 4);
        settles_or(promise, 0, 7);
        bad = (attempts){.is_patient = false};
        fails_after(vow_retry(&policy, attempt, &bad), &bad, 7, 1);
        vow_loop_destroy(loop);
    }
}

static void scene_retry_ends(cast *self) {
    static attempts bad;
    vow_loop *loop = vow_loop_create_virtual();
    vow_retry_policy policy;
    memset(&policy, 0, sizeof policy);
    policy.size = sizeof policy;
    policy.first_delay_ns = SECOND;
    policy.deadline_ns = 10 * SECOND;
    bad = (attempts){.is_patient = true};
    if (is_made(loop)) {
        fails_after(vow_retry(&policy, attempt, &bad), &bad, VOW_ETIMEDOUT, 0);
        vow_promise *given_up = vow_retry(&policy, attempt, &bad);
        vow_loop_run_once(loop, 0);
        CHECK(vow_cancel_with(given_up, cast_object(self)) || lacked_memory());
        settles(given_up, VOW_ECANCELLED);
        vow_promise *promise = vow_retry(&policy, attempt, &bad);
        vow_loop_run_once(loop, 0);
        vow_loop_destroy(loop);
        settles(promise, VOW_ESHUTDOWN);
        policy.jitter = 2;
        settles(vow_retry(&policy, attempt, &bad), VOW_EINVAL);
    }
}

static void scene_retry_at_once(cast *self) {
    static attempts all;
    (void)self;
    all = (attempts){.good = 3};
    settles_or(vow_retry(NULL, attempt, &all), 0, 7);
}

#define SCENES_TIME                                                                                \
    {"delays", scene_delays}, {"delays on a loop", scene_delays_on_loop},                          \
        {"a clock that is moved", scene_advance}, {"a time-out", scene_timeout},                   \
        {"a time-out on a loop", scene_timeout_on_loop}, {"what ends in time", scene_in_time},     \
        {"a retry", scene_retry}, {"a retry that ends early", scene_retry_ends}, {                 \
        "a retry at once", scene_retry_at_once                                                     \
    }

#endif
