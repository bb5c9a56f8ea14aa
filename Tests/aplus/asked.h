/* A promise resolved with a thenable, in every place where that can happen. */
#ifndef VOW_TEST_APLUS_ASKED_H
#define VOW_TEST_APLUS_ASKED_H

#include "aplus.h"

/* A thenable that does what the test says. */
typedef struct asked {
    /* The resolver is consumed; the answer is that of subscribe. */
    bool (*act)(struct asked *self, vow_resolver *resolver);
    vow_value gives; /* for act; borrowed */
    vow_resolver *kept;
    atomic_int calls;
    atomic_int ends;
} asked;

static inline bool asked_subscribe(void *pointer, vow_resolver *resolver) {
    asked *self = pointer;
    CHECK_INT_EQ(atomic_load(&self->ends), 0);
    CHECK(resolver != NULL);
    bool answer = self->act(self, resolver);
    atomic_fetch_add(&self->calls, 1);
    return answer;
}

static inline void asked_destroy(void *pointer) {
    atomic_fetch_add(&((asked *)pointer)->ends, 1);
}

static const vow_class asked_class = {sizeof(vow_class), "asked", asked_destroy, asked_subscribe};

/* It was called and destroyed once each. */
static inline void asked_end(asked *self) {
    CHECK(reaches(&self->ends, 1));
    CHECK_INT_EQ(atomic_load(&self->ends), 1);
    CHECK_INT_EQ(atomic_load(&self->calls), 1);
}

static inline vow_value give_object(vow_value input, void *context) {
    (void)input;
    return vow_object(context, &asked_class);
}

static inline vow_value give_in_list(vow_value input, void *context) {
    (void)context;
    return vow_value_retain(vow_list_at(input, 0));
}

/* Where a promise is resolved with an object. */
#define PLACES 7

/* The promise (owned) of a fresh object, resolved in that place. */
static inline vow_promise *asked_in(int place, asked *self) {
    vow_executor *pool = vow_executor_pool();
    vow_resolver *resolver;
    vow_promise *promise;
    vow_value object;
    switch (place) {
    case 0:
        return vow_promise_with(vow_object(self, &asked_class));
    case 1:
        promise = vow_promise_create(&resolver);
        CHECK(vow_resolve(resolver, vow_object(self, &asked_class)));
        CHECK(!vow_resolve(resolver, vow_int(1)));
        CHECK(!vow_reject(resolver, vow_int(1)));
        vow_resolver_release(resolver);
        return promise;
    case 2:
        return then_inline(fulfilled_int(1), give_object, self);
    case 3:
        return catch_inline(rejected_code(1), give_object, self);
    case 4:
        return then_on(pool, fulfilled_int(1), give_object, self);
    case 5:
        return vow_async(pool, give_object, self);
    default:
        object = vow_object(self, &asked_class);
        return then_on(pool, vow_promise_with(vow_list(&object, 1)), give_in_list, NULL);
    }
}

/* The body with a promise (borrowed) of a thenable that acts like this, in each place. */
static inline void in_each_place(bool (*act)(asked *self, vow_resolver *resolver), vow_value gives,
                                 void (*body)(asked *self, vow_promise *promise)) {
    for (int place = 0; place < PLACES; place++) {
        int failures = atomic_load(&harness_failures);
        asked self;
        memset(&self, 0, sizeof self);
        self.act = act;
        self.gives = gives;
        vow_promise *promise = asked_in(place, &self);
        body(&self, promise);
        vow_promise_release(promise);
        asked_end(&self);
        if (atomic_load(&harness_failures) != failures) {
            printf("# in this case: place %d\n", place);
        }
    }
}

/* Checks that a promise (borrowed) ends so: with an error of this code, or with this value. */
#define REJECTED_WITH(promise, code) CHECK_INT_EQ(code_of(vow_promise_retain(promise)), (code))
#define FULFILLED_WITH(promise, value) ENDS_AS(vow_promise_retain(promise), VOW_FULFILLED, (value))

#endif
