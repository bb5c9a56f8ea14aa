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

/* Who has the token of a source: nobody; promises that were made with it alone, or what is linked
 * to it for their sake, and when their memory goes is left open; or the program. */
typedef enum life { ENDED, UNSURE, LIVES } life;

static bool is_linked(int source, int parent) {
    const model_source *self = &m.sources[source];
    for (int i = 0; i < self->parent_count; i++) {
        if (self->parents[i] == parent) {
            return true;
        }
    }
    return false;
}

static life life_alone(int source) {
    if (m.sources[source].holds > 0 || m.sources[source].tokens > 0) {
        return LIVES;
    }
    for (int i = 0; i < m.promise_count; i++) {
        if (m.promises[i].token == source) {
            return UNSURE;
        }
    }
    return ENDED;
}

/* What is linked to a source was made after it: each is asked once. */
static life life_of(int source) {
    life found[MODEL_SOURCES];
    for (int i = m.source_count - 1; i >= source; i--) {
        found[i] = life_alone(i);
        for (int j = i + 1; j < m.source_count && found[i] != LIVES; j++) {
            found[i] = is_linked(j, i) && found[j] > found[i] ? found[j] : found[i];
        }
    }
    return found[source];
}

bool model_source_cancel(int source, int reason) {
    model_source *self = &m.sources[source];
    if (self->cancelled || life_of(source) == ENDED) {
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
        if (is_linked(i, source)) {
            model_source_cancel(i, reason);
        }
    }
    return true;
}

/* By itself, or with a parent, which was made before it. */
bool model_can_be_cancelled(int source) {
    bool asked[MODEL_SOURCES] = {false};
    asked[source] = true;
    for (int i = source; i >= 0; i--) {
        const model_source *self = &m.sources[i];
        if (asked[i] && self->holds > 0) {
            return true;
        }
        for (int j = 0; asked[i] && j < self->parent_count; j++) {
            asked[self->parents[j]] = true;
        }
    }
    return false;
}

/* Somebody has given a source or a token back: what can be called no more is destroyed. */
static void look_at_hooks(void) {
    for (int i = 0; i < m.hook_count; i++) {
        model_hook *self = &m.hooks[i];
        if (self->source < 0 || self->due != HOOK_WAITS || m.sources[self->source].cancelled) {
            continue;
        }
        life of_source = life_of(self->source);
        if (of_source == ENDED || !model_can_be_cancelled(self->source)) {
            self->due = HOOK_DROPPED;
        } else if (of_source == UNSURE) {
            self->due = HOOK_UNSURE;
        }
    }
}

void model_source_drop(int source) {
    m.sources[source].holds--;
    look_at_hooks();
}

void model_token_drop(int source) {
    m.sources[source].tokens--;
    look_at_hooks();
}
