/* Reactions: when their handlers may run, what those read, and what becomes of what they return. */
#include "model.h"

static int reaction_new(model_wait wait, model_reaction reaction) {
    int promise = model_promise_new(wait);
    m.promises[promise].on_value = reaction.on_value;
    m.promises[promise].on_error = reaction.on_error;
    m.promises[promise].finally = reaction.finally;
    m.promises[promise].executor = reaction.executor;
    m.promises[promise].context = reaction.context;
    m.promises[promise].order = m.orders++;
    m.promises[promise].epoch = m.epoch;
    m.promises[promise].is_reaction = true;
    m.promises[promise].token = reaction.token - 1;
    m.promises[promise].carried = reaction.carried - 1;
    return promise;
}

int model_react(int promise, model_reaction reaction) {
    int made = reaction_new(WAITS_UPSTREAM, reaction);
    bool is_alone = reaction.finally && !m.promises[promise].observed;
    m.promises[promise].observed = is_alone ? BY_FINALLY : true;
    if (reaction.token > 0 && m.sources[reaction.token - 1].cancelled) {
        m.promises[made].cancelled = true;
        m.promises[made].error = m.promises[made].redirect = m.sources[reaction.token - 1].error;
        model_hand_over(made);
        return made;
    }
    model_enqueue(promise, made);
    return made;
}

int model_async(model_reaction reaction) {
    return reaction_new(WAITS_EXECUTOR, reaction);
}

static bool is_cancellation(int value) {
    const model_value *error = &m.values[value];
    return error->kind == VOW_ERROR && error->domain == DOMAIN_VOW &&
           error->number == VOW_ECANCELLED;
}

/* "The reason: the payload of the errors", if it is its token that is cancelled. */
static int own_cancellation(int reaction) {
    int token = m.promises[reaction].token;
    return token >= 0 && m.sources[token].cancelled ? m.sources[token].error
                                                    : model_cancellation(-1);
}

/* What has come down to it is passed on, or, where that is another error, its own cancellation. */
static void take_over_error(int reaction) {
    model_promise *self = &m.promises[reaction];
    if (self->cancelled && self->redirect < 0 && !self->had_input) {
        int input = model_input(reaction);
        self->error = is_cancellation(input) ? input : own_cancellation(reaction);
    }
}

const char *model_start(int reaction, bool in_order) {
    model_promise *self = &m.promises[reaction];
    if (self->withdrawn) {
        return "was begun though it was cancelled";
    }
    if (self->wait != WAITS_EXECUTOR) {
        return self->wait == WAITS_UPSTREAM ? "ran before its promise settled" : "ran twice";
    }
    for (int i = 0; in_order && i < m.promise_count; i++) {
        model_promise *other = &m.promises[i];
        bool same_queue = i != reaction && other->wait == WAITS_EXECUTOR &&
                          other->executor == self->executor && self->upstream >= 0 &&
                          self->redirect < 0 && other->redirect < 0 &&
                          other->upstream == self->upstream;
        if (same_queue && other->order < self->order) {
            return "overtook a handler that was registered earlier on the same promise";
        }
    }
    self->wait = WAITS_HANDLER;
    self->begun = true;
    self->warned = self->cancelled;
    take_over_error(reaction);
    return NULL;
}

int model_input(int reaction) {
    if (m.promises[reaction].redirect >= 0) {
        return m.promises[reaction].redirect;
    }
    int upstream = m.promises[reaction].upstream;
    return upstream < 0 ? model_value_new(VOW_NONE, 0) : m.promises[upstream].value;
}

bool model_is_waited_for(int result) {
    const model_value *value = &m.values[result];
    return value->kind == VOW_PROMISE || (value->kind == VOW_OBJECT && value->thenable);
}

static int promise_of(int result) {
    return m.values[result].kind == VOW_PROMISE ? (int)m.values[result].number
                                                : model_promise_with(result);
}

/* The words of the library's own errors are not the model's: such a one may say another. */
static bool says(int error, int other, bool *maybe) {
    for (int i = error; i >= 0 && m.values[i].kind == VOW_ERROR; i = m.values[i].payload) {
        const model_value *a = &m.values[i], *b = &m.values[other];
        bool same = a->domain == b->domain && a->number == b->number && a->message == b->message;
        if (i == other || (same && a->message != TEXT_ANY)) {
            return true;
        }
        *maybe = *maybe || same;
    }
    return false;
}

void model_replace(int promise, int error) {
    model_promise *self = &m.promises[promise];
    if (self->observed == BY_FINALLY && self->state == VOW_REJECTED &&
        !says(error, self->value, &self->doubtful)) {
        self->observed = false;
    }
}

/* No value comes of it. A rejection does, of a handler that knew. */
static void finish_cancelled(int reaction, int result) {
    model_promise *self = &m.promises[reaction];
    if (!model_is_waited_for(result)) {
        bool is_error = m.values[result].kind == VOW_ERROR;
        bool is_read = self->upstream >= 0 && result == model_input(reaction);
        model_settle(reaction, is_error && self->warned ? result : self->error);
        if (is_error && self->finally && !self->warned && !is_read) {
            /* Clean-up that has failed is reported. */
            (void)model_promise_with(result);
        }
        return;
    }
    model_step_begin();
    self->outcome = self->finally ? self->error : -1;
    self->outcome_of = -1;
    model_follow(reaction, promise_of(result), true);
    if (self->wait == WAITS_FOLLOWED) {
        model_cancel_followed(reaction);
    }
    /* It has stayed, and waits for itself. */
    if (self->wait == WAITS_FOLLOWED && model_waits_for(self->upstream, reaction)) {
        m.promises[self->upstream].doubtful = true;
        model_leave_queue(reaction);
        model_settle_last(reaction, self->has_left ? self->error : model_own_error(VOW_ECYCLE));
    }
    model_step_end();
}

void model_finish(int reaction, int result) {
    model_promise *self = &m.promises[reaction];
    int input = self->upstream < 0 ? -1 : model_input(reaction);
    int upstream = self->upstream;
    self->wait = WAITS_NOTHING;
    if (self->cancelled) {
        finish_cancelled(reaction, result);
    } else if (!self->finally) {
        model_resolve_with(reaction, result, true);
    } else if (m.values[result].kind == VOW_ERROR) {
        model_replace(upstream, result);
        model_settle(reaction, result);
    } else if (model_is_waited_for(result)) {
        self->outcome = input;
        self->outcome_of = upstream;
        model_follow(reaction, promise_of(result), true);
    } else {
        model_settle(reaction, input);
    }
}

void model_end(int reaction) {
    if (m.promises[reaction].wait == WAITS_CONTEXT) {
        model_settle(reaction, m.promises[reaction].ending);
    }
}
