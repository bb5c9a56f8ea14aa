/* Scenes of chains: links, branches, finally, rejections, handles given back early. */
#ifndef VOW_TEST_SCENES_CHAINS_H
#define VOW_TEST_SCENES_CHAINS_H

#include "cast.h"

static void scene_inline_chain(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    promise = cast_inline(self, promise, make_string, NULL);
    promise = cast_inline(self, promise, make_promise, NULL);
    promise = cast_inline(self, promise, pass_on, pass_on);
    resolve_last(resolver, cast_object(self));
    settles(promise, 0);
}

static void scene_settled_chain(cast *self) {
    vow_promise *promise = vow_promise_with(cast_object(self));
    promise = cast_inline(self, promise, pass_on, NULL);
    promise = cast_inline(self, promise, make_error, NULL);
    promise = cast_inline(self, promise, NULL, pass_on);
    settles(promise, 7);
}

static void scene_pool_chain(cast *self) {
    vow_promise *promise = vow_promise_with(cast_object(self));
    promise = vow_then(promise, make_string, &shared);
    promise = vow_finally(promise, make_promise, &shared);
    promise = vow_then(promise, make_error, &shared);
    promise = vow_catch(promise, make_promise, &shared);
    settles(promise, 7);
}

static void scene_branches(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise *branches[9];
    for (int i = 0; i < 9; i++) {
        vow_executor *executor = i % 3 == 0 ? vow_executor_pool() : vow_executor_inline();
        branches[i] = cast_link(self, executor, vow_promise_retain(promise),
                                i % 2 == 0 ? make_string : make_error, pass_on);
    }
    vow_promise_release(promise);
    resolve_last(resolver, cast_object(self));
    for (int i = 0; i < 9; i++) {
        settles(branches[i], i % 2 == 0 ? 0 : 7);
    }
}

static void scene_recovery(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    promise = cast_inline(self, promise, pass_on, NULL);
    promise = cast_inline(self, promise, NULL, make_error);
    promise = cast_inline(self, promise, pass_on, NULL);
    promise = cast_inline(self, promise, NULL, make_string);
    vow_reject(resolver, vow_error_wrap("test", 3, "three", cast_object(self)));
    vow_resolver_release(resolver);
    settles(promise, 0);
}

static void scene_reason(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_value reason = vow_none();
    vow_reject(resolver, cast_object(self));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_REJECTED);
    CHECK(vow_promise_peek(promise, &reason));
    if (is_code(vow_error_code(reason), VOW_EREASON) && vow_error_code(reason) == VOW_EREASON) {
        is_kind(vow_error_payload(reason), VOW_OBJECT);
    }
    settles(promise, VOW_EREASON);
}

static void scene_broken(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = cast_inline(self, vow_promise_create(&resolver), pass_on, NULL);
    vow_resolver *second = vow_resolver_retain(resolver);
    vow_resolver_release(resolver);
    vow_resolver_release(second);
    settles(promise, VOW_EBROKEN);
}

static void scene_finally_passes(cast *self) {
    vow_promise *good = vow_promise_with(cast_object(self));
    vow_promise *bad = vow_promise_with(vow_error("test", 4, "four"));
    good = cast_finally(self, vow_executor_inline(), good, make_none);
    good = cast_finally(self, vow_executor_pool(), good, make_string);
    bad = cast_finally(self, vow_executor_inline(), bad, make_string);
    bad = cast_finally(self, vow_executor_pool(), bad, make_promise);
    settles(good, 0);
    settles(bad, 4);
}

static void scene_finally_fails(cast *self) {
    vow_promise *promise = vow_promise_with(cast_object(self));
    settles(cast_finally(self, vow_executor_inline(), promise, make_error), 7);
}

static vow_value wait_for_it(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(vow_promise_retain(context));
}

