/* A program with a copy of the library that loads a plug-in with another one: pair apart PLUGIN,
 * pair mixed PLUGIN; or with the same one: pair same PLUGIN. */
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
