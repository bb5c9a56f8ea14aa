/* Calls with wrong arguments, which the header gives answers for. */
#include "world.h"

/* Variables, since compilers refuse NULL itself where the header does not allow it. */
static vow_promise *no_promise;
static vow_resolver *no_resolver;
static vow_resolver **no_place;
static vow_handler no_handler;

/* A promise that is rejected because of an argument. */
static void have_refusal(vow_promise *real) {
    int error = model_error_new(DOMAIN_VOW, VOW_EINVAL, TEXT_ANY, -1);
    put_promise(real, model_promise_with(error));
}

static void refuse_reaction(unsigned which) {
    int upstream = -1;
    vow_promise *promise = which == 0 ? NULL : consumed_promise(&upstream);
    if (which != 0 && promise == NULL) {
        return;
    }
    if (upstream >= 0) {
        m.promises[upstream].doubtful = true; /* the call holds it for a moment */
    }
    int number = new_context(which != 1);
    m.context_done[number] = true;
    vow_reaction reaction = {.size = which == 1 ? 4 : sizeof reaction};
    reaction.on_fulfilled = on_value;
    reaction.context = &w.contexts[number];
    reaction.destroy = which == 1 ? NULL : on_destroy;
    reaction.executor = vow_executor_inline();
    reaction.flags = which == 2 ? 6 : 0;
    if (which == 2) {
        m.promises[upstream].holds++;
        w.contexts[number].refused = upstream;
    }
    model_look_for_lost();
    have_refusal(vow_then_with(promise, &reaction));
}

void bad_op(unsigned which) {
    trace("wrong arguments, %u", which);
    if (which < 3) {
        refuse_reaction(which);
    } else if (which == 3) {
        have_refusal(vow_promise_create(no_place));
    } else if (which == 4) {
        have_refusal(vow_async(vow_executor_inline(), no_handler, NULL));
    } else if (which == 5) {
        drop_value((pair){vow_from_promise(no_promise), -1});
        pair value = take_value();
        model_look_for_lost();
        EXPECT(!vow_resolve(no_resolver, value.real), "resolved nothing");
        value = take_value();
        model_look_for_lost();
        EXPECT(!vow_reject(no_resolver, value.real), "rejected nothing");
    } else if (which == 6) {
        vow_promise_release(NULL);
        vow_resolver_release(NULL);
        vow_executor_release(NULL);
        EXPECT(vow_promise_retain(NULL) == NULL, "retained nothing");
        EXPECT(vow_await(no_promise, 0, NULL) == VOW_EINVAL, "awaited nothing");
    } else {
        int upstream = -1;
        vow_promise *promise = consumed_promise(&upstream);
        if (promise != NULL) {
            model_look_for_lost();
            have_refusal(vow_then(promise, no_handler, NULL));
        }
    }
}
