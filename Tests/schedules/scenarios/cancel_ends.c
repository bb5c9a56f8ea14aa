/* How what was cancelled ends: after its handler, what that returned, and its context (G14); and
 * with its clean-up (G15). */
#include "../scenario.h"

#include <stddef.h>
#include <string.h>

static deferred it, inner, outer;
static watched link, later;
static heard hook, inner_hook;
static bool has_cancelled, has_resolved, has_settled, ended;
static list_executor executor;

static void start(void) {
    it = defer();
    inner = defer();
    outer = defer();
    memset(&link, 0, sizeof link);
    memset(&later, 0, sizeof later);
    memset(&hook, 0, sizeof hook);
    memset(&inner_hook, 0, sizeof inner_hook);
    has_cancelled = has_resolved = has_settled = ended = false;
    list_executor_make(&executor);
    hear_resolver(&hook, it.resolver);
    link.inside = scheduler_point;
}

static void let_go_of_promise(void) {
    vow_promise_release(it.promise);
    it.promise = NULL;
}

static void resolve(void) {
    has_resolved = vow_resolve(it.resolver, vow_int(1));
    ended = true;
}

static void cancel_link(void) {
    has_cancelled = vow_cancel(link.promise);
}

static void work(void) {
    list_executor_work_until(&executor, &ended);
}

static void let_go(void) {
    let_go_of_watched(&link);
    let_go_of_watched(&later);
    vow_promise_release(link.returned);
    release(&it);
    release(&inner);
    release(&outer);
    vow_executor_release(executor.handle);
    CHECK(executor.destroyed == 1);
}

static void finish_by_fate(void) {
    int fate;
    list_executor_drain(&executor);
    fate = fate_of(&link);
    CHECK(has_cancelled == (fate != 2));
    check_heard(&hook, !has_resolved, !has_resolved);
    outcome(fate);
    let_go();
}

/* The last reader stays in the queue, and gets what comes down. */
static void start_stays(void) {
    start();
    watch(&link, it.promise, executor.handle, NULL);
    let_go_of_promise();
}

SCENARIO cancel_stays = {
    "cancel-stays", start_stays, {cancel_link, resolve, work}, finish_by_fate, 2, 3,
};

/* Its executor has it, and no handler is to run: the executor begins it cancelled, and destroys its
 * context. */
static void start_withdrawn(void) {
    start();
    watch_as(&link, it.promise, executor.handle, NULL, WITHOUT_CATCH);
    let_go_of_promise();
}

static void start_withdrawn_at_executor(void) {
    start_withdrawn();
    resolve();
}

SCENARIO cancel_withdrawn = {
    "cancel-withdrawn", start_withdrawn_at_executor, {cancel_link, work}, finish_by_fate, 4, 3,
};

SCENARIO cancel_withdrawn_on_its_way = {
    "cancel-withdrawn-on-its-way",
    start_withdrawn,
    {cancel_link, resolve, work},
    finish_by_fate,
    2,
    3,
};

/* It came while its promise was settling, behind one that is being handed over. */
static void start_late(void) {
    start();
    watch(&later, it.promise, executor.handle, NULL);
}

static void come_late_and_cancel(void) {
    watch_as(&link, it.promise, executor.handle, NULL, WITHOUT_CATCH);
    cancel_link();
}

SCENARIO cancel_late_member = {
    "cancel-late-member", start_late, {resolve, come_late_and_cancel}, finish_by_fate, 3, 1,
};

/* A finally runs once, however it ends. Where both were done, it sees the value. */
static void finish_clean_up(void) {
    int64_t content;
    list_executor_drain(&executor);
    check_watched(&link);
    CHECK(link.content == (has_resolved ? 1 : VOW_ECANCELLED));
    content = content_of_promise(link.promise);
    CHECK(content == (has_cancelled ? VOW_ECANCELLED : 1));
    check_heard(&hook, !has_resolved, !has_resolved);
    outcome(!has_cancelled ? 2 : has_resolved);
    let_go();
}

static void start_clean_up(void) {
    start();
    watch_as(&link, it.promise, NULL, NULL, VOW_FINALLY);
    let_go_of_promise();
}

SCENARIO cancel_clean_up = {
    "cancel-clean-up", start_clean_up, {cancel_link, resolve}, finish_clean_up, 4, 3,
};

static void start_clean_up_elsewhere(void) {
    start();
    watch_as(&link, it.promise, executor.handle, NULL, VOW_FINALLY);
    let_go_of_promise();
}

SCENARIO cancel_clean_up_elsewhere = {
    "cancel-clean-up-elsewhere",
    start_clean_up_elsewhere,
    {cancel_link, resolve, work},
    finish_clean_up,
    2,
    3,
};

/* At the end of a chain whose first link cleans up. */
static void start_clean_up_above(void) {
    start();
    watch_as(&link, it.promise, executor.handle, NULL, VOW_FINALLY);
    let_go_of_promise();
    watch_as(&later, link.promise, NULL, NULL, WITHOUT_CATCH);
    let_go_of_watched(&link);
}

