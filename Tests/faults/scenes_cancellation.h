/* Scenes of cancellation: chains, functions that are to hear of it, sources and tokens. */
#ifndef VOW_TEST_SCENES_CANCELLATION_H
#define VOW_TEST_SCENES_CANCELLATION_H

#include "cast.h"

static void scene_cancelled_chain(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    counter *told = cast_hook(self, resolver);
    cast_hook(self, resolver);
    for (int i = 0; i < 4; i++) {
        vow_executor *executor = i % 2 == 0 ? vow_executor_inline() : vow_executor_pool();
        promise = cast_link(self, executor, promise, pass_on, i == 2 ? pass_on : NULL);
    }
    CHECK(vow_cancel_with(promise, cast_object(self)) || lacked_memory());
    CHECK(!vow_cancel(promise) || lacked_memory());
    vow_value error = vow_none();
    CHECK_INT_EQ(vow_await(promise, LONG_ENOUGH, &error), VOW_REJECTED);
    if (is_code(vow_error_code(error), VOW_ECANCELLED) && !lacked_memory()) {
        is_kind(vow_error_payload(error), VOW_OBJECT);
    }
    vow_value_release(error);
    CHECK(atomic_load(&told->runs) == 1 || lacked_memory());
    resolve_last(resolver, cast_object(self));
    CHECK_INT_EQ(atomic_load(&told->ends), 1);
    vow_promise_release(promise);
}

static void scene_lost_interest(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    counter *told = cast_hook(self, resolver);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&told->ends), 1);
    CHECK(atomic_load(&told->runs) == 1 || lacked_memory());
    counter *late = cast_hook(self, resolver);
    CHECK_INT_EQ(atomic_load(&late->ends), 1);
    resolve_last(resolver, cast_object(self));
}

static void scene_hooks_in_vain(cast *self) {
    vow_resolver *resolver;
    vow_resolver *none = NULL;
    counter *refused = next_of(self->links, &self->given_links);
    vow_promise *promise = vow_promise_create(&resolver);
    counter *told = cast_hook(self, resolver);
    CHECK_INT_EQ(vow_resolver_on_cancel(none, hear_of_it, refused, counter_end), VOW_EINVAL);
    CHECK_INT_EQ(atomic_load(&refused->ends), 1);
    vow_resolve(resolver, cast_object(self));
    CHECK_INT_EQ(atomic_load(&told->runs), 0);
    cast_hook(self, resolver);
    vow_resolver_release(resolver);
    settles(promise, 0);
}

/* Cancels its own promise, in a handler of it. */
static vow_value cancel_own(vow_value input, void *context) {
    vow_promise *own = atomic_load((_Atomic(vow_promise *) *)context);
    (void)input;
    CHECK(own == NULL || vow_cancel(own));
    return vow_string("of no use", VOW_NUL_TERMINATED);
}

static void scene_cancelled_while_running(cast *self) {
    static _Atomic(vow_promise *) own;
    vow_resolver *resolver;
    vow_promise *promise = then_inline(vow_promise_create(&resolver), cancel_own, &own);
    atomic_store(&own, promise);
    bool is_there = vow_promise_state(promise) == VOW_PENDING;
    vow_promise *end = cast_inline(self, vow_promise_retain(promise), pass_on, pass_on);
    resolve_last(resolver, cast_object(self));
    CHECK(is_there || lacked_memory());
    settles(end, VOW_ECANCELLED);
    settles(promise, VOW_ECANCELLED);
}

/* A link (promise consumed) that a token (borrowed) can cancel. */
static vow_promise *cast_with_token(cast *self, vow_executor *executor, vow_promise *promise,
                                    vow_token *token) {
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = make_string;
    reaction.context = next_of(self->links, &self->given_links);
    reaction.destroy = counter_end;
    reaction.executor = executor;
    reaction.token = token;
    return vow_then_with(promise, &reaction);
}

/* A function that is to hear when a token (borrowed) is cancelled. */
static counter *cast_token_hook(cast *self, vow_token *token) {
    counter *context = next_of(self->links, &self->given_links);
    int answer = vow_token_on_cancel(token, hear_of_it, context, counter_end);
    is_code(answer, token == NULL ? VOW_EINVAL : 0);
    CHECK(answer == 0 || atomic_load(&context->ends) == 1);
    return context;
}

