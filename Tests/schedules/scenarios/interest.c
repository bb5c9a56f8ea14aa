/* Hooks of producers, and the last releases of what they produce. */
#include "../scenario.h"

#include <stddef.h>
#include <string.h>

static deferred it, outer, third;
static heard hook, other_hook;
static bool has_cancelled, has_resolved;

static void start(void) {
    it = defer();
    outer = defer();
    third = defer();
    memset(&hook, 0, sizeof hook);
    memset(&other_hook, 0, sizeof other_hook);
    has_cancelled = has_resolved = false;
}

static void let_go(void) {
    release(&it);
    release(&outer);
    release(&third);
}

static void add_hook(void) {
    hear_resolver(&hook, it.resolver);
}

static void add_other_hook(void) {
    hear_resolver(&other_hook, it.resolver);
}

static void cancel(void) {
    has_cancelled = vow_cancel(it.promise);
}

static void resolve(void) {
    has_resolved = vow_resolve(it.resolver, vow_int(1));
}

static void release_promise(void) {
    vow_promise_release(it.promise);
    it.promise = NULL;
}

static void release_resolver(void) {
    vow_resolver_release(it.resolver);
    it.resolver = NULL;
}

/* A hook comes while the promise is cancelled. */
static void finish_hooks(void) {
    CHECK(has_cancelled);
    check_heard(&hook, 1, 1);
    check_heard(&other_hook, 1, 1);
    outcome(0);
    let_go();
}

SCENARIO hook_cancel = {
    "hook-cancel", start, {add_hook, cancel, add_other_hook}, finish_hooks, 3, 1,
};

/* Or given up. */
static void finish_given_up(void) {
    check_heard(&hook, 1, 1);
    check_heard(&other_hook, 1, 1);
    CHECK(unhandled == 0);
    outcome(0);
    let_go();
}

SCENARIO hook_release = {
    "hook-release", start, {add_hook, release_promise, add_other_hook}, finish_given_up, 3, 1,
};

/* Or resolved, or cancelled. */
static void finish_resolved(void) {
    CHECK(has_cancelled != has_resolved);
    check_heard(&hook, has_cancelled, has_cancelled);
    outcome(has_resolved);
    let_go();
}

SCENARIO hook_resolve = {
    "hook-resolve", start, {add_hook, resolve, cancel}, finish_resolved, 3, 2,
};

/* Or given up before it is resolved, or afterwards. */
static void finish_released_or_resolved(void) {
    CHECK(has_resolved);
    check_heard(&hook, 0, 1);
    outcome(hook.called);
    let_go();
}

SCENARIO hook_release_resolve = {
    "hook-release-resolve",      start, {add_hook, resolve, release_promise},
    finish_released_or_resolved, 3,     2,
};

/* The last resolver goes, and so does the last reader: called or broken, and reported or not. */
static void start_heard(void) {
    start();
    add_hook();
}

static void finish_broken(void) {
    check_heard(&hook, 0, 1);
    CHECK(hook.called + unhandled == 1);
    outcome(unhandled);
    let_go();
}

SCENARIO release_or_broken = {
    "release-or-broken", start_heard, {release_promise, release_resolver}, finish_broken, 5, 2,
};

/* The last resolver adds its hook first; another one goes at the same time. */
static void start_two_resolvers(void) {
    start();
    vow_resolver_retain(it.resolver);
}

static void add_hook_and_release(void) {
    add_hook();
    vow_resolver_release(it.resolver);
}

static void release_other_resolver(void) {
    vow_resolver_release(it.resolver);
}

static void finish_two_resolvers(void) {
    it.resolver = NULL;
    finish_broken();
}

SCENARIO hook_last_resolver = {
    "hook-last-resolver",
    start_two_resolvers,
    {add_hook_and_release, release_other_resolver, release_promise},
    finish_two_resolvers,
    3,
    2,
};

/* Two readers go at the same time. */
static void start_two_readers(void) {
    start_heard();
    vow_promise_retain(it.promise);
}

static void release_one(void) {
    vow_promise_release(it.promise);
}

static void finish_two_readers(void) {
    it.promise = NULL;
    check_heard(&hook, 1, 1);
    outcome(0);
    let_go();
}

SCENARIO release_two_readers = {
    "release-two-readers", start_two_readers, {release_one, release_one}, finish_two_readers, 5, 1,
};

/* One goes, the other one cancels. */
static void cancel_and_release(void) {
    cancel();
    release_one();
}

static void finish_cancelled_reader(void) {
    CHECK(has_cancelled);
    finish_two_readers();
}

SCENARIO release_cancel = {
    "release-cancel",
    start_two_readers,
    {release_one, cancel_and_release},
    finish_cancelled_reader,
    5,
    1,
};

