/* Last releases against each other and against use. */
#include "../scenario.h"

#include <stddef.h>
#include <string.h>

static deferred it;
static call calls[1];
static bool resolved;

static void start(void) {
    it = defer();
    memset(calls, 0, sizeof calls);
    resolved = false;
}

static void release_resolver(void) {
    vow_resolver_release(it.resolver);
}

static void release_promise(void) {
    vow_promise_release(it.promise);
}

static void start_shared(void) {
    start();
    vow_resolver_retain(it.resolver);
}

static void resolve_and_release(void) {
    resolved = vow_resolve(it.resolver, vow_int(1));
    vow_resolver_release(it.resolver);
}

/* Reported only if it was broken before the promise was let go. */
static void check_report(void) {
    CHECK(unhandled == 0 || (unhandled == 1 && !resolved));
    outcome(unhandled);
}

SCENARIO last_resolver = {
    "last-resolver-promise",
    start_shared,
    {release_resolver, release_resolver, release_promise},
    check_report,
    3,
    2,
};

static void start_watched(void) {
    start_shared();
    on_settled(it.promise, NULL, &calls[0]);
}

/* Another's release of the resolver does not break it while one is left; what is left resolves. */
static void check_resolved(void) {
    CHECK(resolved);
    check_once(&calls[0], false, 1);
    CHECK(unhandled == 0);
    outcome(0);
}

SCENARIO broken_or_resolved = {
    "resolver-release-resolve",
    start_watched,
    {resolve_and_release, release_resolver, release_promise},
    check_resolved,
    3,
    1,
};

/* A counted value: freed once, by whoever is last, and not before. */
static int alive;
static int freed_by;
static vow_value value;

static void destroy(void *pointer) {
    CHECK(pointer == &alive && alive == 1);
    alive = 0;
    freed_by = scheduler_self();
}

static void start_value(void) {
    static const vow_class cls = {sizeof cls, "alive", destroy, NULL};
    alive = 1;
    value = vow_value_retain(vow_object(&alive, &cls));
}

static void use_value(void) {
    vow_value mine = vow_value_retain(value);
    CHECK(alive == 1);
    vow_value_release(value);
    CHECK(alive == 1 && vow_object_pointer(mine, NULL) == &alive);
    vow_value_release(mine);
}

static void check_freed(void) {
    CHECK(alive == 0);
    outcome(freed_by);
}

SCENARIO value_release = {
    "value-release", start_value, {use_value, use_value}, check_freed, 5, 2,
};

/* The program lets go of an executor while its last work is on the way or runs. */
static list_executor executor;
static vow_resolver *work_resolver;
static int ended_by;

static void start_executor(void) {
    deferred work;
    start();
    list_executor_make(&executor);
    work = defer();
    on_settled(work.promise, executor.handle, &calls[0]);
    vow_promise_release(work.promise);
    work_resolver = work.resolver;
    ended_by = -1;
}

static void note_end(void) {
    if (ended_by == -1 && executor.destroyed == 1) {
        ended_by = scheduler_self();
    }
}

static void give_work(void) {
    vow_resolve(work_resolver, vow_int(3));
    vow_resolver_release(work_resolver);
    note_end();
}

static void do_work(void) {
    list_executor_work(&executor, 1);
    note_end();
}

static void release_executor(void) {
    vow_executor_release(executor.handle);
    note_end();
}

static void check_executor(void) {
    check_once(&calls[0], false, 3);
    CHECK(executor.destroyed == 1);
    outcome(ended_by);
    release(&it);
}

SCENARIO executor_release = {
    "executor-release",
    start_executor,
    {give_work, do_work, release_executor},
    check_executor,
    3,
    3,
};
