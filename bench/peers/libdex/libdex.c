/* libdex: futures over GLib's main context. A handler runs on the scheduler of the thread that
 * registered it: at once where that is the settling thread and the stack is not deep, else in a
 * turn of its loop. A future that nobody holds is discarded, so results are held or disowned. */
#include "duel.h"
#include "peer.h"

#include <libdex.h>

static DexPromise **promises;
static DexFuture **futures;
static DexPromise *settled;
static size_t ran;

const char *peer_version(void) {
    return DEX_VERSION_S;
}

static void begin(size_t n) {
    (void)n;
    dex_init();
}

static void begin_arrays(size_t n) {
    dex_init();
    promises = peer_array(n, sizeof *promises);
    futures = peer_array(n, sizeof *futures);
}

static gint64 number(DexFuture *future) {
    return g_value_get_int64(dex_future_get_value(future, NULL));
}

static DexFuture *add_one(DexFuture *completed, gpointer data) {
    (void)data;
    ran++;
    return dex_future_new_for_int64(number(completed) + 1);
}

static void run_until(size_t count) {
    while (ran < count) {
        g_main_context_iteration(NULL, TRUE);
    }
}

static void run_until_settled(DexFuture *future) {
    while (dex_future_get_status(future) == DEX_FUTURE_STATUS_PENDING) {
        g_main_context_iteration(NULL, TRUE);
    }
}

static DexFuture *future_of(DexPromise *promise) {
    return dex_ref(DEX_FUTURE(promise));
}

/* W1 */
static void create_resolve_release(size_t n) {
    for (size_t i = 0; i < n; i++) {
        DexPromise *promise = dex_promise_new();
        dex_promise_resolve_int64(promise, 1);
        dex_unref(promise);
    }
}

/* W2 */
static void chain(size_t n) {
    ran = 0;
    DexPromise *promise = dex_promise_new();
    DexFuture *last = future_of(promise);
    for (size_t i = 0; i < n; i++) {
        last = dex_future_then(last, add_one, NULL, NULL);
    }
    dex_promise_resolve_int64(promise, 0);
    run_until_settled(last);
    peer_expect(number(last) == (gint64)n && ran == n, "W2");
    dex_unref(last);
    dex_unref(promise);
}

/* W3 */
static void begin_settled(size_t n) {
    begin(n);
    settled = dex_promise_new();
    dex_promise_resolve_int64(settled, 1);
}

static void then_on_settled(size_t n) {
    ran = 0;
    for (size_t i = 0; i < n; i++) {
        dex_unref(dex_future_then(future_of(settled), add_one, NULL, NULL));
    }
    peer_expect(ran == n, "W3");
}

/* W4 */
static void many_handlers(size_t n) {
    ran = 0;
    DexPromise *promise = dex_promise_new();
    for (size_t i = 0; i < n; i++) {
        dex_future_disown(dex_future_then(future_of(promise), add_one, NULL, NULL));
    }
    dex_promise_resolve_int64(promise, 1);
    run_until(n);
    peer_expect(ran == n, "W4");
    dex_unref(promise);
}

/* W5 */
static void all(size_t n) {
    for (size_t i = 0; i < n; i++) {
        promises[i] = dex_promise_new();
        futures[i] = DEX_FUTURE(promises[i]);
    }
    DexFuture *together = dex_future_allv(futures, (guint)n);
    for (size_t i = 0; i < n; i++) {
        dex_promise_resolve_int64(promises[i], (gint64)i);
    }
    run_until_settled(together);
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (size_t)number(futures[i]);
        dex_unref(promises[i]);
    }
    peer_expect(sum == n * (n - 1) / 2, "W5");
    dex_unref(together);
}

/* W7 */
static DexFuture *count_down(DexFuture *completed, gpointer data) {
    ran++;
    gint64 left = number(completed);
    if (left == 0) {
        return dex_future_new_for_int64(0);
    }
    return dex_future_then(dex_future_new_for_int64(left - 1), count_down, data, NULL);
}

static void recursion(size_t n) {
    ran = 0;
    DexFuture *first = dex_future_new_for_int64((gint64)n);
    DexFuture *last = dex_future_then(first, count_down, NULL, NULL);
    run_until_settled(last);
    peer_expect(ran == n + 1, "W7");
    dex_unref(last);
}

/* W9, W11: the link is held, for letting it go discards it */
static void make_links(size_t n) {
    ran = 0;
    for (size_t i = 0; i < n; i++) {
        promises[i] = dex_promise_new();
        futures[i] = dex_future_then(future_of(promises[i]), add_one, NULL, NULL);
    }
}

static void settle_links(size_t n) {
    for (size_t i = 0; i < n; i++) {
        dex_promise_resolve_int64(promises[i], 1);
    }
    run_until(n);
    for (size_t i = 0; i < n; i++) {
        dex_unref(futures[i]);
        dex_unref(promises[i]);
    }
}

static void discard_links(size_t n) {
    for (size_t i = 0; i < n; i++) {
        dex_unref(futures[i]);
        dex_unref(promises[i]);
    }
    peer_expect(ran == 0, "W11");
}

/* W10: handlers whose promise the other thread settled run here, in the loop */
static void make_promises(size_t n) {
    for (size_t i = 0; i < n; i++) {
        promises[i] = dex_promise_new();
    }
}

static void register_all(size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i % DUEL_STRIDE == 0) {
            duel_meet(0, i / DUEL_STRIDE);
        }
        dex_future_disown(dex_future_then(future_of(promises[i]), add_one, NULL, NULL));
    }
    run_until(n);
}

static void resolve_all(size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i % DUEL_STRIDE == 0) {
            duel_meet(1, i / DUEL_STRIDE);
        }
        dex_promise_resolve_int64(promises[i], 1);
        dex_unref(promises[i]);
    }
}

static void race(size_t n) {
    ran = 0;
    duel(register_all, resolve_all, n);
    peer_expect(ran == n, "W10");
}

/* W12 */
static void item(gpointer data) {
    (void)data;
    ran++;
}

static void submit(size_t n) {
    for (size_t i = 0; i < n; i++) {
        dex_scheduler_push(dex_scheduler_get_default(), item, NULL);
    }
}

static void loop_items(size_t n) {
    ran = 0;
    duel(run_until, submit, n);
    peer_expect(ran == n, "W12");
}

const peer_workload peer_workloads[] = {
    {.name = "W1", .begin = begin, .pass = create_resolve_release},
    {.name = "W2", .begin = begin, .pass = chain},
    {.name = "W3", .begin = begin_settled, .pass = then_on_settled},
    {.name = "W4", .begin = begin, .pass = many_handlers},
    {.name = "W5", .begin = begin_arrays, .pass = all},
    {.name = "W7", .begin = begin, .pass = recursion},
    {.name = "W9", .begin = begin_arrays, .pass = make_links, .clean = settle_links, .held = true},
    {.name = "W10", .begin = begin_arrays, .prepare = make_promises, .pass = race},
    {.name = "W11", .begin = begin_arrays, .prepare = make_links, .pass = discard_links},
    {.name = "W12", .begin = begin, .pass = loop_items},
    {.name = NULL},
};
