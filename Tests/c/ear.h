/* Somebody who listens to progress, and remembers what was said. */
#ifndef VOW_TEST_EAR_H
#define VOW_TEST_EAR_H

#include "worker.h"

#include <math.h>
#include <sys/wait.h>

/* A listener that remembers what it was told. */
typedef struct ear {
    atomic_int calls;
    atomic_int ends;
    atomic_int running;
    atomic_int overlaps;
    double fractions[256];
    int64_t moments[256];
    char note[256];
    bool had_note;
    int late; /* told after its promise was settled */
    vow_promise *promise;
    void (*also)(struct ear *self);
    int times;
} ear;

static inline void hear(double fraction, const char *note, void *context) {
    ear *self = context;
    if (atomic_fetch_add(&self->running, 1) != 0) {
        atomic_fetch_add(&self->overlaps, 1);
    }
    int place = atomic_load(&self->calls);
    if (place < 256) {
        self->fractions[place] = fraction;
        self->moments[place] = vow_now();
    }
    self->had_note = note != NULL;
    snprintf(self->note, sizeof self->note, "%s", note != NULL ? note : "");
    if (self->promise != NULL && vow_promise_state(self->promise) != VOW_PENDING) {
        self->late++;
    }
    atomic_fetch_sub(&self->running, 1);
    atomic_fetch_add(&self->calls, 1);
    if (self->also != NULL) {
        self->also(self);
    }
}

static inline void ear_end(void *context) {
    ear *self = context;
    CHECK_INT_EQ(atomic_load(&self->running), 0);
    atomic_fetch_add(&self->ends, 1);
}

static inline double last_of(ear *self) {
    int calls = atomic_load(&self->calls);
    return calls > 0 && calls <= 256 ? self->fractions[calls - 1] : -1;
}

/* Listens with the inline executor, whatever the thread's is. */
static inline int listen_inline(vow_promise *promise, int64_t interval, ear *self) {
    vow_executor_set_default(vow_executor_inline());
    int result = vow_on_progress(promise, interval, hear, self, ear_end);
    vow_executor_set_default(NULL);
    return result;
}

static inline void give_up(vow_promise *promise, vow_resolver *resolver) {
    vow_resolve(resolver, vow_none());
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}

#endif
