/* Promises in the middle of a path, held by nobody but their followers: they die when they begin to
 * follow, while other threads walk past them. As in a recursion, they are promises of handlers that
 * return a promise; one that is resolved by hand stays, because its resolver holds it. */
#include "../scenario.h"

#include <stddef.h>
#include <string.h>

static deferred first, second, third, end, sources[2];
static vow_promise *dying[2];
static call calls[2];

static vow_value return_end(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_from_promise(vow_promise_retain(end.promise));
}

/* Then nobody else holds it. */
static vow_value give_end_away(vow_value input, void *context) {
    vow_promise *returned = end.promise;
    (void)input;
    (void)context;
    end.promise = NULL;
    return vow_from_promise(returned);
}

static vow_value return_second_dying(vow_value input, void *context) {
    vow_promise *returned = dying[1];
    (void)input;
    (void)context;
    dying[1] = NULL;
    return vow_from_promise(returned);
}

static vow_promise *follower_of(int source, vow_handler handler) {
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = handler;
    reaction.executor = vow_executor_inline();
    return vow_then_with(vow_promise_retain(sources[source].promise), &reaction);
}

static void follow_with_handle(const deferred *follower) {
    vow_value followed = vow_from_promise(dying[0]);
    dying[0] = NULL;
    CHECK(vow_resolve(follower->resolver, followed));
}

static void start_without(void) {
    first = defer();
    third = defer();
    end = defer();
    sources[0] = defer();
    sources[1] = defer();
    memset(calls, 0, sizeof calls);
    on_settled(first.promise, NULL, &calls[0]);
    on_settled(third.promise, NULL, &calls[1]);
    dying[1] = NULL;
}

static void start(void) {
    start_without();
    dying[0] = follower_of(0, return_end);
    dying[1] = follower_of(1, return_end);
}

static void one_dies(void) {
    CHECK(vow_resolve(sources[0].resolver, vow_none()));
}

static void other_dies(void) {
    CHECK(vow_resolve(sources[1].resolver, vow_none()));
}

static void third_follows_first(void) {
    resolve_with(&third, &first);
}

static void settle_end(void) {
    CHECK(vow_resolve(end.resolver, vow_int(6)));
    vow_resolver_release(end.resolver);
    end.resolver = NULL;
}

static void clean_up(void) {
    release(&first);
    release(&third);
    release(&end);
    release(&sources[0]);
    release(&sources[1]);
    vow_promise_release(dying[0]);
    vow_promise_release(dying[1]);
}

static void finish(void) {
    check_once(&calls[0], false, 6);
    check_once(&calls[1], false, 6);
    outcome(calls[0].started < calls[1].started ? 0 : 1);
    clean_up();
}

static void finish_first(void) {
    check_once(&calls[0], false, 6);
    outcome(0);
    clean_up();
}

/* The walker holds the promise in between at the moment at which it dies. */
static void start_followed(void) {
    start();
    vow_promise_release(dying[0]);
    dying[0] = follower_of(0, give_end_away);
    follow_with_handle(&first);
}

SCENARIO walk_past_dying = {
    "walk-past-dying", start_followed, {one_dies, third_follows_first, settle_end}, finish, 2, 2,
};

/* It gets a second follower meanwhile, which brings the last handle. */
static void start_joined(void) {
    start();
    vow_resolve(first.resolver, vow_from_promise(vow_promise_retain(dying[0])));
}

static void third_takes_handle(void) {
    follow_with_handle(&third);
}

SCENARIO walk_behind_dying = {
    "walk-behind-dying", start_joined, {one_dies, third_takes_handle, settle_end}, finish, 2, 2,
};

/* Two neighbours in the path die at the same time. */
static void start_two(void) {
    start();
    vow_promise_release(dying[0]);
    dying[0] = follower_of(0, return_second_dying);
    follow_with_handle(&first);
}

SCENARIO two_die = {
    "two-die", start_two, {one_dies, other_dies, settle_end}, finish_first, 2, 1,
};

/* The same while a thread holds the first of them for a while: it stays in between, or dies later.
 */
static vow_promise *held;

static void start_held(void) {
    start();
    vow_promise_release(dying[0]);
    dying[0] = follower_of(0, return_second_dying);
    held = vow_promise_retain(dying[0]);
    follow_with_handle(&first);
}

static void let_go(void) {
    vow_promise_release(held);
}

SCENARIO held_while_dying = {
    "held-while-dying", start_held, {one_dies, other_dies, let_go, settle_end}, finish_first, 1, 1,
};

/* A path so long that who comes to it stands with the promise that dies at this moment: two are
 * passed here. */
static void start_long(void) {
    start();
    /* `second` follows the one that dies, and `third`, from before that, the second. */
    second = defer();
    resolve_with(&third, &second);
    follow_with_handle(&second);
}

static void first_follows_third(void) {
    resolve_with(&first, &third);
}

static void finish_long(void) {
    check_once(&calls[0], false, 6);
    check_once(&calls[1], false, 6);
    release(&second);
    outcome(0);
    clean_up();
}

SCENARIO stand_with_dying = {
    "stand-with-dying", start_long, {one_dies, first_follows_third, settle_end}, finish_long, 2, 1,
};

/* Both that are to move on are cancelled: the second gives up the one that dies, and the first,
 * which stands where both go, is then the last that reads it. */
static void start_both(void) {
    start_without();
    dying[0] = follower_of(0, give_end_away);
    CHECK(vow_resolve(first.resolver, vow_from_promise(vow_promise_retain(dying[0]))));
    follow_with_handle(&third);
}

static void cancel_both(void) {
    CHECK(vow_cancel(third.promise));
    (void)vow_cancel(first.promise);
}

static void finish_both(void) {
    check_once(&calls[0], true, VOW_ECANCELLED);
    check_once(&calls[1], true, VOW_ECANCELLED);
    outcome(end.promise == NULL);
    clean_up();
}

SCENARIO cancel_both_moving = {
    "cancel-both-moving", start_both, {one_dies, cancel_both}, finish_both, 2, 2,
};
