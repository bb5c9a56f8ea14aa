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
    for (int i = m.promises[promise].first; i >= 0; i = m.promises[i].next) {
        if (!m.promises[i].has_left) {
            return true;
        }
    }
    return model_is_held(promise);
}

/* Not only by reactions that have run and follow it for nobody. */
static bool is_surely_read(int promise) {
    const model_promise *self = &m.promises[promise];
    if (model_is_held(promise)) {
        return true;
    }
    for (int i = self->first; i >= 0; i = m.promises[i].next) {
        if (m.promises[i].wait != WAITS_FOLLOWED ||
            (!m.promises[i].has_left && is_surely_read(i))) {
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

int model_add_hook(int resolver, int source, int carried) {
    model_hook *hook = &m.hooks[m.hook_count];
    *hook = (model_hook){.resolver = resolver, .source = source, .carried = carried};
    if (source >= 0) {
        hook->due = m.sources[source].cancelled       ? HOOK_CALLED
                    : !model_can_be_cancelled(source) ? HOOK_DROPPED
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

static bool is_settled(int promise) {
    return m.promises[promise].state != VOW_PENDING;
}

/* Whether nobody reads a promise but a member of its queue. */
static bool is_only_reader(int member, int promise) {
    for (int i = m.promises[promise].first; i >= 0; i = m.promises[i].next) {
        if (i != member && !m.promises[i].has_left) {
            return false;
        }
    }
    return !model_is_held(promise);
}

/* Its executor, or a list, has it, and no handler is to run: it does not wait for that. */
static void withdraw(int reaction) {
    model_promise *self = &m.promises[reaction];
    self->withdrawn = self->is_kept = true;
    self->kept = self->upstream;
    model_settle_last(reaction, self->error);
}

/* What it reads has settled, or it reads nothing. */
static void cancel_ready(int reaction) {
    model_promise *self = &m.promises[reaction];
    bool is_lined_up = self->wait == WAITS_UPSTREAM;
    if (self->finally && self->upstream >= 0) {
        self->had_input = true;
    } else if (self->on_error || (is_lined_up && self->executor == 0)) {
        self->redirect = self->error;
    } else {
        withdraw(reaction);
    }
}

/* Returns what is to be cancelled first, or -1. */
static int cancel_waiting(int reaction, bool alone) {
    model_promise *self = &m.promises[reaction];
    int upstream = self->upstream;
    if (is_settled(upstream)) {
        cancel_ready(reaction);
        return -1;
    }
    if (!alone && is_only_reader(reaction, upstream)) {
        return upstream;
    }
    model_leave_queue(reaction);
    self->redirect = self->error;
    model_hand_over(reaction);
    return -1;
}

/* The same. */
static int cancel_follower(int follower) {
    int followed = m.promises[follower].upstream;
    if (is_settled(followed) || m.promises[follower].has_left) {
        return -1; /* about to be taken */
    }
    if (is_only_reader(follower, followed)) {
        return followed;
    }
    m.promises[followed].observed = true; /* it was adopted, if by one that nobody reads */
    if (m.promises[follower].is_reaction) {
        /* It waits all the same, and is no reader. What a `finally` has read is kept if it is an
         * error. */
        model_promise *self = &m.promises[follower];
        bool keeps = self->outcome >= 0 && m.values[self->outcome].kind == VOW_ERROR;
        self->error = keeps ? self->outcome : self->error;
        self->outcome = self->outcome_of = -1;
        self->has_left = true;
        return -1;
    }
    model_leave_queue(follower);
    model_settle_last(follower, m.promises[follower].error);
    return -1;
}

/* Its context is about to be destroyed, or is being so. */
static void cancel_last(int reaction) {
    model_promise *self = &m.promises[reaction];
    bool has_followed = self->begun;
    bool handles = self->on_error && !self->finally && self->context >= 0;
    if (has_followed) {
        bool rejected = m.values[self->ending].kind == VOW_ERROR;
        self->ending = rejected ? self->ending : self->error;
    } else if (handles) {
        m.context_done[self->context] = false;
        self->wait = WAITS_EXECUTOR;
        self->redirect = self->error;
    } else {
        self->ending = self->error;
    }
}

/* Whom nobody but a producer settles. */
static void reject_at_once(int promise) {
    bool is_combined = m.promises[promise].wait == WAITS_MEMBERS;
    for (int i = 0; i < m.resolver_count; i++) {
        model_resolver *right = &m.resolvers[i];
        if (right->promise == promise && !right->claimed) {
            right->claimed = right->cancelled = true;
        }
    }
    model_end_hooks(promise, HOOK_CALLED);
    model_settle(promise, m.promises[promise].error);
    if (is_combined) {
        model_group_stop(promise, true);
    }
}

/* Returns what is to be cancelled first, or -1. */
static int cancel_one(int promise, int error, bool alone) {
    model_promise *self = &m.promises[promise];
    if (is_settled(promise) || self->cancelled) {
        return -1;
    }
    self->cancelled = true;
    self->error = error;
    switch (self->wait) {
    case WAITS_UPSTREAM:
        return cancel_waiting(promise, alone);
    case WAITS_FOLLOWED:
        return cancel_follower(promise);
    case WAITS_EXECUTOR:
        cancel_ready(promise);
        return -1;
    case WAITS_CONTEXT:
        cancel_last(promise);
        return -1;
    case WAITS_HANDLER:
        return -1; /* it is let finish */
    default:
        reject_at_once(promise);
        return -1;
    }
}

static void cancel_upwards(int from, int error) {
    while (from >= 0) {
        from = cancel_one(from, error, false);
    }
}

bool model_cancel(int promise, int error) {
    bool is_first = !is_settled(promise) && !m.promises[promise].cancelled;
    model_step_begin();
    cancel_upwards(promise, error);
    model_step_end();
    return is_first;
}

void model_cancel_alone(int promise, int error) {
    model_step_begin();
    cancel_upwards(cancel_one(promise, error, true), error);
    model_step_end();
}

void model_cancel_followed(int promise) {
    model_step_begin();
    cancel_upwards(cancel_follower(promise), m.promises[promise].error);
    model_step_end();
}

void model_cancel_unless_read(int promise) {
    if (!model_is_read(promise)) {
        model_cancel(promise, model_cancellation(-1));
    }
}

/* Returns what it waited for, or -1. */
static int lose(int promise) {
    model_promise *self = &m.promises[promise];
    int upstream = -1;
    self->lost = true;
    if (self->first >= 0 && !self->is_reaction) {
        /* Only those who were cancelled wait for it: so it is, too. A reaction goes on. */
        model_cancel(promise, model_cancellation(-1));
    } else if (self->is_reaction) {
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