/* A promise that follows it is given up: nobody reads it any more. */
static void start_follower(void) {
    start_heard();
    CHECK(vow_resolve(outer.resolver, vow_from_promise(it.promise)));
    it.promise = NULL;
}

static void release_outer(void) {
    vow_promise_release(outer.promise);
    outer.promise = NULL;
}

SCENARIO release_follower = {
    "release-follower", start_follower, {release_outer, resolve}, finish_released_or_resolved, 5, 2,
};

/* While it begins to follow. Nobody is left to read it, in any order. */
static void follow(void) {
    vow_promise *followed = it.promise;
    it.promise = NULL;
    CHECK(vow_resolve(outer.resolver, vow_from_promise(followed)));
}

static void finish_unread(void) {
    check_heard(&hook, 1, 1);
    CHECK(unhandled == 0);
    outcome(0);
    let_go();
}

SCENARIO release_adopting = {
    "release-adopting", start_heard, {follow, release_outer}, finish_unread, 4, 1,
};

/* And its resolver goes too. */
static void follow_and_release(void) {
    follow();
    vow_resolver_release(outer.resolver);
    outer.resolver = NULL;
}

SCENARIO release_adopting_resolved = {
    "release-adopting-resolved",
    start_heard,
    {follow_and_release, release_outer},
    finish_unread,
    4,
    1,
};

/* While it settles. */
static void finish_adopted_or_resolved(void) {
    CHECK(has_resolved);
    check_heard(&hook, 0, 1);
    outcome(hook.called);
    let_go();
}

SCENARIO release_adopting_settled = {
    "release-adopting-settled", start_heard, {follow, release_outer, resolve},
    finish_adopted_or_resolved, 2,           2,
};

/* A path of two: what is in the middle is given up with its follower, or before. */
static void start_path(void) {
    start_heard();
    CHECK(vow_resolve(outer.resolver, vow_from_promise(vow_promise_retain(third.promise))));
    CHECK(vow_resolve(third.resolver, vow_from_promise(it.promise)));
    it.promise = NULL;
}

static void release_third(void) {
    vow_promise_release(third.promise);
    third.promise = NULL;
}

SCENARIO release_path = {
    "release-path", start_path, {release_outer, release_third}, finish_unread, 3, 1,
};

/* Somebody else begins to follow it and is given up, too. */
static void third_follows(void) {
    vow_resolve(third.resolver, vow_from_promise(vow_promise_retain(outer.promise)));
    release_outer();
    release_third();
}

SCENARIO release_passing = {
    "release-passing", start_heard, {follow, third_follows}, finish_unread, 3, 1,
};

/* Two hold a reaction; one lets somebody observe it for a moment. Whoever goes last, it was
 * observed in vain. */
static vow_promise *held, *held_too;

static vow_value same(vow_value input, void *context) {
    (void)context;
    return vow_value_retain(input);
}

static void start_held(void) {
    start();
    held = vow_then(it.promise, same, NULL);
    held_too = vow_promise_retain(held);
    it.promise = NULL;
}

static void release_held(void) {
    vow_promise_release(held);
}

static void observe_and_release(void) {
    vow_promise *observer = vow_then(vow_promise_retain(held_too), same, NULL);
    CHECK(vow_cancel(observer));
    vow_promise_release(observer);
    vow_promise_release(held_too);
}

static void finish_held(void) {
    CHECK(vow_reject(it.resolver, vow_error("test", 1, "nobody sees it")));
    CHECK(unhandled == 1);
    outcome(0);
    let_go();
}

SCENARIO release_observed = {
    "release-observed", start_held, {release_held, observe_and_release}, finish_held, 4, 1,
};

/* Two give up a shield each; one of them cancels it before. The promise settles at the same time:
 * its rejection is reported by each shield that has stayed until then. */
static vow_promise *shield, *shield_too;

static void start_shields(void) {
    start();
    hear_resolver(&hook, it.resolver);
    shield = vow_shield(vow_promise_retain(it.promise));
    shield_too = vow_shield(it.promise);
    it.promise = NULL;
}

static void release_shield(void) {
    vow_promise_release(shield);
}

static void release_shield_too(void) {
    vow_promise_release(shield_too);
}

static void cancel_shield_too(void) {
    vow_cancel(shield_too);
    vow_promise_release(shield_too);
}

static void reject_shielded(void) {
    CHECK(vow_reject(it.resolver, vow_error("test", 1, "nobody sees it")));
}

static void finish_shields(void) {
    check_heard(&hook, 0, 1);
    outcome(unhandled - 1);
    let_go();
}

SCENARIO release_shields = {
    "release-shields",
    start_shields,
    {release_shield, release_shield_too, reject_shielded},
    finish_shields,
    2,
    2,
};

SCENARIO release_shields_cancelled = {
    "release-shields-cancelled",
    start_shields,
    {release_shield, cancel_shield_too, reject_shielded},
    finish_shields,
    2,
    2,
};
