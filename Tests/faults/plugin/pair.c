/* A program with a copy of the library that loads a plug-in with another one: pair apart PLUGIN,
 * pair mixed PLUGIN; or with the same one: pair same PLUGIN, and, unloading it in the handler of
 * the end of its scope, pair plain PLUGIN and pair kept PLUGIN. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <vow.h>

static int allocations;

static void *allocate(void *context, size_t bytes) {
    (void)context;
    allocations++;
    return malloc(bytes);
}

static void deallocate(void *context, void *pointer, size_t bytes) {
    (void)context;
    (void)bytes;
    free(pointer);
}

/* A function of the plug-in, or NULL. */
static void found(void *library, const char *name, void *function) {
    void *address = library == NULL ? NULL : dlsym(library, name);
    memcpy(function, &address, sizeof address);
}

static vow_value keep(vow_value error, void *context) {
    (void)context;
    return vow_value_retain(error);
}

static vow_value make_plain(vow_value error, void *context) {
    (void)context;
    return vow_error_plain(error);
}

static vow_value unload(vow_value outcome, void *library) {
    (void)outcome;
    return dlclose(library) == 0 ? vow_none() : vow_error("host", 1, "not closed");
}

/* Reads and releases the error of the plug-in's scope when that is gone. */
static int fail_and_unload(void *library, const char *path, vow_handler take) {
    vow_promise *(*failure)(void) = NULL;
    found(library, "plugin_failure", &failure);
    vow_loop *loop = vow_loop_create();
    vow_promise *end = vow_finally(vow_catch(failure(), take, NULL), unload, library);
    vow_value error = vow_none();
    int state = vow_await(end, VOW_FOREVER, &error);
    vow_promise_release(end);
    vow_value cause = vow_error_payload(error);
    bool is_same = state == (int)VOW_REJECTED && vow_error_code(error) == 7 &&
                   strcmp(vow_error_domain(error), "plug-in") == 0 &&
                   strcmp(vow_error_message(error), "it failed") == 0 &&
                   vow_error_code(cause) == 8 && strcmp(vow_error_message(cause), "its cause") == 0;
    bool is_gone = dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL;
    vow_value_release(error);
    vow_loop_destroy(loop);
    return is_same && is_gone && vow_shutdown(VOW_FOREVER) == 0 ? 0 : 4;
}

int main(int count, char **arguments) {
    int (*work)(void) = NULL;
    int (*live)(void) = NULL;
    void *(*pool)(void) = NULL;
    void *(*promise)(void) = NULL;
    const vow_allocator own = {sizeof own, allocate, deallocate, NULL};
    if (count != 3 || vow_set_allocator(&own) != 0) {
        return 2;
    }
    vow_promise *mine = vow_promise_with(vow_int(1));
    void *library = dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL);
    found(library, "plugin_inline", &work);
    found(library, "plugin_live", &live);
    found(library, "plugin_pool", &pool);
    found(library, "plugin_promise", &promise);
    int before = allocations;
    if (promise == NULL || work() != 42) {
        return 2;
    }
    bool is_plain = strcmp(arguments[1], "plain") == 0;
    if (is_plain || strcmp(arguments[1], "kept") == 0) {
        vow_promise_release(mine);
        return fail_and_unload(library, arguments[2], is_plain ? make_plain : keep);
    }
    /* Allocator, statistics and executors are both's, or each has its own. */
    int is_same = strcmp(arguments[1], "same") == 0;
    if ((allocations > before) != is_same || live() != is_same ||
        (pool() == vow_executor_pool()) != is_same) {
        return 3;
    }
    if (strcmp(arguments[1], "mixed") == 0) {
        vow_promise_release(promise());
    }
    vow_promise_release(mine);
    return 0;
}
