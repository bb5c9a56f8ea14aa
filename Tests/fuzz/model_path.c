/* Who waits for whom by way of others, and who reports when an outcome reaches nobody. */
#include "model.h"

bool model_waits_for(int a, int b) {
    for (int promise = a; promise >= 0;) {
        if (promise == b) {
            return true;
        }
        model_wait wait = m.promises[promise].wait;
        bool goes_on = wait == WAITS_UPSTREAM || wait == WAITS_FOLLOWED;
        promise = goes_on ? m.promises[promise].upstream : -1;
    }
    return false;
}

static bool waits_at_all(int a, int b, bool *seen) {
    const model_promise *self = &m.promises[a];
    if (a == b || seen[a]) {
        return a == b;
    }
    seen[a] = true;
    if (self->wait == WAITS_MEMBERS) {
        const model_group *group = &m.groups[self->group];
        for (int i = 0; i < group->count; i++) {
            int eye = group->eyes[i];
            bool waits = eye >= 0 && m.promises[eye].wait == WAITS_MEMBER;
            if (waits && waits_at_all(m.promises[eye].upstream, b, seen)) {
                return true;
            }
        }
    }
    bool goes_on = self->wait == WAITS_UPSTREAM || self->wait == WAITS_FOLLOWED;
    return goes_on && waits_at_all(self->upstream, b, seen);
}

bool model_waits_at_all(int a, int b) {
    bool seen[MODEL_PROMISES] = {false};
    return waits_at_all(a, b, seen);
}

int model_on_its_way(int promise) {
    for (int i = promise; i >= 0;) {
        const model_promise *self = &m.promises[i];
        if (self->state != VOW_PENDING) {
            return self->epoch == m.epoch && !self->direct ? i : -1;
        }
        bool goes_on = self->wait == WAITS_UPSTREAM || self->wait == WAITS_FOLLOWED ||
                       self->wait == WAITS_EXECUTOR;
        i = goes_on ? self->upstream : -1;
    }
    return -1;
}

/* Whether anybody can still learn the outcome, also by way of its followers. After model_mark. */
static bool is_read(int promise) {
    const model_promise *self = &m.promises[promise];
    bool read = self->must || self->outcome >= 0 || (self->observed && self->first < 0);
    for (int i = self->first; i >= 0 && !read; i = m.promises[i].next) {
        read = m.promises[i].wait != WAITS_FOLLOWED || is_read(i);
    }
    return read;
}

static void leave_open_who_reports(int promise) {
    m.promises[promise].doubtful = true;
    for (int i = m.promises[promise].first; i >= 0; i = m.promises[i].next) {
        leave_open_who_reports(i);
    }
}

void model_observe_by_adoption(int promise, int followed, bool by_handler) {
    /* Otherwise its outcome may be on its way. */
    bool settled = m.promises[followed].state != VOW_PENDING && m.promises[followed].direct;
    model_mark();
    if (settled || !by_handler || is_read(promise)) {
        m.promises[followed].observed = true;
        return;
    }
    if (m.promises[promise].first >= 0 || m.promises[promise].doubtful) {
        m.promises[followed].doubtful = true;
    }
    leave_open_who_reports(promise);
}
