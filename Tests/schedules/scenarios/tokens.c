/* Cancel sources and their tokens. */
#include "list.h"

#include <stddef.h>
#include <string.h>

static deferred it, inner;
static vow_cancel_source *source, *parents[2];
static watched links[2];
static heard hook;
static list_executor executor;
static bool has_cancelled, has_resolved, ended;

static void start(void) {
    it = defer();
    inner = defer();
    memset(links, 0, sizeof links);
    memset(&hook, 0, sizeof hook);
    links[0].inside = scheduler_point;
    source = vow_cancel_source_create();
    parents[0] = parents[1] = NULL;
    has_cancelled = has_resolved = ended = false;
}

static void let_go(void) {
    vow_promise_release(links[0].promise);
    vow_promise_release(links[1].promise);
    vow_cancel_source_release(source);
    vow_cancel_source_release(parents[0]);
    vow_cancel_source_release(parents[1]);
    release(&it);
    release(&inner);
}

static vow_token *token(void) {
    return vow_cancel_source_token(source);
}

static void cancel_source(void) {
    CHECK(vow_cancel_source_cancel_with(source, vow_int(5)));
}

static void resolve(void) {
    has_resolved = vow_resolve(it.resolver, vow_int(1));
    ended = true;
}

static void check_reason(vow_promise *promise, int64_t reason) {
    vow_value error;
    CHECK(vow_promise_peek(promise, &error));
    CHECK(vow_error_code(error) == VOW_ECANCELLED);
    CHECK(vow_error_payload(error).as.integer == reason);
}

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

static void start_reaction(void) {
    start();
    watch(&links[0], it.promise, NULL, token());
}

static void finish_reaction(void) {
    CHECK(has_resolved);
    check_one_handler();
    let_go();
}

