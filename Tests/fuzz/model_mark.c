/* Which promises and values of the model must be alive, and which may be: marking from the roots.
 */
#include "model.h"

#include <string.h>

static void mark_promise(int promise, bool may);

static void mark_value(int value, bool may) {
    bool *mark = may ? &m.value_may[value] : &m.value_must[value];
    if (*mark) {
        return;
    }
    *mark = true;
    const model_value *self = &m.values[value];
    for (int i = 0; i < self->count; i++) {
        mark_value(self->items[i], may);
    }
    if (self->kind == VOW_ERROR && self->payload >= 0) {
        mark_value(self->payload, may);
    }
    if (self->kind == VOW_PROMISE) {
        mark_promise((int)self->number, may);
    }
}

static void mark_promise(int promise, bool may) {
    model_promise *self = &m.promises[promise];
    int *mark = may ? &self->may : &self->must;
    if (*mark) {
        return;
    }
    *mark = 1;
    if (self->value >= 0) {
        mark_value(self->value, may);
    }
    /* A handler that is still to run must find its input. */
    bool reads = self->wait == WAITS_EXECUTOR || self->wait == WAITS_HANDLER;
    if (self->upstream >= 0 && (may || reads)) {
        mark_promise(self->upstream, may);
    }
    if (self->outcome >= 0) {
        mark_value(self->outcome, may);
    }
    if (self->outcome_of >= 0) {
        mark_promise(self->outcome_of, may);
    }
    if (self->redirect >= 0 && (may || reads)) {
        mark_value(self->redirect, may);
    }
    if (self->error >= 0 && may) {
        mark_value(self->error, may);
    }
    if (self->ending >= 0 && self->wait == WAITS_CONTEXT) {
        mark_value(self->ending, may);
    }
    if (self->carried >= 0 && (may || reads)) {
        mark_value(self->carried, may);
    }
}

void model_mark(void) {
    memset(m.value_must, 0, sizeof m.value_must);
    memset(m.value_may, 0, sizeof m.value_may);
    for (int i = 0; i < m.promise_count; i++) {
        m.promises[i].must = m.promises[i].may = 0;
    }
    for (int i = 0; i < m.promise_count; i++) {
        model_promise *self = &m.promises[i];
        bool reads = self->wait == WAITS_EXECUTOR || self->wait == WAITS_HANDLER;
        if (self->holds > 0 || reads || self->wait == WAITS_THENABLE) {
            mark_promise(i, false);
        }
        if (self->holds > 0 || self->state == VOW_PENDING || self->is_kept) {
            mark_promise(i, true);
        }
        if (self->is_kept && self->kept >= 0) {
            mark_promise(self->kept, true);
        }
    }
    for (int i = 0; i < m.value_count; i++) {
        if (m.values[i].holds > 0) {
            mark_value(i, false);
            mark_value(i, true);
        }
    }
    for (int i = 0; i < m.hook_count; i++) {
        const model_hook *hook = &m.hooks[i];
        bool is_over = hook->due == HOOK_DROPPED || (hook->due == HOOK_CALLED && hook->begun);
        if (hook->carried >= 0 && !is_over) {
            mark_value(hook->carried, true);
        }
    }
    for (int i = 0; i < m.group_count; i++) {
        model_group *group = &m.groups[i];
        for (int j = 0; j < group->count && !group->decided; j++) {
            if (group->outcomes[j] >= 0) {
                mark_value(group->outcomes[j], true);
            }
        }
    }
    for (int i = 0; i < m.resolver_count; i++) {
        if (m.resolvers[i].holds > 0) {
            mark_promise(m.resolvers[i].promise, true);
        }
    }
}
