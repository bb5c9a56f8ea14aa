/* Scenes of combinators: many promises as one, in every outcome; and scopes. */
#ifndef VOW_TEST_SCENES_COMBINATORS_H
#define VOW_TEST_SCENES_COMBINATORS_H

#include "cast.h"

#define MEMBERS 4

typedef vow_promise *(*combinator)(vow_promise *const *promises, size_t count);

static vow_promise *two_of(vow_promise *const *promises, size_t count) {
    return vow_some(promises, count, 2);
}

static const combinator combinators[] = {vow_all, vow_all_settled, vow_any, two_of, vow_race};
#define COMBINATORS (sizeof combinators / sizeof combinators[0])

/* What each of them is when all members are fulfilled, and when all but the first are rejected. */
static const int64_t codes_of_good[] = {0, 0, 0, 0, 0};
static const int64_t codes_of_bad[] = {5, 0, 0, VOW_EAGGREGATE, 0};

/* Promises whose producers hear of it when they are no longer wanted. */
typedef struct members {
    vow_promise *promises[MEMBERS];
    vow_resolver *resolvers[MEMBERS];
} members;

static void members_make(cast *self, members *all) {
    for (int i = 0; i < MEMBERS; i++) {
        all->promises[i] = vow_promise_create(&all->resolvers[i]);
        cast_hook(self, all->resolvers[i]);
    }
}

/* The first one is fulfilled, the others as is wanted. */
static void members_settle(cast *self, members *all, bool are_good) {
    for (int i = 0; i < MEMBERS; i++) {
        resolve_last(all->resolvers[i], i == 0 || are_good
                                            ? cast_object(self)
                                            : vow_error_wrap("test", 5, "bad", cast_object(self)));
    }
}

/* Waits for a combined promise (consumed). A member that lacked memory may change its outcome. */
static void combined_settles(vow_promise *promise, int64_t code) {
    vow_value out = vow_none();
    int state = vow_await(promise, LONG_ENOUGH, &out);
    int64_t found = state == (int)VOW_REJECTED ? vow_error_code(out) : 0;
    CHECK(state == (int)VOW_FULFILLED || state == (int)VOW_REJECTED);
    if (!lacked_memory()) {
        CHECK_INT_EQ(found, code);
    } else if (found != 0 && found != 5 && found != VOW_EAGGREGATE) {
        is_code(found, code);
    }
    if (found == 5) {
        int64_t index = vow_error_index(out);
        CHECK((index >= 0 && index < MEMBERS) || (index == -1 && lacked_memory()));
    }
    vow_value_release(out);
    vow_promise_release(promise);
}

static void scene_combined_good(cast *self) {
    for (size_t i = 0; i < COMBINATORS; i++) {
        members all;
        members_make(self, &all);
        vow_promise *promise = combinators[i](all.promises, MEMBERS);
        members_settle(self, &all, true);
        combined_settles(cast_inline(self, promise, pass_on, pass_on), codes_of_good[i]);
    }
}

static void scene_combined_bad(cast *self) {
    for (size_t i = 0; i < COMBINATORS; i++) {
        members all;
        members_make(self, &all);
        vow_promise *promise = combinators[i](all.promises, MEMBERS);
        members_settle(self, &all, false);
        combined_settles(cast_inline(self, promise, pass_on, pass_on), codes_of_bad[i]);
    }
}

static void scene_combined_settled(cast *self) {
    for (size_t i = 0; i < COMBINATORS; i++) {
        vow_promise *all[MEMBERS];
        for (int k = 0; k < MEMBERS; k++) {
            all[k] = k == 0 ? vow_promise_with(cast_object(self))
                            : vow_promise_with(vow_error("test", 5, "bad"));
        }
        combined_settles(combinators[i](all, MEMBERS), codes_of_bad[i]);
    }
}

static void scene_combined_on_pool(cast *self) {
    for (size_t i = 0; i < COMBINATORS; i++) {
        vow_promise *all[MEMBERS];
        for (int k = 0; k < MEMBERS; k++) {
            all[k] = cast_link(self, vow_executor_pool(), vow_promise_with(cast_object(self)),
                               k % 2 == 0 ? make_chain : make_string, NULL);
        }
        vow_promise *promise = combinators[i](all, MEMBERS);
        combined_settles(vow_then(promise, make_promise, &shared), codes_of_good[i]);
    }
}

