/* Things that a promise can be resolved with, promises and thenables inside each other, and what
 * has to come out. */
#ifndef VOW_TEST_APLUS_OFFER_H
#define VOW_TEST_APLUS_OFFER_H

#include "aplus.h"

#include <semaphore.h>

typedef enum offer_shape { PLAIN, PROMISE, THENABLE } offer_shape;

/* A promise or thenable gives its inner offer, or else a number, or an error with that code. */
typedef struct offer {
    offer_shape shape;
    bool later; /* not before offer_go, and from a thread of its own */
    bool rejects;
    int number;
    struct offer *inner;
    atomic_int calls;
    atomic_int ends;
    sem_t go;
    sem_t stored;
    pthread_t thread; /* valid once started */
    atomic_bool started;
    vow_resolver *resolver;
} offer;

/* Needs offer_end, once the library was given the value that offer_value made. */
static inline void offer_init(offer *self, offer_shape shape, bool later, bool rejects,
                              int number) {
    memset(self, 0, sizeof *self);
    self->shape = shape;
    self->later = later;
    self->rejects = rejects;
    self->number = number;
    sem_init(&self->go, 0, 0);
    sem_init(&self->stored, 0, 0);
}

static inline vow_value offer_value(offer *self);

static inline vow_value offer_plain(offer *self) {
    return self->rejects ? vow_error("test", self->number, "offered") : vow_int(self->number);
}

/* Gives the resolver (consumed) what the offer is about. */
static inline void offer_give(offer *self, vow_resolver *resolver) {
    if (self->inner != NULL) {
        CHECK(vow_resolve(resolver, offer_value(self->inner)));
    } else if (self->rejects) {
        CHECK(vow_reject(resolver, offer_plain(self)));
    } else {
        CHECK(vow_resolve(resolver, offer_plain(self)));
    }
    vow_resolver_release(resolver);
}

static inline void offer_wait_for(sem_t *semaphore) {
    while (sem_wait(semaphore) != 0) {
    }
}

static inline void *offer_thread(void *context) {
    offer *self = context;
    offer_wait_for(&self->stored);
    offer_wait_for(&self->go);
    offer_give(self, self->resolver);
    return NULL;
}

/* Gives it to the resolver (consumed) now, or from another thread after offer_go. */
static inline void offer_answer(offer *self, vow_resolver *resolver) {
    if (!self->later) {
        offer_give(self, resolver);
        return;
    }
    self->resolver = resolver;
    self->thread = start_thread(offer_thread, self);
    atomic_store(&self->started, true);
    sem_post(&self->stored);
}

static inline void offer_destroy(void *pointer) {
    atomic_fetch_add(&((offer *)pointer)->ends, 1);
}

static inline bool offer_subscribe(void *pointer, vow_resolver *resolver) {
    offer *self = pointer;
    CHECK_INT_EQ(atomic_fetch_add(&self->calls, 1), 0);
    offer_answer(self, resolver);
    return true;
}

static const vow_class offer_class = {sizeof(vow_class), "offer", offer_destroy, offer_subscribe};

/* What a promise is to be resolved with (owned). Call it once. */
static inline vow_value offer_value(offer *self) {
    if (self->shape == THENABLE) {
        return vow_object(self, &offer_class);
    }
    if (self->shape == PLAIN) {
        return offer_plain(self);
    }
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    offer_answer(self, resolver);
    return vow_from_promise(promise);
}

/* Checks that a promise (consumed) ends as the innermost offer says, and waits for all of them. */
static inline void offer_expect(offer *self, vow_promise *promise) {
    for (;; self = self->inner) {
        if (self->later) {
            CHECK_INT_EQ(vow_await(promise, MILLISECOND / 4, NULL), VOW_PENDING);
            sem_post(&self->go);
        }
        if (self->inner == NULL) {
            break;
        }
    }
    if (self->rejects) {
        CHECK_INT_EQ(code_of(promise), self->number);
    } else {
        CHECK_INT_EQ(int_of(promise), self->number);
    }
}

/* Joins, and checks that thenables were called so often, and destroyed once. */
static inline void offer_end(offer *self, int calls) {
    for (; self != NULL; self = self->inner) {
        if (self->later) {
            sem_post(&self->go);
        }
        if (atomic_load(&self->started)) {
            pthread_join(self->thread, NULL);
        }
        if (self->shape == THENABLE) {
            CHECK(reaches(&self->ends, 1));
            CHECK_INT_EQ(atomic_load(&self->ends), 1);
            CHECK_INT_EQ(atomic_load(&self->calls), calls);
        }
        sem_destroy(&self->stored);
        sem_destroy(&self->go);
    }
}

/* The body with each offer that is made of one or two of these shapes, now and later, with a
 * value and with an error: 50 of them. */
static inline void for_each_offer(void (*body)(offer *self, void *context), void *context) {
    for (int variant = 0; variant < 5 * 5 * 2; variant++) {
        static const offer_shape shapes[5] = {PLAIN, PROMISE, PROMISE, THENABLE, THENABLE};
        int outside = variant / 10;
        int inside = variant / 2 % 5;
        bool rejects = variant % 2 != 0;
        if (outside == 0 && inside != 0) {
            continue; /* what is plain has nothing inside */
        }
        int failures = atomic_load(&harness_failures);
        offer inner;
        offer outer;
        offer_init(&inner, shapes[inside], inside % 2 == 0 && inside > 0, rejects, 5);
        offer_init(&outer, shapes[outside], outside % 2 == 0 && outside > 0, rejects, 5);
        outer.inner = inside > 0 ? &inner : NULL;
        body(&outer, context);
        offer_end(&outer, 1);
        if (atomic_load(&harness_failures) != failures) {
            printf("# in this case: offer %d in %d, %s\n", inside, outside,
                   rejects ? "rejects" : "fulfils");
        }
    }
}

#endif
