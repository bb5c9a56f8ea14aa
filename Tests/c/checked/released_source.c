/* Tests the checked build: a cancel source or token that was released is caught wherever it is
 * used. */
#include "aborts.h"

static vow_cancel_source *released(void) {
    vow_cancel_source *source = vow_cancel_source_create();
    vow_cancel_source_release(source);
    return source;
}

/* The same, and a token keeps its memory. */
static vow_cancel_source *released_but_kept(void) {
    vow_cancel_source *source = vow_cancel_source_create();
    vow_token_retain(vow_cancel_source_token(source));
    vow_cancel_source_release(source);
    return source;
}

static void use_cancel(void) {
    vow_cancel_source_cancel(released());
}

static void use_cancel_with(void) {
    vow_cancel_source_cancel_with(released(), vow_int(1));
}

static void use_token(void) {
    vow_cancel_source_token(released());
}

static void use_retain(void) {
    vow_cancel_source_retain(released());
}

static void use_release(void) {
    vow_cancel_source_release(released());
}

TEST("a released source is caught by every function that takes one, and that is named") {
    check_aborts(use_cancel, "vow_cancel_source_cancel");
    check_aborts(use_cancel_with, "vow_cancel_source_cancel_with");
    check_aborts(use_token, "vow_cancel_source_token");
    check_aborts(use_retain, "vow_cancel_source_retain");
    check_aborts(use_release, "vow_cancel_source_release");
}

static void cancel_kept(void) {
    vow_cancel_source_cancel(released_but_kept());
}

static void retain_kept(void) {
    vow_cancel_source_retain(released_but_kept());
}

static void release_kept(void) {
    vow_cancel_source_release(released_but_kept());
}

TEST("a released source is caught although its token lives") {
    check_aborts(cancel_kept, "vow_cancel_source_cancel");
    check_aborts(retain_kept, "vow_cancel_source_retain");
    check_aborts(release_kept, "vow_cancel_source_release");
}

static vow_token *released_token(void) {
    vow_cancel_source *source = vow_cancel_source_create();
    vow_token *token = vow_token_retain(vow_cancel_source_token(source));
    vow_cancel_source_release(source);
    vow_token_release(token);
    return token;
}

static void hear_of_it(void *context) {
    (void)context;
}

static void ask_token(void) {
    vow_token_is_cancelled(released_token());
}

static void ask_reason(void) {
    vow_value_release(vow_token_reason(released_token()));
}

static void use_on_cancel(void) {
    vow_token_on_cancel(released_token(), hear_of_it, NULL, NULL);
}

static void retain_token(void) {
    vow_token_retain(released_token());
}

static void release_token(void) {
    vow_token_release(released_token());
}

static void link_token(void) {
    vow_token *token = released_token();
    vow_cancel_source_release(vow_cancel_source_create_linked(&token, 1));
}

static void react_with_token(void) {
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = add_one;
    reaction.token = released_token();
    vow_detach(vow_then_with(fulfilled_int(1), &reaction));
}

static void release_borrowed_token(void) {
    vow_cancel_source *source = vow_cancel_source_create();
    vow_token_release(vow_cancel_source_token(source));
    vow_cancel_source_release(source);
}

TEST("a released token is caught by every function that takes one, and that is named") {
    check_aborts(ask_token, "vow_token_is_cancelled");
    check_aborts(ask_reason, "vow_token_reason");
    check_aborts(use_on_cancel, "vow_token_on_cancel");
    check_aborts(retain_token, "vow_token_retain");
    check_aborts(release_token, "vow_token_release");
    check_aborts(link_token, "vow_cancel_source_create_linked");
    check_aborts(react_with_token, "vow_then_with");
}

TEST("a token that was only borrowed of its source must not be released") {
    check_aborts(release_borrowed_token, "vow_token_release");
}

TEST("a token that outlives its source is in order") {
    vow_cancel_source *source = vow_cancel_source_create();
    vow_token *token = vow_token_retain(vow_cancel_source_token(source));
    CHECK(vow_cancel_source_cancel_with(source, vow_int(4)));
    vow_cancel_source_release(source);
    CHECK(vow_token_is_cancelled(token));
    CHECK_INT_EQ(vow_token_reason(token).as.integer, 4);
    vow_token_release(vow_token_retain(token));
    vow_token_release(token);
}
