/* A token of a chain, of what follows, of hooks, and of several links. */
#include "token_tools.h"

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

SCENARIO token_chain = {
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

SCENARIO token_following = {
    "token-following", start_followed, {cancel_source, settle_inner}, finish_following, 4, 2,
};

SCENARIO token_begins_to_follow = {
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

SCENARIO token_hook = {
    "token-hook", start, {add_hook, cancel_source}, finish_hook, 5, 1,
};

/* The last source goes; the token stays. */
static vow_token *kept;

static void start_kept(void) {
    start();
    kept = vow_token_retain(token());
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

SCENARIO token_hook_release = {
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

SCENARIO token_two_sources = {
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

SCENARIO token_through = {
    "token-through", start_reaction, {release_source, resolve}, finish_through, 4, 1,
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
    /* Its handler has perhaps returned that, which others hold: the cancelled reaction waits for
     * it. */
    CHECK(vow_resolve(inner.resolver, vow_int(9)));
    check_watched(&links[0]);
    check_watched(&links[1]);
    check_reason(links[1].promise, 5);
    vow_promise_release(links[0].returned);
    outcome(links[0].rejected);
    release(&ready);
    let_go();
}

SCENARIO token_shared = {
    "token-shared", start_shared, {resolve, cancel_source}, finish_shared, 3, 2,
};
