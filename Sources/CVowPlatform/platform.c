/* The storage and the once-only steps behind platform.h. */
#define _GNU_SOURCE /* pthread_getattr_np, syscall */
#include "platform.h"

#include <signal.h>

_Thread_local vow_thread_storage vow_thread_local;
vow_static_storage vow_static;
void *vow_bucket_storage[VOW_BUCKET_COUNT];

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

int vow_platform_at_thread_exit(void (*leave)(void)) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Thread_local leaving mine;
    pthread_once(&once, make_exit_key);
    mine.leave = leave;
    return pthread_setspecific(exit_key, &mine) == 0;
}

int vow_platform_has_stack_left(void) {
    static _Thread_local uintptr_t lower, limit, upper;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (limit == 0) {
        pthread_attr_t attributes;
        void *lowest = NULL;
        size_t size = 0;
        if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
            return 1;
        }
        pthread_attr_getstack(&attributes, &lowest, &size);
        pthread_attr_destroy(&attributes);
        lower = (uintptr_t)lowest;
        upper = lower + size;
        limit = lower + (size / 4 < 128 * 1024 ? size / 4 : 128 * 1024);
    }
    /* Elsewhere it is the program's own stack, of a coroutine say, about which nothing is known.
     * (The frame, not a variable: a sanitizer may keep those elsewhere.) */
    return here > limit || here < lower || here > upper;
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

int vow_platform_start_thread(void *(*work)(void *)) {
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    int failed;
    if (pthread_attr_init(&attributes) != 0) {
        return 0;
    }
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&thread, &attributes, work, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return failed == 0;
}
