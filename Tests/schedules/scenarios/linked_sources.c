/* Sources that are linked to others. */
#include "token_tools.h"

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

SCENARIO linked_parents = {
    "linked-parents", start_linked, {cancel_parent_0, cancel_parent_1}, finish_linked, 3, 2,
};

/* It is made while a parent is cancelled. */
static void make_linked_and_register(void) {
    make_linked();
    links[0].inside = NULL;
    watch_as(&links[0], it.promise, NULL, token(), WITHOUT_CATCH);
    hear_token(&hook, token());
}

SCENARIO linked_made = {
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

SCENARIO linked_released = {
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

SCENARIO linked_unused = {
    "linked-unused",
    start_linked_unused,
    {release_source, cancel_parent_0},
    finish_linked_unused,
    3,
    1,
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

SCENARIO linked_grandchild = {
    "linked-grandchild",
    start_grandchild,
    {cancel_parent_0, cancel_parent_1_perhaps},
    finish_linked,
    3,
    2,
};
