/* Cancel sources and their tokens. */
#include "model.h"

int model_source_new(const int *parents, int count) {
    int number = m.source_count++;
    model_source *self = &m.sources[number];
    *self = (model_source){.holds = 1, .reason = -1, .error = -1};
    for (int i = 0; i < count; i++) {
        self->parents[self->parent_count++] = parents[i];
    }
    for (int i = 0; i < count; i++) {
        if (m.sources[parents[i]].cancelled) {
            model_source_cancel(number, m.sources[parents[i]].reason);
        }
    }
    return number;
}

bool model_source_cancel(int source, int reason) {
    model_source *self = &m.sources[source];
    if (self->cancelled || self->holds == 0) {
        return false;
    }
    self->cancelled = true;
    self->reason = reason;
    self->error = model_cancellation(reason);
    for (int i = 0; i < m.hook_count; i++) {
        if (m.hooks[i].source == source && m.hooks[i].due == HOOK_WAITS) {
            m.hooks[i].due = HOOK_CALLED;
        }
    }
    for (int i = 0; i < m.promise_count; i++) {
        if (m.promises[i].token == source) {
            model_cancel_alone(i, self->error);
        }
    }
    for (int i = 0; i < m.source_count; i++) {
        bool linked = false;
        for (int j = 0; j < m.sources[i].parent_count; j++) {
            linked |= m.sources[i].parents[j] == source;
        }
        if (linked) {
            model_source_cancel(i, reason);
        }
    }
    return true;
}

void model_source_drop(int source) {
    if (--m.sources[source].holds > 0) {
        return;
    }
    for (int i = 0; i < m.hook_count; i++) {
        if (m.hooks[i].source == source && m.hooks[i].due == HOOK_WAITS) {
            m.hooks[i].due = HOOK_DROPPED;
        }
    }
}
