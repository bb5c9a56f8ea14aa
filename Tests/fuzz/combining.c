/* Operations that make one promise of many, and vow_catch_if. */
#include "texts.h"
#include "world.h"

#include <string.h>

static vow_promise *call(group_kind kind, vow_promise *const *promises, size_t count,
                         size_t wanted) {
    switch (kind) {
    case GROUP_ALL:
        return vow_all(promises, count);
    case GROUP_ALL_SETTLED:
        return vow_all_settled(promises, count);
    case GROUP_ANY:
        return vow_any(promises, count);
    case GROUP_SOME:
        return vow_some(promises, count, wanted);
    default:
        return vow_race(promises, count);
    }
}

/* One member for a combinator, whose reference stays counted until the model has taken it. */
static vow_promise *member(int *model) {
    int slot = some_promise();
    if (slot < 0) {
        return NULL;
    }
    vow_promise *promise = w.promises[slot];
    *model = w.promise_models[slot];
    if (next_below(2) == 0) {
        m.promises[*model].holds++;
        return vow_promise_retain(promise);
    }
    w.promises[slot] = NULL;
    return promise;
}

static void refused(group_kind kind, vow_promise *const *promises, const int *models,
                    size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (promises[i] != NULL) {
            m.promises[models[i]].doubtful = true;
            m.promises[models[i]].holds--;
        }
    }
    int error = model_error_new(DOMAIN_VOW, VOW_EINVAL, TEXT_ANY, -1);
    model_look_for_lost();
    vow_promise *made = call(kind, promises, count, 1);
    put_promise(made, model_promise_with(error));
}

static void combine(void) {
    if (w.depth > 0) {
        /* Inside a callback an outcome may come later than in the model, and who is left over then
         * is cancelled, or not. */
        return;
    }
    group_kind kind = (group_kind)next_below(5);
    unsigned form = next_byte();
    size_t count = form % (MODEL_ITEMS + 1), found = 0;
    vow_promise *promises[MODEL_ITEMS];
    int models[MODEL_ITEMS];
    unsigned wanted = form / 8 % 5;
    for (size_t i = 0; i < count; i++) {
        promises[found] = member(&models[found]);
        found += promises[found] != NULL;
    }
    count = found;
    if (form >= 240 && count > 0) {
        m.promises[models[count - 1]].holds--;
        model_look_for_lost();
        vow_promise_release(promises[count - 1]);
        promises[count - 1] = NULL;
        trace("combinator %d refuses", kind);
        refused(kind, promises, models, count);
        return;
    }
    int made = model_combine(kind, models, (int)count, (int)wanted);
    m.promises[made].holds++;
    model_look_for_lost();
    trace("combinator %d of %d -> %d (%d, %d, %d), %u wanted", kind, (int)count, made,
          count > 0 ? models[0] : -1, count > 1 ? models[1] : -1, count > 2 ? models[2] : -1,
          wanted);
    have(call(kind, count ? promises : NULL, count, wanted), made);
}

static bool is_queued(int executor) {
    return w.executors[executor].kind == EXECUTOR_SERIAL ||
           w.executors[executor].kind == EXECUTOR_LOOSE;
}

/* An error that does not match passes when the executor has looked at it, which cannot be seen: so
 * only where it is clear beforehand, or at once. */
static void catch_if(void) {
    unsigned form = next_byte();
    int upstream = -1;
    if (w.depth > 0) {
        return;
    }
    vow_promise *promise = consumed_promise(&upstream);
    if (promise == NULL) {
        return;
    }
    const model_promise *read = &m.promises[upstream];
    const model_value *value = read->value >= 0 ? &m.values[read->value] : NULL;
    const char *domain = NULL;
    int64_t code = VOW_ANY_CODE;
    bool matches = true;
    if (read->state == VOW_PENDING) {
        model_look_for_lost();
        vow_promise_release(promise);
        return;
    }
    if (!is_queued(current_executor())) {
        domain = form & 1 ? domains[form / 4 % 3] : NULL;
        code = form & 2 ? 1000 + form / 16 % 4 : VOW_ANY_CODE;
        matches = (domain == NULL || strcmp(domain, domains[value->domain]) == 0) &&
                  (code == VOW_ANY_CODE || code == value->number);
    }
    /* The short form keeps something of its own until it is through, which its destructor shows. */
    int number = new_context(true);
    vow_call also = {.size = sizeof also, .context = &w.contexts[number], .destroy = on_destroy};
    model_reaction reaction = {false, matches, false, -1, -1, 0, 0};
    int made = expect_reaction(upstream, number, reaction);
    trace("catch_if promise %d -> %d, form %u", upstream, made, form);
    have(vow_catch_if_with(promise, domain, code, on_error, &also), made);
}

void combining_op(unsigned which) {
    if (w.submits > 0) {
        return;
    }
    if (which < 6) {
        combine();
    } else {
        catch_if();
    }
}