static void scene_combined_cancelled(cast *self) {
    for (size_t i = 0; i < COMBINATORS; i++) {
        members all;
        members_make(self, &all);
        vow_promise *promise = combinators[i](all.promises, MEMBERS);
        CHECK(vow_cancel_with(promise, cast_object(self)) || lacked_memory());
        CHECK(vow_promise_state(promise) != VOW_PENDING);
        members_settle(self, &all, true);
        /* Without memory all members may be rejected already. */
        int64_t code = code_of(promise);
        if (!(lacked_memory() && (code == 0 || code == VOW_EAGGREGATE))) {
            is_code(code, VOW_ECANCELLED);
        }
    }
}

static void scene_combined_dropped(cast *self) {
    for (size_t i = 0; i < COMBINATORS; i++) {
        members all;
        members_make(self, &all);
        vow_promise_release(combinators[i](all.promises, MEMBERS));
        members_settle(self, &all, false);
    }
}

static void scene_combined_wrong(cast *self) {
    combined_settles(vow_all(NULL, 0), 0);
    combined_settles(vow_all_settled(NULL, 0), 0);
    combined_settles(vow_any(NULL, 0), VOW_EAGGREGATE);
    settles(vow_race(NULL, 0), VOW_EINVAL);
    for (size_t i = 0; i < COMBINATORS; i++) {
        members all;
        members_make(self, &all);
        vow_promise *with_none[MEMBERS + 1];
        memcpy(with_none, all.promises, sizeof all.promises);
        with_none[MEMBERS] = NULL;
        settles(combinators[i](with_none, MEMBERS + 1), VOW_EINVAL);
        settles(combinators[i](NULL, 1), VOW_EINVAL);
        members_settle(self, &all, true);
    }
}

/* A list (owned) of objects. */
static vow_value list_of(cast *self, int count) {
    vow_value items[8];
    for (int i = 0; i < count; i++) {
        items[i] = cast_object(self);
    }
    return vow_list(items, (size_t)count);
}

/* Waits for the promise (consumed) of a function that ran with a list; without memory that is
 * none, and the call is refused. */
static void list_settles(vow_promise *promise, int64_t code) {
    settles_or(promise, code, VOW_EINVAL);
}

static void scene_map(cast *self) {
    list_settles(vow_map(list_of(self, 5), make_chain, &shared, 2), 0);
    list_settles(vow_map(list_of(self, 5), make_promise, &shared, 0), 0);
    list_settles(vow_map(list_of(self, 5), make_error, &shared, 2), 7);
    settles(vow_map(vow_int(1), make_string, &shared, 1), VOW_EINVAL);
}

/* A promise that is not settled as long as anybody wants it. */
static vow_value wait_for_good(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(vow_promise_retain(context));
}

static void scene_map_given_up(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_executor *serial = vow_executor_serial("map");
    vow_executor_set_default(serial);
    vow_promise *given_up = vow_map(list_of(self, 5), wait_for_good, promise, 2);
    vow_promise_release(vow_map(list_of(self, 3), make_chain, &shared, 1));
    vow_executor_set_default(NULL);
    vow_executor_release(serial);
    CHECK(vow_cancel(given_up) || lacked_memory());
    /* What the calls have returned is waited for. */
    vow_resolver_release(resolver);
    settles_or(given_up, VOW_ECANCELLED, VOW_EINVAL);
    vow_promise_release(promise);
}

/* Both inputs as a list. */
static vow_value put_together(vow_value accumulated, vow_value item, void *context) {
    vow_value items[2] = {vow_value_retain(accumulated), vow_value_retain(item)};
    runs_now(context);
    return vow_from_promise(vow_promise_with(vow_list(items, 2)));
}

static void scene_reduce(cast *self) {
    members all;
    members_make(self, &all);
    vow_promise *promise =
        vow_reduce(all.promises, MEMBERS, cast_object(self), put_together, &shared);
    members_settle(self, &all, true);
    settles(promise, 0);
    members_make(self, &all);
    promise = vow_reduce(all.promises, MEMBERS, cast_object(self), put_together, &shared);
    members_settle(self, &all, false);
    settles(promise, 5);
    members_make(self, &all);
    promise = vow_reduce(all.promises, MEMBERS, cast_object(self), put_together, &shared);
    CHECK(vow_cancel(promise) || lacked_memory());
    members_settle(self, &all, true);
    settles(promise, VOW_ECANCELLED);
    settles(vow_reduce(NULL, 1, cast_object(self), put_together, &shared), VOW_EINVAL);
}

/* Steps that have been taken. */
typedef struct march {
    atomic_int steps;
    bool fails;
} march;

static bool is_on_the_way(vow_value state, void *context) {
    (void)state;
    return atomic_load(&((march *)context)->steps) < 5;
}

