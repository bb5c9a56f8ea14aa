/* Scenes of what is registered and leaves, and of contexts that are shared or replaced. */
#ifndef VOW_TEST_SCENES_LEAVING_H
#define VOW_TEST_SCENES_LEAVING_H

#include "cast.h"

/* Two functions of a token and two of a producer: one of each leaves, the other is called. */
static void scene_leaving(cast *self) {
    vow_resolver *resolver;
    vow_registration *handles[4] = {NULL};
    counter *contexts[4];
    vow_cancel_source *source = vow_cancel_source_create();
    vow_token *token = vow_cancel_source_token(source);
    vow_promise *promise = vow_promise_create(&resolver);
    for (int i = 0; i < 4; i++) {
        contexts[i] = next_of(self->links, &self->given_links);
        int answer =
            i < 2 ? vow_token_register(token, hear_of_it, contexts[i], counter_end, &handles[i])
                  : vow_resolver_register(resolver, hear_of_it, contexts[i], counter_end,
                                          &handles[i]);
        is_code(answer, i < 2 && token == NULL ? VOW_EINVAL : 0);
        CHECK((answer == 0) == (handles[i] != NULL));
        CHECK(answer == 0 || atomic_load(&contexts[i]->ends) == 1);
    }
    for (int i = 0; i < 4; i += 2) {
        CHECK(vow_registration_retain(handles[i]) == handles[i]);
        vow_registration_release(handles[i]);
        CHECK_INT_EQ(vow_registration_leave(handles[i]),
                     handles[i] != NULL && i == 2 && atomic_load(&contexts[i]->runs) == 1
                         ? VOW_HAS_RUN
                         : VOW_NEVER_RUNS);
        CHECK_INT_EQ(atomic_load(&contexts[i]->ends), 1);
    }
    CHECK(source == NULL || vow_cancel_source_cancel(source));
    CHECK(vow_cancel(promise) || lacked_memory());
    for (int i = 1; i < 4; i += 2) {
        vow_stage stage = vow_registration_stage(handles[i]);
        CHECK(stage == VOW_HAS_RUN || (stage == VOW_NEVER_RUNS && lacked_memory()));
        CHECK_INT_EQ(atomic_load(&contexts[i]->ends), 1);
    }
    for (int i = 0; i < 4; i++) {
        vow_registration_release(handles[i]);
    }
    vow_promise_release(promise);
    vow_resolver_release(resolver);
    vow_cancel_source_release(source);
}

/* A source that only its token keeps. */
static void scene_linked_by_token(cast *self) {
    vow_cancel_source *parent = vow_cancel_source_create();
    vow_token *of_parent = vow_cancel_source_token(parent);
    vow_cancel_source *child = vow_cancel_source_create_linked(&of_parent, 1);
    vow_token *token = vow_token_retain(vow_cancel_source_token(child));
    counter *context = next_of(self->links, &self->given_links);
    int answer = vow_token_on_cancel(token, hear_of_it, context, counter_end);
    is_code(answer, token == NULL ? VOW_EINVAL : 0);
    vow_cancel_source_release(child);
    CHECK(parent == NULL || vow_cancel_source_cancel(parent));
    CHECK(atomic_load(&context->runs) == 1 || lacked_memory());
    CHECK_INT_EQ(atomic_load(&context->ends), 1);
    vow_token_release(token);
    vow_cancel_source_release(parent);
}

static void hear_progress(double fraction, const char *note, void *context) {
    (void)fraction;
    (void)note;
    hear_of_it(context);
}

static vow_value say_half(vow_value input, void *context) {
    runs_now(context);
    CHECK_INT_EQ(vow_current_set_progress(0.5, "half"), 0);
    return vow_value_retain(input);
}

static vow_call call_with(cast *self) {
    return (vow_call){.size = sizeof(vow_call),
                      .context = next_of(self->links, &self->given_links),
                      .destroy = counter_end};
}

static void scene_calls_with_contexts(cast *self) {
    vow_value item = vow_int(1);
    vow_call call = call_with(self);
    vow_promise *map = vow_map_with(vow_list(&item, 1), say_half, 0, &call);
    vow_call listening = call_with(self);
    listening.executor = vow_executor_inline();
    is_code(vow_on_progress_with(map, 0, hear_progress, &listening), 0);
    settles_or(map, 0, VOW_EINVAL);
    call = call_with(self);
    vow_promise *failing = vow_promise_with(vow_error("test", 1, "fails"));
    settles_or(
        vow_then(vow_catch_if_with(failing, "test", 1, make_string, &call), pass_on, &shared), 0,
        0);
}

static void end_box(void *box) {
    counter_end(*(counter **)box);
}

static void hear_unhandled(vow_value error, void *context) {
    (void)error;
    atomic_fetch_add(&((counter *)context)->runs, 1);
}

static void scene_shared_contexts(cast *self) {
    counter *context = next_of(self->links, &self->given_links);
    counter **box = vow_box_create(sizeof *box, end_box);
    if (is_made(box)) {
        *box = context;
        CHECK(vow_box_retain(box) == box);
        vow_box_release(box);
        vow_box_release(box);
    } else {
        counter_end(context);
    }
    CHECK_INT_EQ(atomic_load(&context->ends), 1);
    context = next_of(self->links, &self->given_links);
    is_code(vow_on_unhandled_with(hear_unhandled, context, counter_end), 0);
    vow_on_unhandled(count_report, NULL);
    CHECK_INT_EQ(atomic_load(&context->ends), 1);
}

#define SCENES_LEAVING                                                                             \
    {"functions that leave", scene_leaving}, {"a linked source's token", scene_linked_by_token},   \
        {"calls with contexts", scene_calls_with_contexts}, {                                      \
        "shared contexts", scene_shared_contexts                                                   \
    }

#endif
