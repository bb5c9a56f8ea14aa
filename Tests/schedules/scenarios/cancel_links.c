/* Links of a chain, neighbours in a queue and their readers are cancelled. */
#include "cancel_tools.h"

/* Two batches at once: the second waits on the thread's list while the first is handed over. */
static deferred other;

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

SCENARIO cancel_chain = {
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

SCENARIO cancel_both_links = {
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

SCENARIO cancel_given_up = {
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

SCENARIO cancel_neighbours = {
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

SCENARIO cancel_and_come = {
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

SCENARIO cancel_settled_neighbours = {
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

SCENARIO cancel_delivering = {
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

SCENARIO cancel_both_readers = {
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

SCENARIO cancel_one_reader = {
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

SCENARIO cancel_awaited = {
    "cancel-awaited",
    start_awaited,
    {await_promise, cancel_promise, resolve},
    finish_awaited_promise,
    2,
    2,
};

SCENARIO cancel_awaited_reaction = {
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

SCENARIO cancel_beside_waiter = {
    "cancel-beside-waiter", start_three, {await_a_while, come_and_cancel_1},
    finish_waiter_leaves,   3,           1,
};
