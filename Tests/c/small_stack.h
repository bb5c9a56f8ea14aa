/* Runs a part of a test on a thread with a stack of 64 KiB (more under a sanitizer, whose own
 * frames are large), and says how deep a test must go there. */
#ifndef VOW_TEST_SMALL_STACK_H
#define VOW_TEST_SMALL_STACK_H

#include "tools.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SMALL_STACK (512 * 1024)
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SMALL_STACK (512 * 1024)
#endif
#endif
#ifndef SMALL_STACK
#define SMALL_STACK 65536
#endif

/* How deep: 30,000 levels overflow such a stack if each takes some of it, however slow all is. */
static inline int depth_of(int full) {
    int depth = many_of(30000, full);
    return depth > 30000 ? depth : 30000;
}

static inline void on_small_stack(void *(*part)(void *context), void *context) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (CHECK_INT_EQ(pthread_attr_setstacksize(&attributes, SMALL_STACK), 0) &&
        CHECK_INT_EQ(pthread_create(&thread, &attributes, part, context), 0)) {
        pthread_join(thread, NULL);
    }
    pthread_attr_destroy(&attributes);
}

#endif
