/* The members of a combined promise, and how each ended. */
#ifndef VOW_TEST_CAST_H
#define VOW_TEST_CAST_H

#include "meter.h"
#include "small_stack.h"

/* Promises that the test settles by their places. */
enum { MOST = 8 };
typedef struct cast {
    vow_promise *promises[MOST];
    vow_resolver *resolvers[MOST];
    atomic_int stopped[MOST];
    int count;
} cast;

static inline void note_stop(void *context) {
    atomic_fetch_add((atomic_int *)context, 1);
}

static inline void cast_make(cast *self, int count) {
    memset(self, 0, sizeof *self);
    self->count = count;
    for (int i = 0; i < count; i++) {
        self->promises[i] = vow_promise_create(&self->resolvers[i]);
        CHECK_INT_EQ(vow_resolver_on_cancel(self->resolvers[i], note_stop, &self->stopped[i], NULL),
                     0);
    }
}

static inline void fulfil(cast *self, int index, int64_t integer) {
    vow_resolve(self->resolvers[index], vow_int(integer));
}

static inline int stops(cast *self) {
    int sum = 0;
    for (int i = 0; i < self->count; i++) {
        sum += atomic_load(&self->stopped[i]);
    }
    return sum;
}

static inline void cast_end(cast *self) {
    for (int i = 0; i < self->count; i++) {
        vow_resolver_release(self->resolvers[i]);
    }
}

static inline vow_value peeked(vow_promise *promise) {
    vow_value out;
    CHECK(vow_promise_peek(promise, &out));
    return out;
}

#endif
