/* libdispatch, for executors on a program's queues and on the main queue.
 *
 * Only a program that uses libdispatch itself has such queues, or runs the main one. So the library
 * is not linked with it, and does not load it, but looks for the copy that the process has: a
 * linked one by weak references, which stay NULL in a process without; a copy that the program
 * loads later, and for one of its objects alone, by the loader. */
#define _GNU_SOURCE /* RTLD_DEFAULT, RTLD_NOLOAD */
#include "platform.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#define LINKED extern __attribute__((weak))
typedef void (*work_function)(void *context);
typedef void (*object_function)(void *object);
typedef void (*async_function)(void *queue, void *context, work_function work);
typedef const char *(*label_function)(void *queue);
LINKED void dispatch_retain(void *object);
LINKED void dispatch_release(void *object);
LINKED void dispatch_async_f(void *queue, void *context, work_function work);
LINKED void dispatch_barrier_async_f(void *queue, void *context, work_function work);
LINKED const char *dispatch_queue_get_label(void *queue);
LINKED char _dispatch_main_q;

typedef struct functions {
    object_function retain, release;
    async_function async, barrier_async;
    label_function label;
    void *main;
} functions;

/* Written before `is_found` is. Threads that look at the same time find and write the same; none
 * waits for another, which a fork may leave behind. */
static struct {
    _Atomic(object_function) retain, release;
    _Atomic(async_function) async, barrier_async;
    _Atomic(label_function) label;
    _Atomic(void *) main;
} dispatch;
static atomic_int is_found;
#define LOAD(field) atomic_load_explicit(&dispatch.field, memory_order_relaxed)
#define STORE(field, value) atomic_store_explicit(&dispatch.field, value, memory_order_relaxed)

/* POSIX has functions and data in the same addresses; C has no cast for it. */
static int take(void *field, void *library, const char *name) {
    void *address = dlsym(library, name);
    memcpy(field, &address, sizeof address);
    return address != NULL;
}

static int find(functions *found, void *library) {
    return take(&found->retain, library, "dispatch_retain") &&
           take(&found->release, library, "dispatch_release") &&
           take(&found->async, library, "dispatch_async_f") &&
           take(&found->barrier_async, library, "dispatch_barrier_async_f") &&
           take(&found->label, library, "dispatch_queue_get_label") &&
           take(&found->main, library, "_dispatch_main_q");
}

static int look(functions *found) {
    if (dispatch_retain != NULL && dispatch_release != NULL && dispatch_async_f != NULL &&
        dispatch_barrier_async_f != NULL && dispatch_queue_get_label != NULL &&
        &_dispatch_main_q != NULL) {
        *found = (functions){dispatch_retain,          dispatch_release,         dispatch_async_f,
                             dispatch_barrier_async_f, dispatch_queue_get_label, &_dispatch_main_q};
        return 1;
    }
    if (find(found, RTLD_DEFAULT)) {
        return 1;
    }
    /* Looked for, as a reference to it would have linkers warn of it in static programs. */
    void *(*open)(const char *path, int flags) = NULL;
    static const char *const names[] = {"libdispatch.so", "libdispatch.so.0"};
    void *library = NULL;
    if (take(&open, RTLD_DEFAULT, "dlopen")) {
        for (size_t i = 0; library == NULL && i < sizeof names / sizeof names[0]; i++) {
            library = open(names[i], RTLD_LAZY | RTLD_NOLOAD);
        }
    }
    /* The handle is kept: so the copy stays as long as its queues may be used. */
    return library != NULL && find(found, library);
}

int vow_platform_has_queues(void) {
    if (atomic_load_explicit(&is_found, memory_order_acquire)) {
        return 1;
    }
    functions found = {0};
    if (!look(&found)) {
        return 0;
    }
    STORE(retain, found.retain);
    STORE(release, found.release);
    STORE(async, found.async);
    STORE(barrier_async, found.barrier_async);
    STORE(label, found.label);
    STORE(main, found.main);
    atomic_store_explicit(&is_found, 1, memory_order_release);
    return 1;
}

void *vow_platform_main_queue(void) {
    return vow_platform_has_queues() ? LOAD(main) : NULL;
}

void vow_platform_retain_queue(void *queue) {
    LOAD(retain)(queue);
}

void vow_platform_release_queue(void *queue) {
    LOAD(release)(queue);
}

const char *vow_platform_queue_label(void *queue) {
    return LOAD(label)(queue);
}

void vow_platform_submit(void *queue, void *context, void (*work)(void *context)) {
    LOAD(async)(queue, context, work);
}

void vow_platform_submit_barrier(void *queue, void *context, void (*work)(void *context)) {
    LOAD(barrier_async)(queue, context, work);
}
