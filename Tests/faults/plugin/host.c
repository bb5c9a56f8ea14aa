/* A program that is not linked with the library, and loads and unloads a plug-in that has it
 * inside: host rounds PLUGIN, host unload PLUGIN, host many PLUGIN...; or is linked with it: host
 * linked PLUGIN. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 1000

static int call(void *library, const char *name) {
    int (*function)(void) = NULL;
    void *address = dlsym(library, name);
    memcpy(&function, &address, sizeof address);
    return function == NULL ? -1 : function();
}

static bool say(bool good, const char *sentence) {
    printf("%s %s\n", good ? "ok" : "not ok", sentence);
    return good;
}

/* A thread of the host that uses the plug-in, and outlives it. */
typedef struct guest {
    void *library;
    const char *function;
    pthread_t thread;
    pthread_barrier_t used, unloaded;
    int result;
} guest;

static void *use_and_stay(void *context) {
    guest *self = context;
    self->result = call(self->library, self->function);
    pthread_barrier_wait(&self->used);
    pthread_barrier_wait(&self->unloaded);
    return NULL;
}

/* Whether the plug-in worked, was closed, and its thread ended well after that. */
static bool round_trip(const char *path, const char *function) {
    guest guest = {.function = function};
    guest.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (guest.library == NULL) {
        printf("# %s\n", dlerror());
        return false;
    }
    pthread_barrier_init(&guest.used, NULL, 2);
    pthread_barrier_init(&guest.unloaded, NULL, 2);
    pthread_create(&guest.thread, NULL, use_and_stay, &guest);
    pthread_barrier_wait(&guest.used);
    int mine = call(guest.library, function);
    bool is_closed = dlclose(guest.library) == 0;
    pthread_barrier_wait(&guest.unloaded);
    pthread_join(guest.thread, NULL);
    return guest.result == 42 && mine == 42 && is_closed;
}

static bool is_loaded(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (library != NULL) {
        dlclose(library);
    }
    return library != NULL;
}

static bool rounds(const char *path) {
    int done = 0;
    while (done < ROUNDS && round_trip(path, "plugin_work")) {
        done++;
    }
    bool good = say(done == ROUNDS,
                    "1,000 times it is loaded, works and is closed, and threads that used it end");
    usleep(200000);
    good &= say(is_loaded(path), "it stays in memory, as its threads may be inside");
    int calls = 0;
    for (int i = 1; i <= 3; i++) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        calls += call(library, "plugin_calls") == i;
        dlclose(library);
    }
    return good & say(calls == 3, "loaded again it is the same copy");
}

/* A loader that keeps nothing, as far as the plug-in can see. */
static bool is_refusing;

__attribute__((visibility("default"))) void *dlopen(const char *path, int mode) {
    void *(*real)(const char *, int) = NULL;
    void *address = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&real, &address, sizeof address);
    return is_refusing && (mode & RTLD_NODELETE) ? NULL : real(path, mode);
}

static bool unload(const char *path) {
    is_refusing = true;
    int done = 0;
    while (done < ROUNDS && round_trip(path, "plugin_inline")) {
        done++;
    }
    bool good = say(done == ROUNDS, "where the loader keeps nothing, threads end well without it");
    return good & say(!is_loaded(path), "and it is gone");
}

/* The library stays, and has threads of its own; the plug-in has left no handler there. */
static bool linked(const char *path) {
    int done = 0;
    int first = 0;
    while (done < ROUNDS) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL || call(library, "plugin_scope") != 42) {
            break;
        }
        first += call(library, "plugin_calls") == 1;
        dlclose(library);
        done += !is_loaded(path);
        if (done != first) {
            break;
        }
    }
    return say(done == ROUNDS, "1,000 times its scope is closed, it is unloaded, and begins anew");
}

/* Copies of the plug-in, all at once. */
static bool many(int count, char **paths) {
    int working = 0;
    for (int i = 0; i < count; i++) {
        void *library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) {
            printf("# %s\n", dlerror());
        }
        working += library != NULL && call(library, "plugin_inline") == 42;
    }
    return say(working == count, "as many plug-ins as there are work in one process");
}

int main(int count, char **arguments) {
    alarm(300);
    if (count > 2 && strcmp(arguments[1], "rounds") == 0) {
        return !rounds(arguments[2]);
    }
    if (count > 2 && strcmp(arguments[1], "unload") == 0) {
        return !unload(arguments[2]);
    }
    if (count > 2 && strcmp(arguments[1], "linked") == 0) {
        return !linked(arguments[2]);
    }
    if (count > 2 && strcmp(arguments[1], "many") == 0) {
        return !many(count - 2, arguments + 2);
    }
    return 2;
}
