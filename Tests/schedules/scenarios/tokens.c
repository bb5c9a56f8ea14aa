/* A token is cancelled while a link of it settles, runs or is made. */
#include "token_tools.h"

/* Exactly one handler runs: for the value, or for the cancellation. A success handler that runs
 * when it comes runs to its end for nothing. */
static void check_one_handler(void) {
    check_watched(&links[0]);
    CHECK(links[0].fulfilled + links[0].rejected == 1);
    CHECK(links[0].rejected == 0 || links[0].content == VOW_ECANCELLED);
    CHECK(links[0].fulfilled == 0 || links[0].content == 1);
    if (content_of_promise(links[0].promise) == RESULT) {
        CHECK(links[0].fulfilled == 1);
        outcome(0);
    } else {
        /* A rejection handler would recover, but a cancelled link is not fulfilled. */
        check_reason(links[0].promise, 5);
        outcome(1 + links[0].fulfilled);
    }
}

static void finish_reaction(void) {
    CHECK(has_resolved);
    check_one_handler();
    let_go();
}

SCENARIO token_settle = {
    "token-settle", start_reaction, {cancel_source, resolve}, finish_reaction, 3, 3,
};

/* Nobody holds its promise: it dies, while its token is cancelled. */
static void start_unheld(void) {
    start_reaction();
    let_go_of_watched(&links[0]);
}

static void finish_unheld(void) {
    CHECK(has_resolved);
    check_watched(&links[0]);
    CHECK(links[0].fulfilled + links[0].rejected == 1);
    outcome(links[0].rejected);
    let_go();
}

SCENARIO token_settle_unheld = {
    "token-settle-unheld", start_unheld, {cancel_source, resolve}, finish_unheld, 4, 2,
};

/* Without a rejection handler. */
static void start_without_catch(void) {
    start();
    watch_as(&links[0], it.promise, NULL, token(), WITHOUT_CATCH);
}

static void finish_without_catch(void) {
    int fate = fate_of(&links[0]);
    CHECK(has_resolved && links[0].rejected == 0);
    if (fate != 2) {
        check_reason(links[0].promise, 5);
    }
    outcome(fate);
    let_go();
}

SCENARIO token_passes = {
    "token-passes", start_without_catch, {cancel_source, resolve}, finish_without_catch, 3, 3,
};

/* On a serial executor: on the way there, there, or running. */
static void prepare_executor(void) {
    start();
    list_executor_make(&executor);
}

static void start_on_executor(void) {
    prepare_executor();
    watch(&links[0], it.promise, executor.handle, token());
}

static void resolve_only(void) {
    has_resolved = vow_resolve(it.resolver, vow_int(1));
}

static void work_one(void) {
    list_executor_work(&executor, 1);
}

static void finish_with_executor(void) {
    finish_reaction();
    vow_executor_release(executor.handle);
    CHECK(executor.destroyed == 1);
}

SCENARIO token_handed_over = {
    "token-handed-over",
    start_on_executor,
    {cancel_source, resolve_only, work_one},
    finish_with_executor,
    2,
    3,
};

static void start_at_executor(void) {
    start_on_executor();
    resolve_only();
}

SCENARIO token_running = {
    "token-running", start_at_executor, {cancel_source, work_one}, finish_with_executor, 4, 3,
};

/* Without a rejection handler it is still its executor's to drop. */
static void start_at_executor_without_catch(void) {
    prepare_executor();
    watch_as(&links[0], it.promise, executor.handle, token(), WITHOUT_CATCH);
    resolve_only();
}

static void finish_without_catch_with_executor(void) {
    finish_without_catch();
    vow_executor_release(executor.handle);
    CHECK(executor.destroyed == 1);
}

SCENARIO token_running_passes = {
    "token-running-passes",
    start_at_executor_without_catch,
    {cancel_source, work_one},
    finish_without_catch_with_executor,
    4,
    3,
};

/* Cancelled by its token and by hand. */
static void cancel_link(void) {
    has_cancelled = vow_cancel(links[0].promise);
}

static void finish_by_hand(void) {
    int64_t content = content_of_promise(links[0].promise);
    check_watched(&links[0]);
    CHECK(content == VOW_ECANCELLED && links[0].rejected == 1 &&
          links[0].content == VOW_ECANCELLED);
    outcome(has_cancelled);
    let_go();
}

SCENARIO token_and_cancel = {
    "token-and-cancel", start_reaction, {cancel_source, cancel_link}, finish_by_hand, 4, 2,
};

static void finish_by_hand_at_executor(void) {
    int64_t content = content_of_promise(links[0].promise);
    check_watched(&links[0]);
    CHECK(content == VOW_ECANCELLED || links[0].fulfilled == 1);
    CHECK(!has_cancelled || content == VOW_ECANCELLED);
    outcome(has_cancelled);
    let_go();
    vow_executor_release(executor.handle);
    CHECK(executor.destroyed == 1);
}

SCENARIO token_cancel_running = {
    "token-cancel-running",
    start_at_executor,
    {cancel_source, cancel_link, work_one},
    finish_by_hand_at_executor,
    2,
    2,
};

/* A reaction is made with it meanwhile: in any order it is cancelled before both have returned. */
static void make_reaction(void) {
    watch(&links[0], it.promise, NULL, token());
}

static void finish_made(void) {
    check_watched(&links[0]);
    CHECK(links[0].rejected == 1 && links[0].content == VOW_ECANCELLED);
    check_reason(links[0].promise, 5);
    outcome(0);
    let_go();
}

SCENARIO token_register = {
    "token-register", start, {make_reaction, cancel_source}, finish_made, 5, 1,
};

/* And the promise is settled, too. */
SCENARIO token_register_settle = {
    "token-register-settle", start, {make_reaction, cancel_source, resolve}, finish_reaction, 2, 3,
};
