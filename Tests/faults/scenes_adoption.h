/* Scenes of adoption: promises that follow promises in every shape, and thenables. */
#ifndef VOW_TEST_SCENES_ADOPTION_H
#define VOW_TEST_SCENES_ADOPTION_H

#include "cast.h"

static vow_value handle_of(vow_promise *promise) {
    return vow_from_promise(vow_promise_retain(promise));
}

/* A row of promises, each with a handler, and the results of those handlers. */
typedef struct row {
    vow_promise *promises[4];
    vow_resolver *resolvers[4];
    vow_promise *results[4];
} row;

static void row_make(cast *self, row *all) {
    for (int i = 0; i < 4; i++) {
        all->promises[i] = vow_promise_create(&all->resolvers[i]);
        all->results[i] = cast_link(self, i % 2 == 0 ? vow_executor_inline() : vow_executor_pool(),
                                    vow_promise_retain(all->promises[i]), pass_on, NULL);
    }
}

/* Waits for all: promises and the results of their handlers. */
static void row_settles(row *all, int64_t code) {
    for (int i = 0; i < 4; i++) {
        vow_resolver_release(all->resolvers[i]);
        settles(all->results[i], code);
        settles(all->promises[i], code);
    }
}

static void adopt(row *all, int outer, int inner) {
    vow_resolve(all->resolvers[outer], handle_of(all->promises[inner]));
}

static void scene_adopts_outwards(cast *self) {
    row all;
    row_make(self, &all);
    adopt(&all, 2, 3);
    adopt(&all, 1, 2);
    adopt(&all, 0, 1);
    vow_resolve(all.resolvers[3], cast_object(self));
    row_settles(&all, 0);
}

static void scene_adopts_inwards(cast *self) {
    row all;
    row_make(self, &all);
    adopt(&all, 0, 1);
    adopt(&all, 1, 2);
    adopt(&all, 2, 3);
    vow_reject(all.resolvers[3], vow_error_wrap("test", 3, "three", cast_object(self)));
    row_settles(&all, 3);
}

static void scene_adopts_one(cast *self) {
    row all;
    row_make(self, &all);
    adopt(&all, 0, 3);
    adopt(&all, 1, 3);
    adopt(&all, 2, 3);
    vow_resolver_release(vow_resolver_retain(all.resolvers[3]));
    vow_resolve(all.resolvers[3], cast_object(self));
    row_settles(&all, 0);
}

static void scene_adopts_settled(cast *self) {
    row all;
    row_make(self, &all);
    vow_resolve(all.resolvers[0], handle_of(all.promises[1]));
    vow_resolve(all.resolvers[1], vow_from_promise(vow_promise_with(cast_object(self))));
    vow_resolve(all.resolvers[2], handle_of(all.promises[1]));
    vow_resolve(all.resolvers[3],
                vow_from_promise(vow_promise_with(vow_from_promise(fulfilled_int(1)))));
    row_settles(&all, 0);
}

static void scene_adopts_broken(cast *self) {
    vow_resolver *outer_resolver;
    vow_resolver *inner_resolver;
    vow_promise *outer = vow_promise_create(&outer_resolver);
    vow_promise *inner = vow_promise_create(&inner_resolver);
    resolve_last(outer_resolver, vow_from_promise(inner));
    outer = cast_inline(self, outer, pass_on, pass_on);
    vow_resolver_release(inner_resolver);
    settles(outer, VOW_EBROKEN);
}

static void scene_ring(cast *self) {
    row all;
    row_make(self, &all);
    for (int i = 0; i < 4; i++) {
        adopt(&all, i, (i + 1) % 4);
    }
    row_settles(&all, VOW_ECYCLE);
}

static void scene_own_handle(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    promise = cast_inline(self, promise, pass_on, pass_on);
    resolve_last(resolver, vow_from_promise(vow_promise_with(vow_none())));
    settles(promise, 0);
    promise = vow_promise_create(&resolver);
    resolve_last(resolver, handle_of(promise));
    settles(promise, VOW_ECYCLE);
}

static void scene_inner_is_dropped(cast *self) {
    vow_resolver *outer_resolver;
    vow_resolver *inner_resolver;
    vow_promise *outer = vow_promise_create(&outer_resolver);
    vow_promise *inner = vow_promise_create(&inner_resolver);
    outer = cast_inline(self, outer, make_chain, NULL);
    resolve_last(outer_resolver, vow_from_promise(inner));
    vow_promise_release(outer);
    resolve_last(inner_resolver, cast_object(self));
}

