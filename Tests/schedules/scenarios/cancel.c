/* Cancelling promises and reactions, against their settling, their hand-over, their running. */
#include "list.h"

#include <stddef.h>
#include <string.h>

static deferred it;
static watched links[4];
static heard hook;
static bool has_cancelled[2], has_resolved, ended;
static list_executor executor;

static void start(void) {
    it = defer();
    memset(links, 0, sizeof links);
    memset(&hook, 0, sizeof hook);
    has_cancelled[0] = has_cancelled[1] = has_resolved = ended = false;
}

/* Whoever reads it is a reaction, or waits. */
static void let_go_of_promise(void) {
    vow_promise_release(it.promise);
    it.promise = NULL;
}

static void let_go(void) {
    for (int i = 0; i < 4; i++) {
        let_go_of_watched(&links[i]);
    }
    release(&it);
}

static void resolve(void) {
    has_resolved = vow_resolve(it.resolver, vow_int(1));
    ended = true;
}

static void cancel_promise(void) {
    has_cancelled[0] = vow_cancel(it.promise);
}

static void cancel_promise_too(void) {
    has_cancelled[1] = vow_cancel(it.promise);
}

static void cancel_0(void) {
    has_cancelled[0] = vow_cancel(links[0].promise);
}

static void cancel_1(void) {
    has_cancelled[1] = vow_cancel(links[1].promise);
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

const scenario cancel_resolve = {
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

const scenario cancel_cancel = {
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

const scenario cancel_inline_reaction = {
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

const scenario cancel_handed_over = {
    "cancel-handed-over", start_with_executor, {cancel_0, resolve, work}, finish_handed_over, 2, 3,
};

static void start_at_executor(void) {
    start_with_executor();
    resolve();
}

const scenario cancel_running = {
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

const scenario cancel_running_twice = {
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

const scenario cancel_first_of_batch = {
    "cancel-first-of-batch", start_batch, {cancel_0, resolve, work}, finish_first_of_batch, 2, 2,
};

const scenario cancel_last_of_batch = {
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

const scenario cancel_of_two_batches = {
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

const scenario cancel_in_second = {
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

const scenario cancel_passing = {
    "cancel-passing", start_passing, {reject, cancel_0, cancel_1}, finish_passing, 2, 4,
};

/* A chain of two, cancelled at its end. */
static void start_chain(void) {
    start();
    hear_resolver(&hook, it.resolver);
    watch(&links[0], it.promise, NULL, NULL);
    watch(&links[1], links[0].promise, NULL, NULL);
    let_go_of_promise();
}

static void start_chain_by_end(void) {
    start_chain();
    links[0].inside = scheduler_point;
    let_go_of_watched(&links[0]);
}

static void finish_chain_by_end(void) {
    int fate = fate_of(&links[1]);
    check_watched(&links[0]);
    CHECK(has_cancelled[1] == (fate != 2));
    CHECK(links[1].fulfilled == (fate != 0) && (fate != 0 || links[1].content == VOW_ECANCELLED));
    check_heard(&hook, !has_resolved, !has_resolved);
    /* What came from a promise that was resolved and cancelled too is not lost. */
    CHECK(links[0].fulfilled == 0 || has_resolved);
    CHECK(links[0].fulfilled == 1 || links[0].content == VOW_ECANCELLED);
    CHECK(fate == 0 || links[0].fulfilled == 1);
    outcome(fate == 2 ? 0 : 1 + links[0].fulfilled);
    let_go();
}

const scenario cancel_chain = {
    "cancel-chain", start_chain_by_end, {cancel_1, resolve}, finish_chain_by_end, 3, 3,
};

/* Both of its links at once, while both are held. */
static void finish_both_links(void) {
    int second = fate_of(&links[1]);
    CHECK(fate_of(&links[0]) == 0 && has_cancelled[0]);
    /* It reads the cancellation, and who is late does not hinder it from recovering. */
    CHECK(has_cancelled[1] == (second != 2));
    CHECK(links[1].content == VOW_ECANCELLED);
    check_heard(&hook, 1, 1);
    outcome(has_cancelled[1]);
    let_go();
}

const scenario cancel_both_links = {
    "cancel-both-links", start_chain, {cancel_0, cancel_1}, finish_both_links, 3, 2,
};

/* The end, and what it reads is given up at the same time. */
static void let_go_of_0(void) {
    let_go_of_watched(&links[0]);
}

static void finish_given_up(void) {
    int ran;
    CHECK(fate_of(&links[1]) == 0 && has_cancelled[1]);
    /* The first link is cancelled too, or goes on. */
    resolve();
    ran = links[0].fulfilled;
    check_watched(&links[0]);
    CHECK(has_resolved == ran);
    check_heard(&hook, !ran, !ran);
    outcome(ran);
    let_go();
}

const scenario cancel_given_up = {
    "cancel-given-up", start_chain, {cancel_1, let_go_of_0}, finish_given_up, 3, 2,
};

/* Neighbours in one queue. */
static void start_neighbours(void) {
    start();
    for (int i = 0; i < 4; i++) {
        watch(&links[i], it.promise, NULL, NULL);
    }
}

static void cancel_2(void) {
    CHECK(vow_cancel(links[2].promise));
}

static void cancel_1_and_0(void) {
    cancel_1();
    cancel_0();
}

static void finish_neighbours(void) {
    CHECK(has_cancelled[0] && has_cancelled[1]);
    resolve();
    CHECK(fate_of(&links[0]) == 0 && fate_of(&links[1]) == 0 && fate_of(&links[2]) == 0);
    CHECK(fate_of(&links[3]) == 2);
    outcome(0);
    let_go();
}

const scenario cancel_neighbours = {
    "cancel-neighbours", start_neighbours, {cancel_2, cancel_1_and_0}, finish_neighbours, 3, 1,
};

/* One is cancelled, another one comes, a third is cancelled. */
static void start_three(void) {
    start();
    for (int i = 0; i < 3; i++) {
        watch(&links[i], it.promise, NULL, NULL);
    }
}

static void come_and_cancel(void) {
    watch(&links[3], it.promise, NULL, NULL);
    CHECK(vow_cancel(links[2].promise));
}

const scenario cancel_and_come = {
    "cancel-and-come", start_three, {cancel_1_and_0, come_and_cancel}, finish_neighbours, 3, 1,
};

/* And it is settled meanwhile. */
static void finish_settled_neighbours(void) {
    int first = fate_of(&links[0]), second = fate_of(&links[1]);
    CHECK(has_cancelled[0] == (first != 2) && has_cancelled[1] == (second != 2));
    CHECK(fate_of(&links[2]) == 2 && fate_of(&links[3]) == 2);
    outcome((first != 2) + 2 * (second != 2));
    let_go();
}

const scenario cancel_settled_neighbours = {
    "cancel-settled-neighbours",
    start_neighbours,
    {cancel_0, cancel_1, resolve},
    finish_settled_neighbours,
    2,
    4,
};

/* Inline reactions that line up behind a running handler, and are cancelled there. */
static void settle_inside_handler(void) {
    resolve();
    scheduler_point();
}

static void start_delivering(void) {
    start();
    other = defer();
    CHECK(vow_resolve(other.resolver, vow_int(1)));
    links[0].inside = settle_inside_handler;
    watch(&links[1], it.promise, NULL, NULL);
}

static void settle_inside_run(void) {
    watch(&links[0], other.promise, NULL, NULL);
}

static void come_late(void) {
    watch(&links[2], it.promise, NULL, NULL);
    watch(&links[3], it.promise, NULL, NULL);
    has_cancelled[0] = vow_cancel(links[2].promise);
    has_cancelled[1] = vow_cancel(links[1].promise);
}

static void finish_delivering(void) {
    int late = fate_of(&links[2]), first = fate_of(&links[1]);
    CHECK(fate_of(&links[0]) == 2 && fate_of(&links[3]) == 2);
    CHECK(has_cancelled[0] == (late != 2) && has_cancelled[1] == (first != 2));
    /* The late one does not run before the first has settled. */
    CHECK(late != 2 || first == 2);
    outcome((late != 2) + (first != 2));
    release(&other);
    let_go();
}

const scenario cancel_delivering = {
    "cancel-delivering", start_delivering, {settle_inside_run, come_late}, finish_delivering, 3, 3,
};

/* Two readers of one promise. */
static void start_shared(void) {
    start();
    hear_resolver(&hook, it.resolver);
    watch(&links[0], it.promise, NULL, NULL);
    watch(&links[1], it.promise, NULL, NULL);
    let_go_of_promise();
}

static void finish_both_readers(void) {
    CHECK(fate_of(&links[0]) == 0 && fate_of(&links[1]) == 0);
    /* The one that came last has seen that nobody else reads it. */
    check_heard(&hook, 1, 1);
    resolve();
    CHECK(!has_resolved);
    outcome(0);
    let_go();
}

const scenario cancel_both_readers = {
    "cancel-both-readers", start_shared, {cancel_0, cancel_1}, finish_both_readers, 3, 1,
};

static void finish_one_reader(void) {
    int fate = fate_of(&links[0]);
    CHECK(has_cancelled[0] == (fate != 2) && has_resolved);
    CHECK(fate_of(&links[1]) == 2 && links[1].fulfilled == 1);
    check_heard(&hook, 0, 0);
    outcome(fate != 2);
    let_go();
}

const scenario cancel_one_reader = {
    "cancel-one-reader", start_shared, {cancel_0, resolve}, finish_one_reader, 4, 2,
};

/* A thread waits for what is cancelled. */
static int answer;
static vow_value error;

static void start_awaited(void) {
    start();
    watch(&links[0], it.promise, NULL, NULL);
    answer = -100;
}

static void await(vow_promise *promise) {
    answer = vow_await(promise, VOW_FOREVER, &error);
}

static void await_promise(void) {
    await(it.promise);
}

static void await_0(void) {
    await(links[0].promise);
}

static void finish_awaited(bool cancelled) {
    CHECK(answer == (cancelled ? VOW_REJECTED : VOW_FULFILLED));
    CHECK(!cancelled || vow_error_code(error) == VOW_ECANCELLED);
    check_watched(&links[0]);
    vow_value_release(error);
    outcome(cancelled);
    let_go();
}

static void finish_awaited_promise(void) {
    CHECK(has_cancelled[0] != has_resolved);
    finish_awaited(has_cancelled[0]);
}

static void finish_awaited_reaction(void) {
    CHECK(has_resolved && has_cancelled[0] == (fate_of(&links[0]) != 2));
    finish_awaited(has_cancelled[0]);
}

const scenario cancel_awaited = {
    "cancel-awaited",
    start_awaited,
    {await_promise, cancel_promise, resolve},
    finish_awaited_promise,
    2,
    2,
};

const scenario cancel_awaited_reaction = {
    "cancel-awaited-reaction",
    start_awaited,
    {await_0, cancel_0, resolve},
    finish_awaited_reaction,
    2,
    2,
};

/* A waiting thread leaves the queue in which another member is cancelled. */
static void await_a_while(void) {
    answer = vow_await(it.promise, 3600000000000, &error);
}

static void finish_waiter_leaves(void) {
    CHECK(answer == VOW_PENDING && fate_of(&links[0]) == 0 && fate_of(&links[1]) == 0);
    resolve();
    CHECK(fate_of(&links[2]) == 2 && fate_of(&links[3]) == 2);
    outcome(0);
    let_go();
}

static void come_and_cancel_1(void) {
    watch(&links[3], it.promise, NULL, NULL);
    cancel_1();
    cancel_0();
}

const scenario cancel_beside_waiter = {
    "cancel-beside-waiter", start_three, {await_a_while, come_and_cancel_1},
    finish_waiter_leaves,   3,           1,
};
