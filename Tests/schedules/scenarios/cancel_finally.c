/* A finally that waits, and a thenable, are cancelled. */
#include "cancel_follow_tools.h"

/* A finally that waits for its handler's promise, or is about to. */
static void start_finally(void) {
    start();
    hear_resolver(&hook, inner.resolver);
    link.returned = inner.promise;
    inner.promise = NULL;
    watch_as(&link, source.promise, NULL, NULL, VOW_FINALLY);
    watch(&later, link.promise, NULL, NULL);
}

static void start_waiting_finally(void) {
    start_finally();
    run_link();
}

static void cancel_link(void) {
    has_cancelled = vow_cancel(link.promise);
}

static void finish_finally(void) {
    int64_t content = content_of_promise(link.promise);
    check_watched(&link);
    CHECK(content == (has_cancelled ? VOW_ECANCELLED : 1));
    check_watched(&later);
    CHECK(later.content == content);
    vow_promise_release(link.returned);
    check_heard(&hook, !has_settled, 1);
    outcome(has_cancelled);
    let_go();
}

SCENARIO cancel_waiting_finally = {
    "cancel-waiting-finally",
    start_waiting_finally,
    {cancel_link, settle_inner},
    finish_finally,
    4,
    2,
};

SCENARIO cancel_finally = {
    "cancel-finally", start_finally, {run_link, cancel_link, settle_inner}, finish_finally, 2, 2,
};

/* And somebody follows it. */
static void start_followed_finally(void) {
    start_finally();
    CHECK(vow_resolve(outer.resolver, vow_from_promise(vow_promise_retain(link.promise))));
}

static void finish_followed_finally(void) {
    CHECK(content_of_promise(outer.promise) == content_of_promise(link.promise));
    finish_finally();
}

SCENARIO cancel_followed_finally = {
    "cancel-followed-finally",
    start_followed_finally,
    {run_link, cancel_link, settle_inner},
    finish_followed_finally,
    2,
    2,
};

/* A thenable is asked, or not any more. */
static vow_resolver *given;
static bool was_asked;

static bool subscribe(void *pointer, vow_resolver *resolver) {
    (void)pointer;
    hear_resolver(&hook, resolver);
    given = resolver;
    was_asked = true;
    return true;
}

static void resolve_with_thenable(void) {
    static const vow_class cls = {sizeof cls, "thenable", NULL, subscribe};
    vow_resolve(outer.resolver, vow_object(NULL, &cls));
}

static void start_thenable(void) {
    start();
    watch(&later, outer.promise, NULL, NULL);
    given = NULL;
    was_asked = false;
}

static void finish_thenable(void) {
    CHECK(has_cancelled);
    check_watched(&later);
    CHECK(later.rejected == 1 && later.content == VOW_ECANCELLED);
    if (was_asked) {
        check_heard(&hook, 1, 1);
        vow_resolver_release(given);
    }
    outcome(was_asked);
    let_go();
}

SCENARIO cancel_thenable = {
    "cancel-thenable", start_thenable, {resolve_with_thenable, cancel_outer}, finish_thenable, 3, 2,
};
