/* Scenes of a context that travels along. */
#ifndef VOW_TEST_SCENES_CONTEXT_H
#define VOW_TEST_SCENES_CONTEXT_H

#include "cast.h"

/* Finds the context that was set where it was made, and sets one of its own. */
static vow_value look_at_context(vow_value input, void *context) {
    (void)input;
    runs_now(context);
    CHECK(vow_context_get().kind == VOW_OBJECT || lacked_memory());
    vow_value found = vow_value_retain(vow_context_get());
    vow_context_set(vow_string("of the handler", VOW_NUL_TERMINATED));
    vow_promise *promise = vow_async(vow_executor_pool(), make_string, &shared);
    vow_promise_release(promise);
    return found;
}

static void scene_context(cast *self) {
    vow_executor *serial = vow_executor_serial("context");
    vow_context_set(cast_object(self));
    vow_promise *promise = vow_async(serial, look_at_context, &shared);
    promise = cast_inline(self, promise, look_at_context, pass_on);
    promise = cast_link(self, vow_executor_pool(), promise, look_at_context, NULL);
    vow_value item = vow_int(1);
    settles_or(vow_map(vow_list(&item, 1), look_at_context, &shared, 1), 0, VOW_EINVAL);
    CHECK(vow_context_get().kind == VOW_OBJECT || lacked_memory());
    vow_context_set(vow_none());
    vow_executor_release(serial);
    settles(promise, 0);
    CHECK_INT_EQ(vow_context_get().kind, VOW_NONE);
}

static void scene_context_given_up(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_context_set(cast_object(self));
    promise = cast_link(self, vow_executor_pool(), promise, look_at_context, NULL);
    vow_context_set(vow_string("another", VOW_NUL_TERMINATED));
    CHECK(vow_cancel(promise) || lacked_memory());
    vow_context_set(vow_none());
    vow_resolver_release(resolver);
    settles(promise, VOW_ECANCELLED);
}

#define SCENES_CONTEXT                                                                             \
    {"a context", scene_context}, {                                                                \
        "a context that is given up", scene_context_given_up                                       \
    }

#endif