const scenario token_settle = {
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

const scenario token_settle_unheld = {
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

const scenario token_passes = {
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

const scenario token_handed_over = {
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

const scenario token_running = {
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

const scenario token_running_passes = {
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

const scenario token_and_cancel = {
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

const scenario token_cancel_running = {
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

const scenario token_register = {
    "token-register", start, {make_reaction, cancel_source}, finish_made, 5, 1,
};

/* And the promise is settled, too. */
const scenario token_register_settle = {
    "token-register-settle", start, {make_reaction, cancel_source, resolve}, finish_reaction, 2, 3,
};

/* Two links of one chain with one token. */
static void start_chain(void) {
    start();
    links[0].inside = NULL;
    watch_as(&links[0], it.promise, NULL, token(), WITHOUT_CATCH);
    watch(&links[1], links[0].promise, NULL, token());
}

static void finish_chain(void) {
    int64_t content = content_of_promise(links[0].promise);
    check_watched(&links[0]);
    check_watched(&links[1]);
    CHECK(links[1].fulfilled + links[1].rejected == 1);
    CHECK(content == RESULT ? links[0].fulfilled == 1 : content == VOW_ECANCELLED);
    CHECK(links[1].fulfilled == 0 || content == RESULT);
    outcome(links[0].fulfilled + links[1].fulfilled);
    let_go();
}

const scenario token_chain = {
    "token-chain", start_chain, {cancel_source, resolve}, finish_chain, 3, 3,
};

/* A reaction that follows what its handler returned. */
static void start_following(void) {
    start();
    links[0].returned = inner.promise;
    inner.promise = NULL;
    hear_resolver(&hook, inner.resolver);
    watch(&links[0], it.promise, NULL, token());
}

static void settle_inner(void) {
    has_cancelled = !vow_resolve(inner.resolver, vow_int(9));
}

static void finish_following(void) {
    int64_t content = content_of_promise(links[0].promise);
    check_watched(&links[0]);
    CHECK(links[0].fulfilled + links[0].rejected == 1);
    CHECK(content == 9 || content == VOW_ECANCELLED);
    /* Cancelled before it began, it has waited for inner in its rejection handler. */
    CHECK(content == VOW_ECANCELLED || !has_cancelled);
    check_heard(&hook, has_cancelled, 1);
    outcome(content == VOW_ECANCELLED);
    let_go();
}

static void start_followed(void) {
    start_following();
    resolve();
}

const scenario token_following = {
    "token-following", start_followed, {cancel_source, settle_inner}, finish_following, 4, 2,
};

const scenario token_begins_to_follow = {
    "token-begins-to-follow",
    start_following,
    {cancel_source, resolve, settle_inner},
    finish_following,
    2,
    2,
};

/* Hooks of a token. */
static void add_hook(void) {
    hear_token(&hook, token());
}

static void finish_hook(void) {
    check_heard(&hook, 1, 1);
    outcome(0);
    let_go();
}

const scenario token_hook = {
    "token-hook", start, {add_hook, cancel_source}, finish_hook, 5, 1,
};

/* The last source goes; the token stays. */
static vow_token *kept;

static void start_kept(void) {
    start();
    kept = vow_token_retain(token());
}

static void release_source(void) {
    vow_cancel_source_release(source);
}

static void add_hook_to_kept(void) {
    hear_token(&hook, kept);
}

static void finish_unsourced(void) {
    source = NULL;
    check_heard(&hook, 0, 0);
    vow_token_release(kept);
    outcome(0);
    let_go();
}

const scenario token_hook_release = {
    "token-hook-release", start_kept, {add_hook_to_kept, release_source}, finish_unsourced, 5, 1,
};

/* One of two sources cancels, then both go. */
static void start_two_sources(void) {
    start_kept();
    vow_cancel_source_retain(source);
    links[0].inside = NULL;
    watch(&links[0], it.promise, NULL, kept);
    vow_token_release(kept);
    hear_token(&hook, kept);
}

static void cancel_and_release(void) {
    cancel_source();
    release_source();
}

static void finish_two_sources(void) {
    source = NULL;
    check_heard(&hook, 1, 1);
    check_watched(&links[0]);
    CHECK(links[0].rejected == 1);
    outcome(0);
    let_go();
}

const scenario token_two_sources = {
    "token-two-sources",
    start_two_sources,
    {cancel_and_release, release_source},
    finish_two_sources,
    4,
    1,
};

/* The last source goes while a reaction with its token is through. */
static void finish_through(void) {
    source = NULL;
    CHECK(fate_of(&links[0]) == 2 && links[0].fulfilled == 1);
    outcome(0);
    let_go();
}

const scenario token_through = {
    "token-through", start_reaction, {release_source, resolve}, finish_through, 4, 1,
};

/* A source with two parents. */
static void start_parents(void) {
    start();
    parents[0] = vow_cancel_source_create();
    parents[1] = vow_cancel_source_create();
    vow_cancel_source_release(source);
    source = NULL;
}

static void make_linked(void) {
    vow_token *tokens[2] = {vow_cancel_source_token(parents[0]),
                            vow_cancel_source_token(parents[1])};
    source = vow_cancel_source_create_linked(tokens, 2);
}

static void start_linked(void) {
    start_parents();
    make_linked();
    links[0].inside = NULL;
    watch_as(&links[0], it.promise, NULL, token(), WITHOUT_CATCH);
    hear_token(&hook, token());
}

static void cancel_parent_0(void) {
    CHECK(vow_cancel_source_cancel_with(parents[0], vow_int(10)));
}

static void cancel_parent_1(void) {
    CHECK(vow_cancel_source_cancel_with(parents[1], vow_int(11)));
}

static void finish_linked(void) {
    int64_t reason;
    CHECK(vow_token_is_cancelled(token()));
    reason = vow_token_reason(token()).as.integer;
    CHECK(reason == 10 || reason == 11);
    check_watched(&links[0]);
    check_reason(links[0].promise, reason);
    check_heard(&hook, 1, 1);
    outcome((int)reason - 10);
    let_go();
}

const scenario linked_parents = {
    "linked-parents", start_linked, {cancel_parent_0, cancel_parent_1}, finish_linked, 3, 2,
};

/* It is made while a parent is cancelled. */
static void make_linked_and_register(void) {
    make_linked();
    links[0].inside = NULL;
    watch_as(&links[0], it.promise, NULL, token(), WITHOUT_CATCH);
    hear_token(&hook, token());
}

const scenario linked_made = {
    "linked-made",
    start_parents,
    {make_linked_and_register, cancel_parent_0, cancel_parent_1},
    finish_linked,
    2,
    2,
};

/* It goes while a parent is cancelled: the reaction has its token, so it is cancelled all the same.
 */
static void finish_linked_released(void) {
    source = NULL;
    check_watched(&links[0]);
    check_reason(links[0].promise, 10);
    check_heard(&hook, 1, 1);
    outcome(0);
    let_go();
}

const scenario linked_released = {
    "linked-released",
    start_linked,
    {release_source, cancel_parent_0},
    finish_linked_released,
    4,
    1,
};

/* The same, and nobody else has it: it dies. */
static void start_linked_unused(void) {
    start_parents();
    make_linked();
}

static void finish_linked_unused(void) {
    source = NULL;
    outcome(0);
    let_go();
}

const scenario linked_unused = {
    "linked-unused",
    start_linked_unused,
    {release_source, cancel_parent_0},
    finish_linked_unused,
    3,
    1,
};

/* A reaction follows another one of the same token, and is moved on past it while both are
 * cancelled. */
static deferred ready;

static void start_shared(void) {
    start();
    ready = defer();
    CHECK(vow_resolve(ready.resolver, vow_int(1)));
    links[0].inside = NULL;
    links[0].returned = vow_promise_retain(inner.promise);
    watch(&links[0], it.promise, NULL, token());
    links[1].returned = links[0].promise;
    links[0].promise = NULL;
    watch(&links[1], ready.promise, NULL, token());
}

static void finish_shared(void) {
    check_watched(&links[0]);
    check_watched(&links[1]);
    check_reason(links[1].promise, 5);
    vow_promise_release(links[0].returned);
    outcome(links[0].rejected);
    release(&ready);
    let_go();
}

const scenario token_shared = {
    "token-shared", start_shared, {resolve, cancel_source}, finish_shared, 3, 2,
};

/* A grandchild. */
static void start_grandchild(void) {
    vow_token *tokens[1];
    start();
    tokens[0] = token();
    parents[0] = source;
    parents[1] = vow_cancel_source_create_linked(tokens, 1);
    tokens[0] = vow_cancel_source_token(parents[1]);
    source = vow_cancel_source_create_linked(tokens, 1);
    links[0].inside = NULL;
    watch_as(&links[0], it.promise, NULL, token(), WITHOUT_CATCH);
    hear_token(&hook, token());
}

static void cancel_parent_1_perhaps(void) {
    vow_cancel_source_cancel_with(parents[1], vow_int(11));
}

const scenario linked_grandchild = {
    "linked-grandchild",
    start_grandchild,
    {cancel_parent_0, cancel_parent_1_perhaps},
    finish_linked,
    3,
    2,
};
