/* GTask, as GIO's asynchronous functions use it. Its callback runs in the main context of the
 * thread that made it: at once when the task is older than the context's current turn (W2), else in
 * a turn to come (W6a). */
#include "duel.h"
#include "peer.h"

#include <gio/gio.h>

static size_t ran;
static GTask **tasks;
static GCancellable **cancellables;

const char *peer_version(void) {
    static char version[32];
    snprintf(version, sizeof version, "%u.%u.%u", glib_major_version, glib_minor_version,
             glib_micro_version);
    return version;
}

static void begin_arrays(size_t n) {
    tasks = peer_array(n + 1, sizeof *tasks);
    cancellables = peer_array(n, sizeof *cancellables);
}

static void run_until(size_t count) {
    while (ran < count) {
        g_main_context_iteration(NULL, TRUE);
    }
}

/* W1: without a callback, as g_task_new allows */
static void create_resolve_release(size_t n) {
    for (size_t i = 0; i < n; i++) {
        GTask *task = g_task_new(NULL, NULL, NULL, NULL);
        g_task_return_int(task, 1);
        g_object_unref(task);
    }
}

/* W2: all tasks are there; each callback finishes the next function's task */
static void next(GObject *source, GAsyncResult *result, gpointer data) {
    (void)source;
    gssize value = g_task_propagate_int(G_TASK(result), NULL);
    ran++;
    if (data != NULL) {
        g_task_return_int(data, value + 1);
        g_object_unref(data);
    }
}

static void chain(size_t n) {
    ran = 0;
    GTask *following = NULL;
    for (size_t i = 0; i < n; i++) {
        following = g_task_new(NULL, NULL, next, following);
    }
    g_task_return_int(following, 0);
    g_object_unref(following);
    run_until(n);
    peer_expect(ran == n, "W2");
}

/* W6a: each callback begins the next function, whose task ends in a turn of its own */
static void next_turn(GObject *source, GAsyncResult *result, gpointer data) {
    (void)source;
    gssize value = g_task_propagate_int(G_TASK(result), NULL);
    if (++ran < (size_t)data) {
        GTask *task = g_task_new(NULL, NULL, next_turn, data);
        g_task_return_int(task, value + 1);
        g_object_unref(task);
    }
}

static void context_chain(size_t n) {
    ran = 0;
    GTask *task = g_task_new(NULL, NULL, next_turn, (gpointer)n);
    g_task_return_int(task, 0);
    g_object_unref(task);
    run_until(n);
    peer_expect(ran == n, "W6a");
}

/* W6b: the work of each link runs in GLib's pool, its callback here */
static void in_pool(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
    (void)source, (void)data, (void)cancellable;
    g_task_return_int(task, 1);
}

static void next_in_pool(GObject *source, GAsyncResult *result, gpointer data) {
    (void)source;
    peer_expect(g_task_propagate_int(G_TASK(result), NULL) == 1, "W6b");
    if (++ran < (size_t)data) {
        GTask *task = g_task_new(NULL, NULL, next_in_pool, data);
        g_task_run_in_thread(task, in_pool);
        g_object_unref(task);
    }
}

static void pool_chain(size_t n) {
    ran = 0;
    GTask *task = g_task_new(NULL, NULL, next_in_pool, (gpointer)n);
    g_task_run_in_thread(task, in_pool);
    g_object_unref(task);
    run_until(n);
    peer_expect(ran == n, "W6b");
}

/* W9 */
static void pend(size_t n) {
    for (size_t i = 0; i < n; i++) {
        tasks[i] = g_task_new(NULL, NULL, next, NULL);
    }
}

static void settle_pending(size_t n) {
    ran = 0;
    for (size_t i = 0; i < n; i++) {
        g_task_return_int(tasks[i], 1);
        g_object_unref(tasks[i]);
    }
    run_until(n);
}

/* W11: each has a cancellable, whose handler gives the task its error, as producers do */
static void on_cancelled(GCancellable *cancellable, gpointer task) {
    (void)cancellable;
    g_task_return_error_if_cancelled(task);
}

static void told(GObject *source, GAsyncResult *result, gpointer data) {
    (void)source, (void)data;
    GError *error = NULL;
    g_task_propagate_int(G_TASK(result), &error);
    peer_expect(g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED), "W11");
    g_error_free(error);
    ran++;
}

static void make_cancellable(size_t n) {
    for (size_t i = 0; i < n; i++) {
        cancellables[i] = g_cancellable_new();
        tasks[i] = g_task_new(NULL, cancellables[i], told, NULL);
        g_cancellable_connect(cancellables[i], G_CALLBACK(on_cancelled), tasks[i], NULL);
    }
}

static void cancel(size_t n) {
    ran = 0;
    for (size_t i = 0; i < n; i++) {
        g_cancellable_cancel(cancellables[i]);
        g_object_unref(cancellables[i]);
        g_object_unref(tasks[i]);
    }
    run_until(n);
    peer_expect(ran == n, "W11");
}

/* W12: GLib's main context */
static gboolean item(gpointer unused) {
    (void)unused;
    ran++;
    return G_SOURCE_REMOVE;
}

static void begin_loop(size_t n) {
    (void)n;
    peer_expect(g_main_context_acquire(NULL), "W12"); /* so that invoke hands over, not runs */
}

static void submit(size_t n) {
    for (size_t i = 0; i < n; i++) {
        g_main_context_invoke(NULL, item, NULL);
    }
}

static void loop_items(size_t n) {
    ran = 0;
    duel(run_until, submit, n);
    peer_expect(ran == n, "W12");
}

const peer_workload peer_workloads[] = {
    {.name = "W1", .pass = create_resolve_release},
    {.name = "W2", .pass = chain},
    {.name = "W6a", .pass = context_chain},
    {.name = "W6b", .pass = pool_chain},
    {.name = "W9", .begin = begin_arrays, .pass = pend, .clean = settle_pending, .held = true},
    {.name = "W11", .begin = begin_arrays, .prepare = make_cancellable, .pass = cancel},
    {.name = "W12", .begin = begin_loop, .pass = loop_items},
    {.name = NULL},
};