static void scene_handlers_return_promises(cast *self) {
    vow_promise *promise = vow_promise_with(cast_object(self));
    promise = cast_inline(self, promise, make_chain, NULL);
    promise = cast_link(self, vow_executor_pool(), promise, make_chain, NULL);
    promise = cast_inline(self, promise, make_promise, NULL);
    promise = cast_finally(self, vow_executor_pool(), promise, make_chain);
    settles(promise, 0);
}

/* How a thenable answers; it is one of the cast's objects. */
typedef enum answer {
    AT_ONCE,
    NOT_YET,
    NO_THENABLE,
    TWICE,
    WITH_PROMISE,
    WITH_ERROR,
    NEVER
} answer;

typedef struct thenable {
    cast *owner;
    counter *ends;
    answer how;
    vow_resolver *kept; /* with NOT_YET, once it was asked */
} thenable;

static void thenable_end(void *pointer) {
    counter_end(((thenable *)pointer)->ends);
}

static bool thenable_subscribe(void *pointer, vow_resolver *resolver) {
    thenable *self = pointer;
    switch (self->how) {
    case NOT_YET:
        self->kept = resolver;
        return true;
    case NO_THENABLE:
        vow_resolver_release(resolver);
        return false;
    case TWICE:
        vow_resolve(resolver, vow_string("first", VOW_NUL_TERMINATED));
        vow_reject(resolver, vow_error("test", 2, "second"));
        break;
    case WITH_PROMISE:
        vow_resolve(resolver,
                    vow_from_promise(vow_async(vow_executor_pool(), make_string, &shared)));
        break;
    case WITH_ERROR:
        vow_reject(resolver, vow_error("test", 8, "eight"));
        break;
    case NEVER:
        break;
    default:
        vow_resolve(resolver, cast_object(self->owner));
        break;
    }
    vow_resolver_release(resolver);
    return true;
}

static const vow_class thenable_class = {sizeof(vow_class), "thenable", thenable_end,
                                         thenable_subscribe};

static vow_value thenable_value(cast *self, thenable *one, answer how) {
    one->owner = self;
    one->how = how;
    one->kept = NULL;
    one->ends = next_of(self->objects, &self->given_objects);
    return vow_object(one, &thenable_class);
}

static void scene_thenables(cast *self) {
    static const int64_t codes[7] = {0, 0, 0, 0, 0, 8, VOW_EBROKEN};
    thenable all[7];
    for (int i = 0; i < 7; i++) {
        vow_resolver *resolver;
        vow_promise *promise = vow_promise_create(&resolver);
        promise = cast_inline(self, promise, pass_on, pass_on);
        resolve_last(resolver, thenable_value(self, &all[i], (answer)i));
        if (all[i].kept != NULL) {
            resolve_last(all[i].kept, cast_object(self));
        }
        settles(promise, codes[i]);
    }
}

static vow_value give_thenable(vow_value input, void *context) {
    thenable *one = context;
    (void)input;
    return thenable_value(one->owner, one, WITH_PROMISE);
}

static void scene_thenable_from_handler(cast *self) {
    /* A thread of the pool may let go of the object after the promise is settled. */
    static thenable given;
    static thenable made;
    given.owner = self;
    settles(vow_then(fulfilled_int(1), give_thenable, &given), 0);
    settles(vow_promise_with(thenable_value(self, &made, AT_ONCE)), 0);
}

#define SCENES_ADOPTION                                                                            \
    {"adoption from the inside outwards", scene_adopts_outwards},                                  \
        {"adoption from the outside inwards", scene_adopts_inwards},                               \
        {"several adopt one", scene_adopts_one},                                                   \
        {"adopting what is settled", scene_adopts_settled},                                        \
        {"adopting what breaks", scene_adopts_broken}, {"a ring", scene_ring},                     \
        {"adopting itself", scene_own_handle},                                                     \
        {"an adopting promise that is dropped", scene_inner_is_dropped},                           \
        {"handlers that return promises", scene_handlers_return_promises},                         \
        {"thenables", scene_thenables}, {                                                          \
        "a thenable from a handler", scene_thenable_from_handler                                   \
    }

#endif
