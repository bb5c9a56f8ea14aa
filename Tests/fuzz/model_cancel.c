/* Cancelling, upstream as far as nobody else reads, and what is heard where the last reader leaves.
 */
#include "model.h"

int model_cancellation(int reason) {
    bool given = reason >= 0 && m.values[reason].kind != VOW_NONE;
    return model_error_new(DOMAIN_VOW, VOW_ECANCELLED, TEXT_ANY, given ? reason : -1);
}

static bool is_held_as_value(int promise) {
    for (int i = 0; i < m.value_count; i++) {
        const model_value *value = &m.values[i];
        if (value->kind == VOW_PROMISE && value->number == promise && value->holds > 0) {
            return true;
        }
    }
    return false;
}

bool model_is_held(int promise) {
    return m.promises[promise].holds > 0 || is_held_as_value(promise);
}

bool model_is_read(int promise) {
    return m.promises[promise].first >= 0 || model_is_held(promise);
}

/* Not only by reactions that have run and follow it for nobody. */
static bool is_surely_read(int promise) {
    const model_promise *self = &m.promises[promise];
    if (model_is_held(promise)) {
        return true;
    }
    for (int i = self->first; i >= 0; i = m.promises[i].next) {
        if (m.promises[i].wait != WAITS_FOLLOWED || is_surely_read(i)) {
            return true;
        }
    }
    return false;
}

void model_end_hooks(int promise, hook_due due) {
    for (int i = 0; i < m.hook_count; i++) {
        model_hook *hook = &m.hooks[i];
        bool waits = hook->due == HOOK_WAITS || hook->due == HOOK_MAYBE;
        if (waits && hook->resolver >= 0 && m.resolvers[hook->resolver].promise == promise) {
            hook->due = due;
        }
    }
}

/* What nobody reads is resolved: hooks that wait for the end of a destructor are not called any
 * more. */
void model_call_hooks_off(int promise) {
    for (int i = 0; i < m.hook_count; i++) {
        model_hook *hook = &m.hooks[i];
        if (hook->due == HOOK_CALLED && !hook->begun && hook->resolver >= 0 &&
            m.resolvers[hook->resolver].promise == promise) {
            hook->due = HOOK_DROPPED;
        }
    }
}

static bool has_hooks(int promise) {
    for (int i = 0; i < m.hook_count; i++) {
        const model_hook *hook = &m.hooks[i];
        bool waits = hook->due == HOOK_WAITS || hook->due == HOOK_MAYBE;
        if (waits && hook->resolver >= 0 && m.resolvers[hook->resolver].promise == promise) {
            return true;
        }
    }
    return false;
}

int model_add_hook(int resolver, int source) {
    model_hook *hook = &m.hooks[m.hook_count];
    *hook = (model_hook){.resolver = resolver, .source = source};
    if (source >= 0) {
        hook->due = m.sources[source].cancelled    ? HOOK_CALLED
                    : m.sources[source].holds == 0 ? HOOK_DROPPED
                                                   : HOOK_WAITS;
        return m.hook_count++;
    }
    const model_resolver *right = &m.resolvers[resolver];
    const model_promise *promise = &m.promises[right->promise];
    if (right->cancelled) {
        hook->due = HOOK_CALLED;
    } else if (right->claimed) {
        hook->due = HOOK_DROPPED;
    } else if (promise->lost && !promise->is_reaction) {
        hook->due = HOOK_CALLED;
    } else if (!promise->is_reaction && !is_surely_read(right->promise)) {
        hook->due = HOOK_MAYBE;
    }
    if (hook->due == HOOK_CALLED || hook->due == HOOK_MAYBE) {
        m.promises[right->promise].doubtful = true;
    }
    return m.hook_count++;
}

/* Rejects one promise. Returns what it waited for, or -1. */
static int withdraw(int promise, int error) {
    model_promise *self = &m.promises[promise];
    model_wait wait = self->wait;
    int upstream = -1;
    if (self->state != VOW_PENDING) {
        return -1;
    }
    if (wait == WAITS_UPSTREAM || wait == WAITS_FOLLOWED) {
        upstream = self->upstream;
        model_leave_queue(promise);
        self->executor = 0; /* its context goes at once */
    }
    self->withdrawn = self->is_reaction && wait != WAITS_FOLLOWED && wait != WAITS_RESOLVER &&
                      wait != WAITS_THENABLE;
    if (self->withdrawn && wait != WAITS_HANDLER) {
        model_forget_context(promise);
    }
    for (int i = 0; i < m.resolver_count; i++) {
        model_resolver *right = &m.resolvers[i];
        if (right->promise == promise && !right->claimed) {
            right->claimed = right->cancelled = true;
        }
    }
    model_end_hooks(promise, HOOK_CALLED);
    self->is_kept = wait == WAITS_EXECUTOR;
    self->kept = self->is_kept ? self->upstream : -1;
    model_settle(promise, error);
    if (wait == WAITS_MEMBERS) {
        model_group_stop(promise, true);
    }
    return upstream;
}

bool model_cancel(int promise, int error) {
    if (m.promises[promise].state != VOW_PENDING) {
        return false;
    }
    int next = withdraw(promise, error);
    while (next >= 0 && !model_is_read(next)) {
        next = withdraw(next, error);
    }
    return true;
}

void model_cancel_unless_read(int promise) {
    if (!model_is_read(promise)) {
        model_cancel(promise, model_cancellation(-1));
    }
}

void model_pass(int reaction) {
    model_promise *self = &m.promises[reaction];
    self->passes = false;
    if (self->state == VOW_PENDING) {
        model_settle(reaction, self->redirect);
    }
}

/* Returns what it waited for, or -1. */
static int lose(int promise) {
    model_promise *self = &m.promises[promise];
    int upstream = -1;
    self->lost = true;
    if (self->is_reaction) {
        self->observed = false; /* those who wanted to see its outcome are gone */
        /* Its followers may have moved on, and it is gone then. */
        self->doubtful = self->doubtful || self->wait == WAITS_FOLLOWED;
    } else if (self->wait == WAITS_FOLLOWED) {
        upstream = self->upstream;
        self->observed = m.promises[upstream].observed = true;
        model_leave_queue(promise);
        model_settle(promise, model_cancellation(-1));
    } else if (self->wait == WAITS_MEMBERS) {
        self->observed = false;
        model_group_stop(promise, false);
    } else {
        self->observed = has_hooks(promise);
        model_end_hooks(promise, HOOK_CALLED);
    }
    return upstream;
}

void model_look_for_lost(void) {
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < m.promise_count; i++) {
            model_promise *self = &m.promises[i];
            bool loses = self->state == VOW_PENDING && !self->lost && self->wait != WAITS_MEMBER;
            if (loses && !model_is_read(i)) {
                lose(i);
                again = true;
            } else if (loses && !self->is_reaction && !is_surely_read(i)) {
                self->doubtful = true;
                for (int j = 0; j < m.hook_count; j++) {
                    model_hook *hook = &m.hooks[j];
                    if (hook->due == HOOK_WAITS && hook->resolver >= 0 &&
                        m.resolvers[hook->resolver].promise == i) {
                        hook->due = HOOK_MAYBE;
                    }
                }
            }
        }
    }
}