static void scene_finally_waits(cast *self) {
    vow_resolver *good_resolver;
    vow_resolver *bad_resolver;
    vow_promise *good = vow_promise_create(&good_resolver);
    vow_promise *bad = vow_promise_create(&bad_resolver);
    vow_promise *promise = finally_inline(vow_promise_with(cast_object(self)), wait_for_it, good);
    promise = cast_inline(self, promise, pass_on, pass_on);
    promise = finally_inline(promise, wait_for_it, bad);
    resolve_last(good_resolver, vow_string("unwanted", VOW_NUL_TERMINATED));
    vow_reject(bad_resolver, vow_error("test", 6, "six"));
    vow_resolver_release(bad_resolver);
    settles(promise, 6);
    vow_promise_release(good);
    vow_promise_release(bad);
}

static void scene_long_chain_dropped(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    for (int i = 0; i < 12; i++) {
        promise = cast_inline(self, promise, pass_on, i % 4 == 0 ? pass_on : NULL);
    }
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}

static void scene_unhandled(cast *self) {
    int before = atomic_load(&reports);
    vow_promise *promise = vow_promise_with(vow_error_wrap("test", 9, "nine", cast_object(self)));
    vow_promise_release(cast_inline(self, promise, pass_on, NULL));
    int after = atomic_load(&reports);
    CHECK(after == before + 1 || (after == before && lacked_memory()));
}

/* Without memory for who reads on, the promise is only released. */
static void scene_detached(cast *self) {
    int before = atomic_load(&reports);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    counter *stop = cast_hook(self, resolver);
    vow_detach(promise);
    CHECK(atomic_load(&stop->runs) == 0 || lacked_memory());
    vow_reject(resolver, vow_error_wrap("test", 9, "nine", cast_object(self)));
    vow_resolver_release(resolver);
    int after = atomic_load(&reports);
    CHECK(after == before + 1 || (after == before && lacked_memory()));
}

static void scene_handles(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_value seen = vow_int(1);
    vow_state state = vow_promise_state(promise);
    CHECK(state == VOW_PENDING || (state == VOW_REJECTED && lacked_memory()));
    CHECK_INT_EQ(vow_promise_peek(promise, &seen), state != VOW_PENDING);
    bool first = vow_resolve(resolver, cast_object(self));
    CHECK(first || lacked_memory());
    CHECK(!vow_resolve(resolver, vow_string("too late", VOW_NUL_TERMINATED)));
    CHECK(!vow_reject(resolver, cast_object(self)));
    vow_resolver_release(resolver);
    CHECK(vow_promise_peek(promise, &seen));
    is_kind(seen, VOW_OBJECT);
    CHECK_INT_EQ(vow_await(promise, 0, NULL), vow_promise_state(promise));
    settles(promise, 0);
}

static void scene_catch_if(cast *self) {
    vow_promise *promise = vow_promise_with(vow_error_wrap("test", 3, "three", cast_object(self)));
    promise = vow_catch_if(promise, "another domain", VOW_ANY_CODE, make_string, &shared);
    promise = vow_catch_if(promise, "test", 4, make_string, &shared);
    promise = vow_catch_if(promise, "test", 3, make_error, &shared);
    settles(vow_catch_if(vow_promise_retain(promise), "test", 3, make_string, &shared), 7);
    settles(vow_catch_if(promise, NULL, VOW_ANY_CODE, make_chain, &shared), 0);
}

#define SCENES_CHAINS                                                                              \
    {"an inline chain", scene_inline_chain}, {"a chain of settled promises", scene_settled_chain}, \
        {"a chain on the pool", scene_pool_chain}, {"branches", scene_branches},                   \
        {"a recovery", scene_recovery}, {"a reason that is no error", scene_reason},               \
        {"a broken promise", scene_broken}, {"finally passes on", scene_finally_passes},           \
        {"finally fails", scene_finally_fails}, {"finally waits", scene_finally_waits},            \
        {"a long chain that is dropped", scene_long_chain_dropped},                                \
        {"an unhandled rejection", scene_unhandled}, {"a detached promise", scene_detached},       \
        {"errors of one kind", scene_catch_if}, {                                                  \
        "handles", scene_handles                                                                   \
    }

#endif
