/* Functions that leave, and sources that end, while others cancel. */
#include "../scenario.h"

#include <stddef.h>
#include <string.h>

static deferred it;
static vow_cancel_source *source, *parents[2];
static vow_token *kept;
static heard hooks[2];
static vow_registration *handles[2];
static vow_stage answers[2];

static void start(void) {
    it = defer();
    source = NULL;
    parents[0] = parents[1] = NULL;
    kept = NULL;
    memset(hooks, 0, sizeof hooks);
    handles[0] = handles[1] = NULL;
    answers[0] = answers[1] = VOW_WAITING;
}

static void let_go(void) {
    vow_registration_release(handles[0]);
    vow_registration_release(handles[1]);
    vow_token_release(kept);
    vow_cancel_source_release(source);
    vow_cancel_source_release(parents[0]);
    vow_cancel_source_release(parents[1]);
    release(&it);
}

static void leave_0(void) {
    answers[0] = vow_registration_leave(handles[0]);
    /* What has left is not called, whatever comes. */
    CHECK(answers[0] != VOW_NEVER_RUNS || hooks[0].called == 0);
}

static void leave_1(void) {
    answers[1] = vow_registration_leave(handles[1]);
    CHECK(answers[1] != VOW_NEVER_RUNS || hooks[1].called == 0);
}

static void cancel_source(void) {
    CHECK(vow_cancel_source_cancel(source));
}

static void cancel_promise(void) {
    CHECK(vow_cancel(it.promise));
}

static void resolve(void) {
    CHECK(vow_resolve(it.resolver, vow_int(1)));
}

static void release_promise(void) {
    vow_promise_release(it.promise);
    it.promise = NULL;
}

static void check_hook(int number) {
    vow_stage stage = vow_registration_stage(handles[number]);
    check_heard(&hooks[number], 0, 1);
    CHECK(stage == (hooks[number].called ? VOW_HAS_RUN : VOW_NEVER_RUNS));
    CHECK(answers[number] == stage || answers[number] == VOW_RUNNING ||
          answers[number] == VOW_WAITING);
}

static void finish(void) {
    check_hook(0);
    check_hook(1);
    CHECK(answers[1] != VOW_WAITING || hooks[1].called == 1);
    outcome(hooks[0].called);
    let_go();
}

/* The other one is called in any case. */
static void start_token(void) {
    start();
    source = vow_cancel_source_create();
    handles[0] = register_token(&hooks[0], vow_cancel_source_token(source));
    handles[1] = register_token(&hooks[1], vow_cancel_source_token(source));
}

SCENARIO leave_token = {
    "leave-token", start_token, {leave_0, cancel_source}, finish, 4, 2,
};

static void finish_both(void) {
    check_hook(0);
    check_hook(1);
    outcome(hooks[0].called + hooks[1].called);
    let_go();
}

SCENARIO leave_token_both = {
    "leave-token-both", start_token, {leave_0, leave_1, cancel_source}, finish_both, 3, 3,
};

/* Of a producer. */
static void start_resolver(void) {
    start();
    handles[0] = register_resolver(&hooks[0], it.resolver);
    handles[1] = register_resolver(&hooks[1], it.resolver);
}

SCENARIO leave_resolver = {
    "leave-resolver", start_resolver, {leave_0, cancel_promise}, finish, 4, 2,
};

SCENARIO leave_resolver_both = {
    "leave-resolver-both", start_resolver, {leave_0, leave_1, cancel_promise}, finish_both, 3, 3,
};

SCENARIO leave_unread = {
    "leave-unread", start_resolver, {leave_0, release_promise}, finish, 4, 2,
};

/* Its promise is settled, and dies. */
static void resolve_and_release(void) {
    resolve();
    vow_promise_release(it.promise);
    vow_resolver_release(it.resolver);
    it.promise = NULL;
    it.resolver = NULL;
}

static void finish_resolved(void) {
    check_hook(0);
    check_hook(1);
    CHECK(hooks[0].called == 0 && hooks[1].called == 0);
    outcome(0);
    let_go();
}

SCENARIO leave_resolved = {
    "leave-resolved",
    start_resolver,
    {leave_0, resolve_and_release, leave_1},
    finish_resolved,
    3,
    1,
};

/* A third one comes meanwhile. */
static heard late;

static void start_with_late(void) {
    start_resolver();
    memset(&late, 0, sizeof late);
}

static void add_late(void) {
    hear_resolver(&late, it.resolver);
}

static void finish_with_late(void) {
    check_heard(&late, 1, 1);
    finish();
}

SCENARIO leave_and_come = {
    "leave-and-come", start_with_late, {leave_0, add_late, cancel_promise}, finish_with_late, 3, 2,
};

/* Linked sources that live by their tokens. */
static void start_linked(void) {
    vow_token *tokens[2];
    start();
    parents[0] = vow_cancel_source_create();
    parents[1] = vow_cancel_source_create();
    tokens[0] = vow_cancel_source_token(parents[0]);
    tokens[1] = vow_cancel_source_token(parents[1]);
    source = vow_cancel_source_create_linked(tokens, 2);
    kept = vow_token_retain(vow_cancel_source_token(source));
    handles[0] = register_token(&hooks[0], kept);
    vow_cancel_source_release(source);
    source = NULL;
}

static void release_token(void) {
    vow_token_release(kept);
    kept = NULL;
}

static void cancel_parent(void) {
    CHECK(vow_cancel_source_cancel(parents[0]));
}

static void release_parent_0(void) {
    vow_cancel_source_release(parents[0]);
    parents[0] = NULL;
}

static void release_parent_1(void) {
    vow_cancel_source_release(parents[1]);
    parents[1] = NULL;
}

static void finish_linked(void) {
    check_hook(0);
    outcome(hooks[0].called);
    let_go();
}

/* Its last token goes while a parent is cancelled. */
SCENARIO linked_token_released = {
    "linked-token-released", start_linked, {release_token, cancel_parent}, finish_linked, 4, 2,
};

/* It leaves, too. */
SCENARIO linked_token_leaves = {
    "linked-token-leaves",
    start_linked,
    {release_token, cancel_parent, leave_0},
    finish_linked,
    2,
    2,
};

/* Its parents go: with the last one nobody could cancel it. */
static void finish_orphan(void) {
    check_heard(&hooks[0], 0, 0);
    finish_linked();
}

SCENARIO linked_orphan = {
    "linked-orphan", start_linked, {release_parent_0, release_parent_1}, finish_orphan, 4, 1,
};

SCENARIO linked_orphan_released = {
    "linked-orphan-released",
    start_linked,
    {release_parent_0, release_parent_1, release_token},
    finish_orphan,
    3,
    1,
};

/* One is cancelled, and the other one goes. */
static void finish_cancelled(void) {
    check_hook(0);
    check_heard(&hooks[0], 1, 1);
    outcome(0);
    let_go();
}

SCENARIO linked_other_goes = {
    "linked-other-goes", start_linked, {cancel_parent, release_parent_1}, finish_cancelled, 4, 1,
};
