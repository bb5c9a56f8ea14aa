/* Tests combined promises that are refused, cancelled, released, nested, short of memory, or raced
 * for. */
#include "cast.h"

static vow_promise *some_of_two(vow_promise *const *promises, size_t count) {
    return vow_some(promises, count, 2);
}

typedef vow_promise *(*combinator)(vow_promise *const *promises, size_t count);
static const combinator combinators[5] = {vow_all, vow_all_settled, vow_any, some_of_two, vow_race};

TEST("NULL entries and arrays are refused, and the others released") {
    for (int which = 0; which < 5; which++) {
        cast self;
        cast_make(&self, 3);
        vow_promise *promises[4] = {self.promises[0], NULL, self.promises[1], self.promises[2]};
        CHECK_INT_EQ(code_of(combinators[which](promises, 4)), VOW_EINVAL);
        CHECK_INT_EQ(stops(&self), 3);
        CHECK_INT_EQ(code_of(combinators[which](NULL, 4)), VOW_EINVAL);
        CHECK_INT_EQ(code_of(combinators[which](promises, SIZE_MAX)), VOW_ENOMEM);
        CHECK_INT_EQ(code_of(combinators[which](promises, SIZE_MAX / 48 + 2)), VOW_ENOMEM);
        cast_end(&self);
    }
}

TEST("cancelling the combined promise cancels its members") {
    for (int which = 0; which < 5; which++) {
        cast self;
        cast_make(&self, 3);
        vow_promise *kept = vow_promise_retain(self.promises[1]);
        vow_promise *combined = combinators[which](self.promises, 3);
        CHECK(vow_cancel(combined));
        CHECK_INT_EQ(vow_error_code(peeked(combined)), VOW_ECANCELLED);
        CHECK(!vow_cancel(combined));
        CHECK_INT_EQ(stops(&self), 2);
        CHECK_INT_EQ(vow_promise_state(kept), VOW_PENDING);
        fulfil(&self, 1, 1);
        CHECK_INT_EQ(int_of(kept), 1);
        vow_promise_release(combined);
        cast_end(&self);
    }
}

TEST("releasing the combined promise lets go of its members, whose producers hear of it") {
    for (int which = 0; which < 5; which++) {
        cast self;
        cast_make(&self, 3);
        vow_promise *kept = vow_promise_retain(self.promises[1]);
        counter runs = {0};
        self.promises[0] = then_inline(self.promises[0], counter_run, &runs);
        vow_promise *combined = combinators[which](self.promises, 3);
        vow_promise_release(combined);
        CHECK_INT_EQ(stops(&self), 1);
        CHECK_INT_EQ(atomic_load(&self.stopped[2]), 1);
        fulfil(&self, 0, 1);
        CHECK_INT_EQ(atomic_load(&runs.runs), 1);
        fulfil(&self, 1, 1);
        CHECK_INT_EQ(int_of(kept), 1);
        cast_end(&self);
    }
}

TEST("a member that is cancelled counts as rejected") {
    cast self;
    cast_make(&self, 2);
    vow_promise *kept = vow_promise_retain(self.promises[1]);
    vow_promise *all = vow_all(self.promises, 2);
    CHECK(vow_cancel(kept));
    vow_promise_release(kept);
    CHECK_INT_EQ(vow_error_code(peeked(all)), VOW_ECANCELLED);
    CHECK_INT_EQ(vow_error_index(peeked(all)), 1);
    vow_promise_release(all);
    CHECK_INT_EQ(stops(&self), 2);
    cast_end(&self);
}

TEST("values and errors that are counted end once") {
    for (int which = 0; which < 5; which++) {
        for (int failing = 0; failing < 16; failing++) {
            counter objects = {0};
            cast self;
            cast_make(&self, 4);
            vow_promise *combined = combinators[which](self.promises, 4);
            for (int i = 0; i < 4; i++) {
                vow_value object = vow_object(&objects, &counter_class);
                if (failing & (1 << i)) {
                    object = vow_error_wrap("test", 1, "with an object", object);
                }
                vow_resolve(self.resolvers[i], object);
            }
            CHECK(vow_promise_state(combined) != VOW_PENDING);
            vow_promise_peek(combined, &(vow_value){0});
            vow_promise_release(combined);
            cast_end(&self);
            CHECK_INT_EQ(atomic_load(&objects.ends), 4);
        }
    }
}

