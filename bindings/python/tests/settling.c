/* Threads of C that settle promises, for the tests of the interpreter's end. They never stop to
 * exist: the process ends around them. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <vow.h>

struct share {
    bool (*resolve)(vow_resolver *resolver, vow_value value);
    void (*release)(vow_resolver *resolver);
    vow_resolver **resolvers;
    size_t count;
    long pause_ns;
};

/* As a thread of C++ does, whose frames may not be unwound: an interpreter that ends the thread of
 * somebody else ends the process with it. */
static void was_ended(void *nothing) {
    (void)nothing;
    abort();
}

static void *settle(void *argument) {
    struct share *share = argument;
    pthread_cleanup_push(was_ended, NULL);
    for (size_t i = 0; i < share->count; i++) {
        const struct timespec pause = {0, share->pause_ns};
        nanosleep(&pause, NULL);
        if (i % 3 != 0)
            share->resolve(share->resolvers[i], vow_int((int64_t)i));
        share->release(share->resolvers[i]);
    }
    pthread_cleanup_pop(0);
    return NULL;
}

/* Each of so many threads settles `count` of the resolvers (owned). 0: all have been started. */
__attribute__((visibility("default"))) int
settling_begin(bool (*resolve)(vow_resolver *, vow_value), void (*release)(vow_resolver *),
               vow_resolver **resolvers, size_t threads, size_t count, long pause_ns) {
    vow_resolver **own = malloc(threads * count * sizeof *own);
    for (size_t i = 0; i < threads * count; i++)
        own[i] = resolvers[i];
    for (size_t i = 0; i < threads; i++) {
        struct share *share = malloc(sizeof *share);
        pthread_t thread;
        *share = (struct share){resolve, release, own + i * count, count, pause_ns};
        if (pthread_create(&thread, NULL, settle, share) != 0)
            return -1;
        pthread_detach(thread);
    }
    return 0;
}