static vow_value take_step(vow_value state, void *context) {
    march *self = context;
    int step = atomic_fetch_add(&self->steps, 1);
    if (self->fails && step == 3) {
        return vow_error_wrap("test", 7, "stumbles", vow_value_retain(state));
    }
    return step % 2 == 0 ? vow_string("a step", 6)
                         : vow_from_promise(vow_promise_with(vow_value_retain(state)));
}

static void scene_repeat(cast *self) {
    march good = {0, false};
    march bad = {0, true};
    settles(vow_repeat(cast_object(self), is_on_the_way, take_step, &good), 0);
    settles(vow_repeat(cast_object(self), is_on_the_way, take_step, &bad), 7);
}

static void scene_scope(cast *self) {
    vow_scope *scope = vow_scope_create();
    members all;
    members_make(self, &all);
    is_made(scope);
    for (int i = 0; i < MEMBERS; i++) {
        int answer = vow_scope_add(scope, all.promises[i]);
        CHECK(answer == 0 || lacked_memory());
        is_code(answer, scope == NULL ? VOW_EINVAL : 0);
    }
    if (scope == NULL) {
        settles(vow_scope_close(scope), VOW_EINVAL);
        members_settle(self, &all, true);
    } else {
        vow_promise *end = cast_inline(self, vow_scope_close(scope), make_string, pass_on);
        members_settle(self, &all, false);
        settles_or(end, 5, 0);
    }
}

static void scene_scope_cancelled(cast *self) {
    for (int way = 0; way < 3; way++) {
        vow_scope *scope = vow_scope_create();
        members all;
        members_make(self, &all);
        is_made(scope);
        for (int i = 0; i < MEMBERS - 1; i++) {
            CHECK(vow_scope_add(scope, all.promises[i]) == 0 || lacked_memory());
        }
        vow_promise *last = vow_promise_retain(all.promises[MEMBERS - 1]);
        if (scope != NULL && way < 2) {
            vow_scope_cancel(scope);
            is_code(vow_scope_add(scope, all.promises[MEMBERS - 1]), VOW_ECANCELLED);
        } else {
            vow_promise_release(all.promises[MEMBERS - 1]);
        }
        if (scope != NULL && way == 0) {
            settles(vow_scope_close(scope), 0);
        } else {
            vow_scope_release(scope);
        }
        members_settle(self, &all, true);
        CHECK(vow_promise_state(last) != VOW_PENDING);
        vow_promise_release(last);
    }
}

static vow_value delay_in_scope(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_from_promise(vow_delay(60 * SECOND));
}

static void scene_scope_async(cast *self) {
    vow_scope_options options = {.size = sizeof options,
                                 .flags = VOW_SCOPE_FAIL_FAST,
                                 .deadline_ns = VOW_MS,
                                 .grace_ns = VOW_MS,
                                 .label = "scene"};
    vow_scope *scope = vow_scope_create_with(&options);
    is_made(scope);
    if (scope == NULL) {
        return;
    }
    vow_scope *kept = vow_scope_retain(scope);
    counter *its = next_of(self->links, &self->given_links);
    vow_promise *first = vow_scope_async(scope, vow_executor_pool(), pass_on, its, counter_end);
    vow_promise *second = vow_scope_async(scope, vow_executor_pool(), delay_in_scope, NULL, NULL);
    vow_promise *end = cast_inline(self, vow_scope_close(scope), make_string, pass_on);
    int answer = vow_scope_add(kept, vow_promise_with(vow_int(1)));
    CHECK(answer == 0 || answer == VOW_ECANCELLED || answer == VOW_ESHUTDOWN || lacked_memory());
    settles_or(end, VOW_ETIMEDOUT, 0);
    CHECK(vow_await(first, LONG_ENOUGH, NULL) != (int)VOW_PENDING);
    CHECK_INT_EQ(atomic_load(&its->ends), 1);
    vow_promise_release(first);
    vow_promise_release(second);
    vow_scope_release(kept);
}

#define SCENES_COMBINATORS                                                                         \
    {"members that are fulfilled", scene_combined_good},                                           \
        {"members that are rejected", scene_combined_bad},                                         \
        {"members that are settled", scene_combined_settled},                                      \
        {"members on the pool", scene_combined_on_pool},                                           \
        {"combined promises that are cancelled", scene_combined_cancelled},                        \
        {"combined promises that are dropped", scene_combined_dropped},                            \
        {"wrong members", scene_combined_wrong}, {"map", scene_map},                               \
        {"map that is given up", scene_map_given_up}, {"reduce", scene_reduce},                    \
        {"repeat", scene_repeat}, {"a scope", scene_scope},                                        \
        {"a scope with work and a deadline", scene_scope_async}, {                                 \
        "a scope that is cancelled", scene_scope_cancelled                                         \
    }

#endif