TEST("vow_error_index of other values is -1") {
    CHECK_INT_EQ(vow_error_index(vow_int(4)), -1);
    vow_value error = vow_error("test", 1, "one");
    CHECK_INT_EQ(vow_error_index(error), -1);
    vow_value_release(error);
}

static void *nest(void *context) {
    int depth = depth_of(300000);
    for (int which = 0; which < 5; which++) {
        for (int end = 0; end < 4; end++) {
            vow_resolver *resolver;
            vow_promise *promise = vow_promise_create(&resolver);
            for (int level = 0; level < depth; level++) {
                vow_promise *one[2] = {promise, NULL};
                size_t count = 1;
                if (which == 3) {
                    one[1] = fulfilled_int(1);
                    count = 2;
                }
                promise = combinators[which](one, count);
            }
            if (end == 0) {
                vow_resolve(resolver, vow_int(4));
                CHECK_INT_EQ(vow_promise_state(promise), VOW_FULFILLED);
            } else if (end == 1) {
                vow_reject(resolver, vow_error("test", 1, "one"));
                CHECK(vow_promise_state(promise) != VOW_PENDING);
                vow_promise_peek(promise, &(vow_value){0});
            } else if (end == 2) {
                CHECK(vow_cancel(promise));
            }
            vow_promise_release(promise);
            vow_resolver_release(resolver);
        }
    }
    (void)context;
    return NULL;
}

TEST("combined promises nested deep settle, fail, are cancelled and freed with constant stack") {
    on_small_stack(nest, NULL);
}

static vow_value scene(int which) {
    cast self;
    memset(&self, 0, sizeof self);
    for (int i = 0; i < 3; i++) {
        self.promises[i] = vow_promise_create(&self.resolvers[i]);
    }
    vow_promise *combined = combinators[which](self.promises, 3);
    fulfil(&self, 0, 1);
    vow_resolve(self.resolvers[1], vow_error("test", 1, "one"));
    vow_resolve(self.resolvers[2], vow_string("three", 5));
    for (int i = 0; i < 3; i++) {
        vow_resolver_release(self.resolvers[i]);
    }
    CHECK(vow_promise_state(combined) != VOW_PENDING);
    vow_value out;
    vow_promise_peek(combined, &out);
    vow_value_retain(out);
    vow_promise_release(combined);
    return out;
}

TEST("without memory the promise is rejected and nothing is lost") {
    for (int which = 0; which < 5; which++) {
        for (int nth = 1;; nth++) {
            atomic_store(&counts.failed, 0);
            atomic_store(&counts.countdown, nth);
            vow_value_release(scene(which));
            atomic_store(&counts.countdown, 0);
            if (atomic_load(&counts.failed) == 0) {
                break;
            }
        }
    }
}

/* Threads that settle members while another one combines, cancels or releases. */
typedef struct settler {
    vow_resolver **resolvers;
    int count;
    bool fails;
} settler;

static void *settle_all(void *context) {
    settler *self = context;
    for (int i = 0; i < self->count; i++) {
        vow_resolve(self->resolvers[i], self->fails && i % 7 == 6 ? vow_error("test", 1, "one")
                                                                  : vow_string("value", 5));
    }
    return NULL;
}

TEST("members settle on other threads while the promise is made, cancelled or released") {
    enum { COUNT = 64 };
    for (int round = 0; round < 400; round++) {
        vow_promise *promises[COUNT];
        vow_resolver *resolvers[COUNT];
        for (int i = 0; i < COUNT; i++) {
            promises[i] = vow_promise_create(&resolvers[i]);
        }
        settler halves[2] = {{resolvers, COUNT / 2, round % 2 == 1},
                             {resolvers + COUNT / 2, COUNT / 2, round % 4 == 3}};
        pthread_t threads[2] = {start_thread(settle_all, &halves[0]),
                                start_thread(settle_all, &halves[1])};
        vow_promise *combined = combinators[round % 5](promises, COUNT);
        if (round % 3 == 0) {
            vow_cancel(combined);
        } else if (round % 3 == 1) {
            CHECK(vow_await(combined, LONG_ENOUGH, NULL) > 0);
        }
        vow_promise_peek(combined, &(vow_value){0});
        if (round % 3 == 2) {
            vow_promise_release(vow_catch(combined, give_code, NULL));
        } else {
            vow_promise_release(combined);
        }
        pthread_join(threads[0], NULL);
        pthread_join(threads[1], NULL);
        for (int i = 0; i < COUNT; i++) {
            vow_resolver_release(resolvers[i]);
        }
    }
}
