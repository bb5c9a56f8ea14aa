/* A promise, or a link that is handed over, is cancelled while it settles. */
#include "cancel_tools.h"

static void cancel_promise_too(void) {
    has_cancelled[1] = vow_cancel(it.promise);
}

/* The promise itself, with a reaction and a hook. */
static void start_plain(void) {
    start();
    hear_resolver(&hook, it.resolver);
    watch(&links[0], it.promise, NULL, NULL);
}

static void finish_plain(void) {
    CHECK(has_cancelled[0] != has_resolved);
    check_watched(&links[0]);
    CHECK(links[0].fulfilled == has_resolved && links[0].rejected == has_cancelled[0]);
    CHECK(links[0].content == (has_resolved ? 1 : VOW_ECANCELLED));
    check_heard(&hook, has_cancelled[0], has_cancelled[0]);
    outcome(has_resolved);
    let_go();
}

SCENARIO cancel_resolve = {
    "cancel-resolve", start_plain, {cancel_promise, resolve}, finish_plain, 4, 2,
};

static void finish_cancelled_once(void) {
    CHECK(has_cancelled[0] != has_cancelled[1]);
    check_watched(&links[0]);
    CHECK(links[0].content == VOW_ECANCELLED);
    check_heard(&hook, 1, 1);
    outcome(has_cancelled[0]);
    let_go();
}

SCENARIO cancel_cancel = {
    "cancel-cancel", start_plain, {cancel_promise, cancel_promise_too}, finish_cancelled_once, 4, 2,
};

/* A reaction that waits for it; its handler runs where it is resolved. Nobody else reads it. */
static void start_reaction(void) {
    start();
    hear_resolver(&hook, it.resolver);
    links[0].inside = scheduler_point;
    watch(&links[0], it.promise, NULL, NULL);
    let_go_of_promise();
}

static void finish_reaction(void) {
    int fate = fate_of(&links[0]);
    CHECK(has_cancelled[0] == (fate != 2));
    CHECK(has_resolved || hook.called == 1);
    /* A handler that has begun, or is with its executor, has the promise already. */
    check_heard(&hook, !has_resolved, !has_resolved);
    outcome(fate);
    let_go();
}

SCENARIO cancel_inline_reaction = {
    "cancel-inline-reaction", start_reaction, {cancel_0, resolve}, finish_reaction, 3, 3,
};

/* On a serial executor: it may be on the way there, or wait there. */
static void start_with_executor(void) {
    start();
    list_executor_make(&executor);
    links[0].inside = scheduler_point;
    watch(&links[0], it.promise, executor.handle, NULL);
}

static void work(void) {
    list_executor_work_until(&executor, &ended);
}

/* Cancelled ones run too, and what comes for them comes late. */
static void end_work(void) {
    list_executor_drain(&executor);
}

static void finish_with_executor(void) {
    vow_executor_release(executor.handle);
    CHECK(executor.destroyed == 1);
}

static void finish_handed_over(void) {
    int fate;
    end_work();
    fate = fate_of(&links[0]);
    CHECK(has_resolved && has_cancelled[0] == (fate != 2));
    outcome(fate);
    finish_with_executor();
    let_go();
}

SCENARIO cancel_handed_over = {
    "cancel-handed-over", start_with_executor, {cancel_0, resolve, work}, finish_handed_over, 2, 3,
};

static void start_at_executor(void) {
    start_with_executor();
    resolve();
}

SCENARIO cancel_running = {
    "cancel-running", start_at_executor, {cancel_0, work}, finish_handed_over, 4, 3,
};

/* And while it is cancelled twice, and its handle is given up. */
static void cancel_0_again(void) {
    has_cancelled[1] = vow_cancel(links[0].promise);
}

static void finish_cancelled_twice(void) {
    int fate;
    end_work();
    fate = fate_of(&links[0]);
    CHECK(has_cancelled[0] + has_cancelled[1] == (fate != 2));
    outcome(fate);
    finish_with_executor();
    let_go();
}

SCENARIO cancel_running_twice = {
    "cancel-running-twice",
    start_at_executor,
    {cancel_0, cancel_0_again, work},
    finish_cancelled_twice,
    2,
    3,
};