static void cancel_later(void) {
    has_cancelled = vow_cancel(later.promise);
}

static void finish_clean_up_above(void) {
    list_executor_drain(&executor);
    check_watched(&link);
    CHECK(link.content == (has_resolved ? 1 : VOW_ECANCELLED));
    CHECK(has_cancelled == (fate_of(&later) != 2));
    outcome(!has_cancelled ? 2 : has_resolved);
    let_go();
}

SCENARIO cancel_clean_up_above = {
    "cancel-clean-up-above",
    start_clean_up_above,
    {cancel_later, resolve, work},
    finish_clean_up_above,
    2,
    3,
};

/* What its handler returns, before or after the cancellation, is cancelled too. */
static void start_returning(void) {
    start();
    hear_resolver(&inner_hook, inner.resolver);
    link.returned = inner.promise;
    inner.promise = NULL;
    watch(&link, it.promise, NULL, NULL);
}

static void finish_returning(void) {
    CHECK(has_cancelled && content_of_promise(link.promise) == VOW_ECANCELLED);
    check_watched(&link);
    check_heard(&inner_hook, 1, 1);
    outcome(link.rejected);
    if (!has_resolved) {
        resolve();
    }
    let_go();
}

SCENARIO cancel_returning = {
    "cancel-returning", start_returning, {resolve, cancel_link}, finish_returning, 3, 2,
};

/* A context is kept until what the handler returned is through; the promise is followed meanwhile.
 */
static void start_kept_context(void) {
    start();
    hear_resolver(&inner_hook, inner.resolver);
    link.returned = vow_promise_retain(inner.promise);
    link.awaited = inner.promise;
    watch(&link, it.promise, NULL, NULL);
    resolve();
    watch(&later, outer.promise, NULL, NULL);
}

static void settle_inner(void) {
    has_settled = vow_resolve(inner.resolver, vow_int(9));
}

static void follow_link(void) {
    vow_promise *promise = link.promise;
    link.promise = NULL;
    (void)vow_resolve(outer.resolver, vow_from_promise(promise));
}

static void finish_kept_context(void) {
    CHECK(has_settled && content_of_promise(outer.promise) == 9);
    check_watched(&link);
    check_watched(&later);
    CHECK(later.content == 9);
    check_heard(&inner_hook, 0, 0);
    outcome(0);
    let_go();
}

SCENARIO kept_context = {
    "kept-context", start_kept_context, {settle_inner, follow_link}, finish_kept_context, 3, 1,
};

/* And it is cancelled. */
static void start_kept_context_cancelled(void) {
    start();
    hear_resolver(&inner_hook, inner.resolver);
    link.returned = inner.promise;
    inner.promise = NULL;
    watch(&link, it.promise, NULL, NULL);
    resolve();
    watch(&later, link.promise, NULL, NULL);
}

static void finish_kept_context_cancelled(void) {
    int64_t content = content_of_promise(link.promise);
    check_watched(&link);
    check_watched(&later);
    CHECK(content == (has_cancelled ? VOW_ECANCELLED : 9) && later.content == content);
    CHECK(has_cancelled || has_settled);
    check_heard(&inner_hook, !has_settled, !has_settled);
    outcome(!has_cancelled ? 2 : has_settled);
    let_go();
}

SCENARIO cancel_kept_context = {
    "cancel-kept-context",
    start_kept_context_cancelled,
    {settle_inner, cancel_link},
    finish_kept_context_cancelled,
    4,
    3,
};

/* A map whose calls run, and are to come. */
static vow_promise *mapped;
static int inside, calls;

static vow_value double_it(vow_value item, void *context) {
    (void)context;
    calls++;
    inside++;
    scheduler_point();
    CHECK(vow_promise_state(mapped) == VOW_PENDING);
    inside--;
    return vow_int(2 * item.as.integer);
}

static void start_map(void) {
    static const vow_value items[2] = {{.kind = VOW_INT, .as.integer = 1},
                                       {.kind = VOW_INT, .as.integer = 2}};
    start();
    inside = calls = 0;
    vow_executor_set_default(executor.handle);
    mapped = vow_map(vow_list(items, 2), double_it, NULL, 1);
    vow_executor_set_default(vow_executor_inline());
    watch(&later, mapped, NULL, NULL);
}

static void cancel_map(void) {
    has_cancelled = vow_cancel(mapped);
}

static void finish_map(void) {
    list_executor_drain(&executor);
    CHECK(inside == 0 && calls <= 2);
    check_watched(&later);
    CHECK(later.rejected == has_cancelled && (has_cancelled || calls == 2));
    outcome(!has_cancelled ? 3 : calls);
    vow_promise_release(mapped);
    let_go();
}

static void work_as_it_comes(void) {
    list_executor_work_until(&executor, &ended);
}

static void cancel_map_and_end(void) {
    cancel_map();
    ended = true;
}

SCENARIO cancel_map_running = {
    "cancel-map", start_map, {cancel_map_and_end, work_as_it_comes}, finish_map, 3, 4,
};