static void scene_tokens(cast *self) {
    vow_cancel_source *source = vow_cancel_source_create();
    vow_token *token = vow_cancel_source_token(source);
    vow_executor *serial = vow_executor_serial("tokens");
    vow_executor *executors[3] = {vow_executor_inline(), vow_executor_pool(), serial};
    vow_promise *all[4];
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    int64_t expected = is_made(source) ? VOW_ECANCELLED : 0;
    for (int i = 0; i < 3; i++) {
        all[i] = cast_with_token(self, executors[i], vow_promise_retain(promise), token);
    }
    counter *told = cast_token_hook(self, token);
    CHECK(!vow_token_is_cancelled(token));
    CHECK(vow_cancel_source_cancel_with(source, cast_object(self)) == (source != NULL));
    CHECK(!vow_cancel_source_cancel(source));
    CHECK(vow_token_is_cancelled(token) == (source != NULL));
    CHECK_INT_EQ(atomic_load(&told->ends), 1);
    vow_value reason = vow_token_reason(token);
    CHECK(reason.kind == VOW_OBJECT || lacked_memory());
    vow_value_release(reason);
    cast_token_hook(self, token);
    all[3] = cast_with_token(self, serial, vow_promise_retain(promise), token);
    resolve_last(resolver, cast_object(self));
    for (int i = 0; i < 4; i++) {
        settles(all[i], expected);
    }
    settles(promise, 0);
    vow_executor_release(serial);
    vow_cancel_source_release(source);
}

static void scene_linked_sources(cast *self) {
    vow_cancel_source *first = vow_cancel_source_create();
    vow_token *parents[3] = {vow_cancel_source_token(first), NULL, NULL};
    vow_cancel_source *second = vow_cancel_source_create_linked(parents, 2);
    parents[2] = vow_cancel_source_token(second);
    vow_cancel_source *third = vow_cancel_source_create_linked(parents, 3);
    vow_token *token = vow_token_retain(vow_cancel_source_token(third));
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    bool is_linked = is_made(first) && is_made(third);
    is_made(second);
    promise = cast_with_token(self, vow_executor_inline(), promise, token);
    counter *told = cast_token_hook(self, token);
    CHECK(vow_cancel_source_cancel_with(first, cast_object(self)) || lacked_memory());
    CHECK(vow_token_is_cancelled(token) == is_linked);
    CHECK(atomic_load(&told->runs) == 1 || lacked_memory());
    resolve_last(resolver, cast_object(self));
    settles(promise, is_linked ? VOW_ECANCELLED : 0);
    vow_cancel_source_release(vow_cancel_source_retain(first));
    vow_cancel_source_release(first);
    vow_cancel_source_release(second);
    vow_cancel_source_release(third);
    vow_token_release(token);
}

static void scene_source_given_up(cast *self) {
    vow_cancel_source *source = vow_cancel_source_create();
    vow_token *parent = vow_cancel_source_token(source);
    vow_cancel_source *linked = vow_cancel_source_create_linked(&parent, 1);
    vow_token *token = vow_cancel_source_token(linked);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    bool is_linked = is_made(source) && is_made(linked);
    is_made(linked);
    promise = cast_with_token(self, vow_executor_pool(), promise, token);
    counter *told = cast_token_hook(self, token);
    /* The link has its token. */
    vow_cancel_source_release(linked);
    vow_cancel_source_cancel(source);
    CHECK_INT_EQ(atomic_load(&told->ends), 1);
    CHECK(atomic_load(&told->runs) == 1 || lacked_memory());
    vow_cancel_source_release(source);
    resolve_last(resolver, cast_object(self));
    settles(promise, is_linked ? VOW_ECANCELLED : 0);
}

/* One thread cancels a source and another one a promise, while a third one settles. */
typedef struct quarrel {
    cast *owner;
    vow_cancel_source *source;
    vow_promise *promise;
} quarrel;

static void *cancel_source_there(void *context) {
    quarrel *self = context;
    vow_cancel_source_cancel_with(self->source, cast_object(self->owner));
    return NULL;
}

static void *cancel_promise_there(void *context) {
    quarrel *self = context;
    vow_cancel_with(self->promise, cast_object(self->owner));
    return NULL;
}

static void scene_cancelled_by_threads(cast *self) {
    vow_resolver *resolver;
    quarrel all = {self, vow_cancel_source_create(), vow_promise_create(&resolver)};
    vow_token *token = vow_cancel_source_token(all.source);
    cast_hook(self, resolver);
    cast_token_hook(self, token);
    all.promise = cast_with_token(self, vow_executor_pool(), all.promise, token);
    pthread_t first = start_thread(cancel_source_there, &all);
    pthread_t second = start_thread(cancel_promise_there, &all);
    resolve_last(resolver, cast_object(self));
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    int64_t code = code_of(all.promise);
    CHECK(code == 0 || code == VOW_ECANCELLED || is_code(code, 0));
    vow_cancel_source_release(all.source);
}

#define SCENES_CANCELLATION                                                                        \
    {"a cancelled chain", scene_cancelled_chain}, {"lost interest", scene_lost_interest},          \
        {"functions that hear nothing", scene_hooks_in_vain},                                      \
        {"a handler that is cancelled", scene_cancelled_while_running}, {"tokens", scene_tokens},  \
        {"linked sources", scene_linked_sources},                                                  \
        {"a source that is given up", scene_source_given_up}, {                                    \
        "threads that cancel", scene_cancelled_by_threads                                          \
    }

#endif
