/* Handlers on different threads wait for each other, or for what another thread decides at that
 * moment. */
#include "../scenario.h"

#include <stddef.h>
#include <string.h>

static list_executor executors[2];
static vow_promise *work[2], *handlers[2];
static int answers[2];
static bool for_results;

static vow_value do_nothing(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_none();
}

/* Waits for the other one's handler, or for the work behind it. */
static vow_value wait_for_other(vow_value input, void *context) {
    int *answer = context;
    int other = answer == &answers[0] ? 1 : 0;
    (void)input;
    *answer = vow_await(for_results ? handlers[other] : work[other], VOW_FOREVER, NULL);
    return vow_none();
}

static void start(void) {
    for (int i = 0; i < 2; i++) {
        list_executor_make(&executors[i]);
        answers[i] = -100;
        handlers[i] = vow_async(executors[i].handle, wait_for_other, &answers[i]);
        work[i] = vow_async(executors[i].handle, do_nothing, NULL);
    }
}

static void start_work(void) {
    for_results = false;
    start();
}

static void start_results(void) {
    for_results = true;
    start();
}

static void work_left(void) {
    list_executor_work(&executors[0], 2);
}

static void work_right(void) {
    list_executor_work(&executors[1], 2);
}

static void let_go(void) {
    for (int i = 0; i < 2; i++) {
        vow_promise_release(handlers[i]);
        vow_promise_release(work[i]);
        vow_executor_release(executors[i].handle);
        CHECK(executors[i].destroyed == 1);
    }
}

/* One of them may have been through before the other began. */
static void finish(void) {
    int refused = 0;
    for (int i = 0; i < 2; i++) {
        CHECK(answers[i] == VOW_FULFILLED || answers[i] == VOW_EDEADLOCK);
        refused += answers[i] == VOW_EDEADLOCK;
    }
    CHECK(refused >= 1);
    outcome(refused - 1);
    let_go();
}

SCENARIO crossed_waits = {
    "crossed-waits", start_work, {work_left, work_right}, finish, 2, 2,
};

SCENARIO crossed_results = {
    "crossed-results", start_results, {work_left, work_right}, finish, 2, 2,
};

/* ------------------------------------------------ one member needs this executor, the other one is
 * settled */

static deferred rival;
static vow_promise *either;

static vow_value wait_for_either(vow_value input, void *context) {
    (void)input;
    (void)context;
    answers[0] = vow_await(either, VOW_FOREVER, NULL);
    return vow_none();
}

static void start_rivals(vow_promise *(*combine)(vow_promise *const *, size_t)) {
    list_executor_make(&executors[0]);
    answers[0] = -100;
    rival = defer();
    handlers[0] = vow_async(executors[0].handle, wait_for_either, NULL);
    vow_promise *members[] = {vow_promise_retain(rival.promise),
                              vow_async(executors[0].handle, do_nothing, NULL)};
    either = combine(members, 2);
}

static void start_race(void) {
    start_rivals(vow_race);
}

static void start_any(void) {
    start_rivals(vow_any);
}

static void resolve_rival(void) {
    CHECK(vow_resolve(rival.resolver, vow_int(1)));
}

static void reject_rival(void) {
    CHECK(vow_reject(rival.resolver, vow_error("test", 1, "no")));
}

static void finish_rivals(int expected) {
    CHECK(answers[0] == expected);
    outcome(0);
    vow_promise_release(either);
    vow_promise_release(handlers[0]);
    release(&rival);
    vow_executor_release(executors[0].handle);
    CHECK(executors[0].destroyed == 1);
}

static void finish_fulfilled(void) {
    finish_rivals(VOW_FULFILLED);
}

static void finish_refused(void) {
    finish_rivals(VOW_EDEADLOCK);
}

SCENARIO rival_resolved = {
    "rival-resolved", start_race, {work_left, resolve_rival}, finish_fulfilled, 2, 1,
};

SCENARIO rival_resolved_of_any = {
    "rival-resolved-of-any", start_any, {work_left, resolve_rival}, finish_fulfilled, 2, 1,
};

SCENARIO rival_rejected = {
    "rival-rejected", start_any, {work_left, reject_rival}, finish_refused, 2, 1,
};
