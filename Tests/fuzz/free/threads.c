/* Crowds and errands: threads of their own, which have come to rest when the program goes on. A
 * program only begins with them, for they take long. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include "../threads/threads.h"
#include "free.h"

#include <pthread.h>
#include <time.h>

static vow_statistics before;

void wait_for_all(bool (*done)(void), const char *what) {
    time_t start = time(NULL);
    while (!done()) {
        struct timespec moment = {0, 20000};
        if (time(NULL) - start > PATIENCE) {
            differ(what, PATIENCE);
        }
        nanosleep(&moment, NULL);
    }
}

static bool is_as_before(void) {
    vow_statistics now = {.size = sizeof now};
    vow_stats(&now);
    return now.live == before.live && now.pending == before.pending &&
           now.handlers == before.handlers;
}

static bool has_no_more_bytes(void) {
    vow_statistics now = {.size = sizeof now};
    vow_stats(&now);
    return now.bytes == before.bytes;
}

static void ignore(vow_value error, void *context) {
    (void)error;
    (void)context;
}

static void *run_step(void *step) {
    if (step == NULL) {
        crowd_step();
    } else {
        errands_step();
    }
    return NULL;
}

void thread_step(void) {
    pthread_t thread;
    if (f.begun) {
        return;
    }
    vow_on_unhandled(ignore, NULL);
    before = (vow_statistics){.size = sizeof before};
    vow_stats(&before);
    EXPECT(pthread_create(&thread, NULL, run_step, next_below(2) ? &f : NULL) == 0, "no thread");
    pthread_join(thread, NULL);
    wait_for_all(is_as_before, "something of other threads is left");
    vow_executor_set_default(vow_executor_inline());
    vow_on_unhandled(free_on_unhandled, &f);
    f.had_threads = true;
}

void wait_for_threads(uint64_t bytes_before) {
    if (f.had_threads) {
        before.bytes = bytes_before;
        wait_for_all(has_no_more_bytes, "bytes are left");
    }
}
