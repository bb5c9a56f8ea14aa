/* A program with a copy of the library that loads a plug-in with another one: pair apart PLUGIN,
 * pair mixed PLUGIN. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <vow.h>

static void *found(void *library, const char *name) {
    return library == NULL ? NULL : dlsym(library, name);
}

int main(int count, char **arguments) {
    int (*work)(void) = NULL;
    void *(*promise)(void) = NULL;
    vow_promise_release(vow_promise_with(vow_int(1)));
    void *library = count == 3 ? dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *address = found(library, "plugin_inline");
    memcpy(&work, &address, sizeof address);
    address = found(library, "plugin_promise");
    memcpy(&promise, &address, sizeof address);
    if (work == NULL || promise == NULL || work() != 42) {
        return 2;
    }
    if (strcmp(arguments[1], "mixed") == 0) {
        vow_promise_release(promise());
    }
    return 0;
}