/* Two of one batch; the last one is cancelled on the way, or the first. */
static void start_batch(void) {
    start();
    list_executor_make(&executor);
    watch(&links[0], it.promise, executor.handle, NULL);
    watch(&links[1], it.promise, executor.handle, NULL);
    let_go_of_promise();
}

static void finish_batch(int cancelled) {
    int fate;
    end_work();
    fate = fate_of(&links[cancelled]);
    CHECK(has_cancelled[cancelled] == (fate != 2));
    CHECK(has_resolved && fate_of(&links[!cancelled]) == 2);
    outcome(fate != 2);
    finish_with_executor();
    let_go();
}

static void finish_first_of_batch(void) {
    finish_batch(0);
}

static void finish_last_of_batch(void) {
    finish_batch(1);
}

SCENARIO cancel_first_of_batch = {
    "cancel-first-of-batch", start_batch, {cancel_0, resolve, work}, finish_first_of_batch, 2, 2,
};

SCENARIO cancel_last_of_batch = {
    "cancel-last-of-batch", start_batch, {cancel_1, resolve, work}, finish_last_of_batch, 2, 2,
};

/* Two batches at once: the second waits on the thread's list while the first is handed over. */
static deferred other;

static void resolve_both(void) {
    other = defer();
    watch(&links[2], other.promise, executor.handle, NULL);
    CHECK(vow_resolve(other.resolver, vow_from_promise(it.promise)));
    it.promise = NULL;
    resolve();
}

static void finish_two_batches(void) {
    end_work();
    CHECK(fate_of(&links[2]) == 2);
    release(&other);
    finish_batch(1);
}

static void start_two_batches(void) {
    start();
    list_executor_make(&executor);
    watch(&links[0], it.promise, executor.handle, NULL);
    watch(&links[1], it.promise, executor.handle, NULL);
}

SCENARIO cancel_of_two_batches = {
    "cancel-of-two-batches",
    start_two_batches,
    {cancel_1, resolve_both, work},
    finish_two_batches,
    2,
    2,
};

/* The one of the second batch is cancelled, of whose promise nothing is noted: it is found by way
 * of its member. */
static void start_second_batch(void) {
    start_two_batches();
    other = defer();
    watch(&links[2], other.promise, executor.handle, NULL);
}

static void cancel_in_second_batch(void) {
    has_cancelled[0] = vow_cancel(links[2].promise);
}

static void resolve_followed(void) {
    CHECK(vow_resolve(other.resolver, vow_from_promise(it.promise)));
    it.promise = NULL;
    resolve();
}

static void finish_second_batch(void) {
    int fate;
    end_work();
    fate = fate_of(&links[2]);
    CHECK(has_cancelled[0] == (fate != 2));
    CHECK(has_resolved && fate_of(&links[0]) == 2 && fate_of(&links[1]) == 2);
    outcome(fate != 2);
    release(&other);
    finish_with_executor();
    let_go();
}

SCENARIO cancel_in_second = {
    "cancel-of-second-batch",
    start_second_batch,
    {cancel_in_second_batch, resolve_followed, work},
    finish_second_batch,
    2,
    2,
};

/* A rejection passes a reaction without a handler for it, which is cancelled on the way. */
static void start_passing(void) {
    start();
    watch_as(&links[0], it.promise, NULL, NULL, WITHOUT_CATCH);
    watch_as(&links[1], it.promise, NULL, NULL, WITHOUT_CATCH);
    let_go_of_promise();
}

static void reject(void) {
    has_resolved = vow_reject(it.resolver, vow_error("test", 7, NULL));
}

static void finish_passing(void) {
    /* With the last reader it is cancelled itself. */
    CHECK(has_resolved || (has_cancelled[0] && has_cancelled[1]));
    for (int i = 0; i < 2; i++) {
        check_watched(&links[i]);
        CHECK(links[i].fulfilled + links[i].rejected == 0);
        const int content = content_of_promise(links[i].promise);
        /* The last reader cancels upstream first, and what comes down is the rejection if that was
         * quicker. */
        CHECK(content == 7 ? has_resolved : has_cancelled[i] && content == VOW_ECANCELLED);
    }
    outcome(has_cancelled[0] + 2 * has_cancelled[1]);
    let_go();
}

SCENARIO cancel_passing = {
    "cancel-passing", start_passing, {reject, cancel_0, cancel_1}, finish_passing, 2, 4,
};
