/* 11-glib.c: promises in a GMainLoop; a GSource and an asynchronous GIO call as promises. */
#include <gio/gio.h>
#include <glib-unix.h>

#include "common.h"

/* ---------------------------------------------------------------- Vow in GLib's loop
 *
 * One GSource. Everything below, handlers included, runs on the thread that runs the GMainLoop. */

static gboolean on_readable(gint fd, GIOCondition condition, gpointer loop) {
    (void)fd, (void)condition;
    vow_loop_run_once(loop, 0);
    return G_SOURCE_CONTINUE;
}

static vow_value stop(vow_value outcome, void *context) {
    (void)outcome;
    g_main_loop_quit(context);
    return vow_none();
}

/* ---------------------------------------------------------------- A time-out
 *
 * GLib frees a source's data when the source is gone, for whatever reason: it has fired, or it was
 * removed. So the data hold the resolver, and need not be told apart. (vow_delay would do; any
 * other GSource becomes a promise in this way.) */

struct timer {
    guint source;
    vow_resolver *resolver;
};

static gboolean on_time(gpointer context) {
    const struct timer *timer = context;
    vow_resolve(timer->resolver, vow_none());
    return G_SOURCE_REMOVE;
}

static void free_timer(gpointer context) {
    struct timer *timer = context;
    vow_resolver_release(timer->resolver);
    g_free(timer);
}

static void remove_timer(void *context) {
    const struct timer *timer = context;
    g_source_remove(timer->source);
}

static vow_promise *wait_ms(guint ms) {
    struct timer *timer = g_new0(struct timer, 1);
    vow_promise *promise = vow_promise_create(&timer->resolver);
    timer->source = g_timeout_add_full(G_PRIORITY_DEFAULT, ms, on_time, timer, free_timer);
    vow_resolver_on_cancel(timer->resolver, remove_timer, timer, NULL);
    return promise;
}

/* ---------------------------------------------------------------- An asynchronous call
 *
 * GIO calls back once, also when it was cancelled. A GError has the three parts that an error of
 * Vow has. */

static void on_loaded(GObject *file, GAsyncResult *result, gpointer resolver) {
    char *bytes = NULL;
    gsize length = 0;
    GError *error = NULL;
    if (g_file_load_contents_finish(G_FILE(file), result, &bytes, &length, NULL, &error)) {
        vow_resolve(resolver, vow_string(bytes, length));
    } else {
        vow_reject(resolver, vow_error(g_quark_to_string(error->domain), error->code,
                                       error->message)); /* no effect if it was cancelled */
    }
    vow_resolver_release(resolver);
    g_clear_error(&error);
    g_free(bytes);
}

static void cancel(void *cancellable) {
    g_cancellable_cancel(cancellable);
}

static vow_promise *load(GFile *file) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    GCancellable *cancellable = g_cancellable_new();
    g_file_load_contents_async(file, cancellable, on_loaded, resolver);
    vow_resolver_on_cancel(resolver, cancel, cancellable, g_object_unref); /* its reference */
    return promise;
}

/* ---------------------------------------------------------------- The chain */

static vow_value then_wait(vow_value text, void *context) {
    (void)context;
    show("loaded", text);
    return vow_from_promise(wait_ms(10));
}

static vow_value then_load(vow_value input, void *context) {
    (void)input;
    printf("10 ms later\n");
    return vow_from_promise(load(context));
}

static vow_value on_missing(vow_value error, void *context) {
    (void)context;
    printf("no such file: %s %" PRId64 "\n", vow_error_domain(error), vow_error_code(error));
    return vow_none();
}

/* A promise (consumed) that is cancelled before it could settle. */
static void give_up(const char *what, vow_promise *promise) {
    vow_cancel(promise);
    vow_value outcome = wait_for(promise);
    printf("%s: %s\n", what, vow_error_name(vow_error_code(outcome)));
    vow_value_release(outcome);
}

int main(void) {
    GFileIOStream *stream = NULL;
    GFile *file = g_file_new_tmp("vow-11-glib-XXXXXX", &stream, NULL);
    GFile *missing = g_file_new_for_path("/nonexistent/file");
    vow_loop *loop = vow_loop_create();
    if (loop == NULL || file == NULL ||
        !g_file_replace_contents(file, "written before the loop", 23, NULL, FALSE, 0, NULL, NULL,
                                 NULL)) {
        return 1;
    }
    GMainLoop *main_loop = g_main_loop_new(NULL, FALSE);
    guint source = g_unix_fd_add(vow_loop_fd(loop), G_IO_IN, on_readable, loop);

    give_up("a time-out of an hour", wait_ms(3600000));
    give_up("a file", load(file));

    vow_promise *chain = vow_then(load(file), then_wait, NULL);
    chain = vow_then(chain, then_load, missing);
    chain = vow_catch(chain, on_missing, NULL);
    chain = vow_finally(chain, stop, main_loop);
    g_main_loop_run(main_loop);
    show_result("the chain", chain);

    g_source_remove(source);
    g_main_loop_unref(main_loop);
    g_file_delete(file, NULL, NULL);
    g_object_unref(stream);
    g_object_unref(missing);
    g_object_unref(file);
    vow_loop_destroy(loop);
    return nothing_left();
}
