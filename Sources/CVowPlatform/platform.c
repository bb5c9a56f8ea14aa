/* The storage and the once-only steps behind platform.h. */
#define _GNU_SOURCE /* pthread_getattr_np, syscall */
#include "platform.h"

_Thread_local vow_thread_storage vow_thread_local;
vow_static_storage vow_static;

void vow_platform_once(void (*start)(void)) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
}

/* One key for the process; its value on each thread is the function that the thread runs last. */
typedef struct leaving {
    void (*leave)(void);
} leaving;
static pthread_key_t exit_key;

static void run_leaving(void *value) {
    ((leaving *)value)->leave();
}

static void make_exit_key(void) {
    if (pthread_key_create(&exit_key, run_leaving) != 0) {
        abort();
    }
}

void vow_platform_at_thread_exit(void (*leave)(void)) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Thread_local leaving mine;
    pthread_once(&once, make_exit_key);
    mine.leave = leave;
    pthread_setspecific(exit_key, &mine);
}

size_t vow_platform_stack_left(const void *address) {
    static _Thread_local uintptr_t lowest;
    if (lowest == 0) {
        pthread_attr_t attributes;
        void *base = NULL;
        size_t size = 0;
        if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
            return SIZE_MAX;
        }
        pthread_attr_getstack(&attributes, &base, &size);
        pthread_attr_destroy(&attributes);
        lowest = (uintptr_t)base;
    }
    return (uintptr_t)address - lowest;
}

/* Declared here, so that this file needs no include path to libdispatch. The parameter is a
 * transparent union of pointers there. */
extern void dispatch_retain(void *object);
extern void dispatch_release(void *object);

void vow_platform_retain_queue(void *queue) {
    dispatch_retain(queue);
}

void vow_platform_release_queue(void *queue) {
    dispatch_release(queue);
}
