/* Scenes of what settles only when its work has ended: calls with contexts, resources, cooperative
 * producers, shields. */
#ifndef VOW_TEST_SCENES_QUIET_H
#define VOW_TEST_SCENES_QUIET_H

#include "cast.h"

static vow_call quiet_call_with(counter *context, vow_token *token) {
    vow_call call = {.size = sizeof call};
    call.context = context;
    call.destroy = counter_end;
    call.token = token;
    return call;
}

/* Waits for the promise (consumed) of a call: its context must have ended by then. */
static void call_settles(vow_promise *promise, counter *context, int64_t code) {
    int64_t got = code_of(promise);
    /* Without memory for the list there is none. */
    if (!(lacked_memory() && got == VOW_EINVAL)) {
        is_code(got, code);
    }
    CHECK_INT_EQ(atomic_load(&context->ends), 1);
}

static vow_value two_items(cast *self) {
    vow_value items[2] = {cast_object(self), cast_object(self)};
    return vow_list(items, 2);
}

static vow_value take_either(vow_value accumulated, vow_value item, void *context) {
    runs_now(context);
    return vow_value_retain(accumulated.kind == VOW_NONE ? item : accumulated);
}

static bool has_not_run(vow_value state, void *context) {
    (void)state;
    return atomic_load(&((counter *)context)->runs) == 0;
}

static void scene_calls(cast *self) {
    counter contexts[6] = {0};
    vow_call call = quiet_call_with(&contexts[0], NULL);
    call_settles(vow_async_with(make_chain, &call), &contexts[0], 0);
    call.context = &contexts[1];
    call_settles(vow_map_with(two_items(self), make_chain, 1, &call), &contexts[1], 0);
    call.context = &contexts[2];
    call_settles(vow_map_with(two_items(self), make_error, 0, &call), &contexts[2], 7);
    call.context = &contexts[3];
    vow_promise *members[2] = {vow_promise_with(cast_object(self)),
                               vow_promise_with(cast_object(self))};
    call_settles(vow_reduce_with(members, 2, vow_none(), take_either, &call), &contexts[3], 0);
    call.context = &contexts[4];
    call_settles(vow_repeat_with(cast_object(self), has_not_run, make_promise, &call), &contexts[4],
                 0);
    call.context = &contexts[5];
    call_settles(vow_retry_with(NULL, make_string, &call), &contexts[5], 0);
}

static void scene_calls_cancelled(cast *self) {
    counter contexts[2] = {0};
    vow_cancel_source *source = vow_cancel_source_create();
    vow_call call = quiet_call_with(&contexts[0], vow_cancel_source_token(source));
    vow_resolver *resolver;
    vow_promise *members[1] = {vow_promise_create(&resolver)};
    vow_promise *promise = vow_reduce_with(members, 1, cast_object(self), take_either, &call);
    vow_cancel_source_cancel_with(source, cast_object(self));
    resolve_last(resolver, cast_object(self));
    call_settles(promise, &contexts[0], is_made(source) ? VOW_ECANCELLED : 0);
    call.context = &contexts[1];
    call_settles(vow_map_with(two_items(self), make_chain, 2, &call), &contexts[1],
                 source != NULL ? VOW_ECANCELLED : 0);
    vow_cancel_source_release(source);
}

/* A resource that is acquired (or not), used and released. */
typedef struct resource {
    counter context;
    atomic_int used;
    atomic_int released;
} resource;

static void end_resource(void *context) {
    counter_end(&((resource *)context)->context);
}

static vow_value use_resource(vow_value input, void *context) {
    resource *self = context;
    atomic_fetch_add(&self->used, 1);
    CHECK_INT_EQ(atomic_load(&self->released), 0);
    return vow_from_promise(vow_promise_with(vow_value_retain(input)));
}

static vow_value release_resource(vow_value input, void *context) {
    (void)input;
    resource *self = context;
    CHECK(!vow_current_is_cancelled());
    CHECK_INT_EQ(vow_using_ended(NULL) != VOW_PENDING, atomic_load(&self->used));
    atomic_fetch_add(&self->released, 1);
    return vow_from_promise(vow_async(vow_executor_pool(), make_string, &shared));
}

/* However it ends, what was there is released, unless the call itself was refused. */
static void resource_settles(vow_promise *promise, resource *self, int64_t code, bool is_acquired) {
    int64_t got = code_of(promise);
    is_code(got, code);
    CHECK_INT_EQ(atomic_load(&self->context.ends), 1);
    int released = atomic_load(&self->released);
    CHECK(released == is_acquired || (lacked_memory() && released == 0));
    CHECK(atomic_load(&self->used) <= released);
}

static void scene_using(cast *self) {
    resource all[4] = {0};
    vow_promise *promise = vow_promise_with(cast_object(self));
    resource_settles(vow_using(promise, use_resource, release_resource, &all[0], end_resource),
                     &all[0], 0, true);
    promise = vow_promise_with(vow_error("test", 7, "there is none"));
    resource_settles(vow_using(promise, use_resource, release_resource, &all[1], end_resource),
                     &all[1], 7, false);
    vow_call call = {.size = sizeof call, .context = &all[2], .destroy = end_resource};
    call.executor = vow_executor_inline();
    vow_resolver *resolver;
    vow_promise *late = vow_promise_create(&resolver);
    promise = vow_using_with(vow_promise_retain(late), use_resource, release_resource, &call);
    CHECK(vow_cancel(promise) || lacked_memory());
    resolve_last(resolver, cast_object(self));
    resource_settles(promise, &all[2], VOW_ECANCELLED, true);
    vow_promise_release(late);
    call.context = &all[3];
    call.executor = NULL;
    promise = vow_using_with(vow_promise_create(&resolver), use_resource, release_resource, &call);
    CHECK(vow_cancel(promise) || lacked_memory());
    resolve_last(resolver, cast_object(self));
    resource_settles(promise, &all[3], VOW_ECANCELLED, false);
}

static void scene_cooperative(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create_with(&resolver, VOW_COOPERATIVE);
    counter *told = cast_hook(self, resolver);
    vow_promise *shielded = vow_shield(cast_inline(self, promise, pass_on, pass_on));
    CHECK(vow_cancel_with(shielded, cast_object(self)) || lacked_memory());
    CHECK(atomic_load(&told->runs) == 0 || lacked_memory());
    resolve_last(resolver, cast_object(self));
    settles(shielded, VOW_ECANCELLED);
    promise = vow_promise_create_with(&resolver, VOW_COOPERATIVE);
    told = cast_hook(self, resolver);
    CHECK(vow_cancel_with(promise, cast_object(self)) || lacked_memory());
    CHECK(atomic_load(&told->runs) == 1 || lacked_memory());
    CHECK(!vow_resolve(resolver, cast_object(self)));
    vow_resolver_release(resolver);
    settles(promise, VOW_ECANCELLED);
}

#define SCENES_QUIET                                                                               \
    {"calls with contexts", scene_calls}, {"calls that are cancelled", scene_calls_cancelled},     \
        {"a resource that is used", scene_using}, {                                                \
        "cooperative producers", scene_cooperative                                                 \
    }

#endif
