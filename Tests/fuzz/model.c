/* The model of promises: settling, resolving, reacting, in the words of vow.h. */
#include "model.h"

model m;

bool model_is_full(void) {
    return m.promise_count > MODEL_PROMISES - 64 || m.value_count > MODEL_VALUES - 256 ||
           m.resolver_count > MODEL_RESOLVERS - 64 || m.hook_count > MODEL_HOOKS - 64 ||
           m.source_count > MODEL_SOURCES - 64 || m.group_count > MODEL_GROUPS - 64;
}

int model_value_new(vow_kind kind, int64_t number) {
    model_value *value = &m.values[m.value_count];
    value->kind = kind;
    value->number = number;
    value->payload = value->index = -1;
    return m.value_count++;
}

int model_error_new(int domain, int64_t code, int message, int payload) {
    int error = model_value_new(VOW_ERROR, code);
    m.values[error].domain = domain;
    m.values[error].message = message;
    m.values[error].payload = payload;
    return error;
}

static int own_error(int64_t code) {
    return model_error_new(DOMAIN_VOW, code, TEXT_ANY, -1);
}

int model_promise_new(model_wait wait) {
    model_promise *promise = &m.promises[m.promise_count];
    promise->wait = wait;
    promise->value = promise->upstream = promise->outcome = promise->context = -1;
    promise->outcome_of = promise->kept = -1;
    promise->first = promise->last = promise->next = -1;
    promise->redirect = promise->token = promise->carried = promise->group = -1;
    return m.promise_count++;
}

int model_resolver_new(int promise) {
    m.resolvers[m.resolver_count].promise = promise;
    m.resolvers[m.resolver_count].holds = 1;
    return m.resolver_count++;
}

static void upstream_settled(int member, int upstream);

/* A member of a settled promise: it will be its turn. */
static void line_up(int member) {
    model_wait wait = m.promises[member].wait;
    if (wait == WAITS_FOLLOWED || wait == WAITS_MEMBER) {
        m.outcomes[m.outcomes_last++] = member;
    } else {
        m.handed[m.handed_last++] = member;
    }
}

void model_leave(int what) {
    m.leaving[m.leaving_last++] = what;
}

/* Outcomes first, so that nothing is cancelled that is settled already. */
static void drain(void) {
    if (m.draining) {
        return;
    }
    m.draining = true;
    while (true) {
        int member = -1;
        if (m.outcomes_first < m.outcomes_last) {
            member = m.outcomes[m.outcomes_first++];
        } else if (m.leaving_first < m.leaving_last) {
            model_give_up(m.leaving[m.leaving_first++]);
            continue;
        } else if (m.handed_first < m.handed_last) {
            member = m.handed[m.handed_first++];
        } else {
            break;
        }
        /* Else it was cancelled meanwhile, or its token was. */
        model_wait wait = m.promises[member].wait;
        if (wait == WAITS_UPSTREAM || wait == WAITS_FOLLOWED || wait == WAITS_MEMBER) {
            upstream_settled(member, m.promises[member].upstream);
        }
    }
    m.outcomes_first = m.outcomes_last = m.handed_first = m.handed_last = 0;
    m.leaving_first = m.leaving_last = 0;
    m.draining = false;
}

void model_drain(void) {
    drain();
}

void model_settle(int promise, int value) {
    model_promise *self = &m.promises[promise];
    self->state = m.values[value].kind == VOW_ERROR ? VOW_REJECTED : VOW_FULFILLED;
    self->value = value;
    self->wait = WAITS_NOTHING;
    self->upstream = self->outcome = self->outcome_of = -1;
    while (self->first >= 0) {
        int member = self->first;
        self->first = m.promises[member].next;
        m.promises[member].next = -1;
        line_up(member);
    }
    self->last = -1;
    drain();
}

void model_enqueue(int promise, int member) {
    model_promise *queue = &m.promises[promise];
    m.promises[member].upstream = promise;
    if (queue->last >= 0) {
        m.promises[queue->last].next = member;
    } else {
        queue->first = member;
    }
    queue->last = member;
    if (queue->state != VOW_PENDING) {
        queue->first = queue->last = -1;
        line_up(member);
        drain();
    }
}

/* Out of the queue that it stands in. */
void model_leave_queue(int member) {
    model_promise *queue = &m.promises[m.promises[member].upstream];
    int before = -1;
    if (queue->state != VOW_PENDING) {
        return; /* it has left */
    }
    for (int i = queue->first; i != member; i = m.promises[i].next) {
        before = i;
    }
    int after = m.promises[member].next;
    if (before < 0) {
        queue->first = after;
    } else {
        m.promises[before].next = after;
    }
    if (after < 0) {
        queue->last = before;
    }
    m.promises[member].next = m.promises[member].upstream = -1;
}

void model_forget_context(int reaction) {
    if (m.promises[reaction].context >= 0) {
        m.context_done[m.promises[reaction].context] = true;
    }
}

/* A reaction's promise is settled, or a follower's. */
static void upstream_settled(int member, int upstream) {
    model_promise *self = &m.promises[member];
    bool rejected = m.promises[upstream].state == VOW_REJECTED;
    if (self->wait == WAITS_MEMBER) {
        model_member_settled(member, upstream);
    } else if (self->wait == WAITS_FOLLOWED) {
        bool own_outcome = self->outcome >= 0 && !rejected;
        model_settle(member, own_outcome ? self->outcome : m.promises[upstream].value);
    } else if (rejected ? self->on_error : self->on_value) {
        self->wait = WAITS_EXECUTOR;
        self->epoch = m.epoch;
    } else if (self->context >= 0) {
        /* Settled once its context is destroyed. */
        self->wait = WAITS_EXECUTOR;
        self->executor = 0;
        self->passes = true;
        self->redirect = m.promises[upstream].value;
        model_forget_context(member);
    } else {
        model_settle(member, m.promises[upstream].value);
    }
}

/* Who is resolved with a promise that itself follows another one waits for that one already. Those
 * between lose a reader, and are given up where it was the last. */
static void stand_at_end(int promise, int followed) {
    int end = followed;
    while (m.promises[end].wait == WAITS_FOLLOWED && m.promises[end].outcome < 0) {
        m.promises[end].observed = true;
        end = m.promises[end].upstream;
    }
    m.promises[promise].wait = WAITS_FOLLOWED;
    model_enqueue(end, promise);
    for (int passed = followed; passed != end;) {
        int next = m.promises[passed].upstream;
        if (m.promises[passed].wait != WAITS_FOLLOWED || model_is_read(passed)) {
            break;
        }
        model_leave_queue(passed);
        model_settle(passed, model_cancellation(-1));
        passed = next;
    }
}

/* Who follows, and is read by its followers alone, stands between them for nothing: they move on to
 * the end of its path, and settle in the turn that they have there. A handful of them: the library
 * does not move many. */
static bool is_read_by_followers_alone(int promise) {
    const model_promise *self = &m.promises[promise];
    int count = 0;
    if (self->wait != WAITS_FOLLOWED || self->outcome >= 0 || model_is_held(promise)) {
        return false;
    }
    for (int i = self->first; i >= 0; i = m.promises[i].next, count++) {
        bool same_token = self->token < 0 || m.promises[i].token == self->token;
        if (m.promises[i].wait != WAITS_FOLLOWED || !same_token) {
            return false;
        }
    }
    return count > 0 && count <= 16;
}

static void take_followers(int promise, int *moving, int *count) {
    model_promise *self = &m.promises[promise];
    for (int i = self->first; i >= 0; i = m.promises[i].next) {
        moving[(*count)++] = i;
    }
    for (int i = 0; i < *count; i++) {
        m.promises[moving[i]].next = -1;
    }
    self->first = self->last = -1;
}

void model_pass_followers_on(int promise) {
    int moving[MODEL_PROMISES], count = 0, end = promise;
    if (!is_read_by_followers_alone(promise)) {
        return;
    }
    while (m.promises[end].wait == WAITS_FOLLOWED && m.promises[end].outcome < 0) {
        end = m.promises[end].upstream;
    }
    take_followers(promise, moving, &count);
    for (int i = 0; i < count; i++) {
        if (is_read_by_followers_alone(moving[i])) {
            take_followers(moving[i], moving, &count);
        }
        model_enqueue(end, moving[i]);
    }
}

static void follow(int promise, int followed, bool by_handler) {
    model_promise *self = &m.promises[promise];
    bool given_up = !self->is_reaction && !model_is_read(promise);
    if (given_up && m.promises[followed].state == VOW_PENDING && followed != promise) {
        /* Nobody is to learn of it. */
        m.promises[followed].observed = true;
        self->observed = true;
        model_settle(promise, model_cancellation(-1));
        return;
    }
    if (model_waits_for(followed, promise)) {
        /* Whether the attempt counts as adopting is left open. */
        m.promises[followed].doubtful = m.promises[followed].doubtful || followed != promise;
        model_settle(promise, own_error(VOW_ECYCLE));
        return;
    }
    model_observe_by_adoption(promise, followed, by_handler);
    stand_at_end(promise, followed);
    model_pass_followers_on(promise);
}

/* By the kind of the value. The right to do so is the caller's. */
static void resolve(int promise, int value, bool by_handler) {
    const model_value *with = &m.values[value];
    if (with->kind == VOW_PROMISE) {
        follow(promise, (int)with->number, by_handler);
    } else if (with->kind == VOW_OBJECT && with->thenable) {
        /* What the object will say is a promise of its own. */
        int told = model_promise_new(WAITS_THENABLE);
        m.promises[told].value = value;
        follow(promise, told, by_handler);
    } else {
        m.promises[promise].direct = true;
        model_settle(promise, value);
    }
}

int model_promise_with(int value) {
    int promise = model_promise_new(WAITS_RESOLVER);
    m.promises[promise].holds++; /* the caller's */
    resolve(promise, value, false);
    m.promises[promise].holds--;
    return promise;
}

bool model_resolve(int resolver, int value) {
    if (m.resolvers[resolver].claimed) {
        return false;
    }
    int promise = m.resolvers[resolver].promise;
    m.resolvers[resolver].claimed = true;
    model_end_hooks(promise, HOOK_DROPPED);
    resolve(promise, value, false);
    return true;
}

bool model_reject(int resolver, int value) {
    if (m.values[value].kind != VOW_ERROR && !m.resolvers[resolver].claimed) {
        value = model_error_new(DOMAIN_VOW, VOW_EREASON, TEXT_ANY, value);
    }
    return model_resolve(resolver, value);
}

/* "Where nobody is left who could observe that, it is not reported as unhandled either." */
static void break_promise(int promise, bool subscribed) {
    model_mark();
    if (!m.promises[promise].must && (subscribed || m.promises[promise].doubtful)) {
        m.promises[promise].doubtful = true; /* the library may see a follower in it */
    } else if (!m.promises[promise].must) {
        m.promises[promise].observed = true;
    }
    m.promises[promise].direct = true;
    model_settle(promise, own_error(VOW_EBROKEN));
}

void model_resolver_drop(int resolver) {
    model_resolver *self = &m.resolvers[resolver];
    self->holds--;
    if (self->holds > 0 || self->claimed || self->subscribing) {
        return;
    }
    self->claimed = true;
    model_end_hooks(self->promise, HOOK_DROPPED);
    break_promise(self->promise, self->subscribed);
}

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
    m.promises[promise].observed = true;
    if (reaction.token > 0 && m.sources[reaction.token - 1].cancelled) {
        model_read_rejection(made, m.sources[reaction.token - 1].error);
        return made;
    }
    model_enqueue(promise, made);
    return made;
}

int model_async(model_reaction reaction) {
    return reaction_new(WAITS_EXECUTOR, reaction);
}

const char *model_start(int reaction, bool in_order) {
    model_promise *self = &m.promises[reaction];
    if (self->withdrawn) {
        return "was begun though it was cancelled";
    }
    if (self->passes) {
        return "ran though its token was cancelled";
    }
    if (self->wait != WAITS_EXECUTOR) {
        return self->wait == WAITS_UPSTREAM ? "ran before its promise settled" : "ran twice";
    }
    for (int i = 0; in_order && i < m.promise_count; i++) {
        model_promise *other = &m.promises[i];
        bool same_queue = i != reaction && !other->passes && other->wait == WAITS_EXECUTOR &&
                          other->executor == self->executor && self->upstream >= 0 &&
                          self->redirect < 0 && other->redirect < 0 &&
                          other->upstream == self->upstream;
        if (same_queue && other->order < self->order) {
            return "overtook a handler that was registered earlier on the same promise";
        }
    }
    self->wait = WAITS_HANDLER;
    return NULL;
}

int model_input(int reaction) {
    if (m.promises[reaction].redirect >= 0) {
        return m.promises[reaction].redirect;
    }
    int upstream = m.promises[reaction].upstream;
    return upstream < 0 ? model_value_new(VOW_NONE, 0) : m.promises[upstream].value;
}

void model_finish(int reaction, int result) {
    model_promise *self = &m.promises[reaction];
    int input = self->upstream < 0 && self->redirect < 0 ? -1 : model_input(reaction);
    int upstream = self->upstream;
    const model_value *value = &m.values[result];
    model_forget_context(reaction);
    if (self->withdrawn) {
        if (value->kind == VOW_PROMISE) {
            model_cancel_unless_read((int)value->number);
        }
        return;
    }
    self->wait = WAITS_NOTHING;
    if (!self->finally) {
        resolve(reaction, result, true);
    } else if (value->kind == VOW_ERROR) {
        model_settle(reaction, result);
    } else if (value->kind == VOW_PROMISE) {
        self->outcome = input;
        self->outcome_of = upstream;
        follow(reaction, (int)value->number, true);
    } else if (value->kind == VOW_OBJECT && value->thenable) {
        self->outcome = input;
        self->outcome_of = upstream;
        follow(reaction, model_promise_with(result), true);
    } else {
        model_settle(reaction, input);
    }
}

int model_subscribe(int promise) {
    int resolver = model_resolver_new(promise);
    m.promises[promise].wait = WAITS_RESOLVER;
    m.promises[promise].value = -1;
    m.resolvers[resolver].subscribed = m.resolvers[resolver].subscribing = true;
    return resolver;
}

void model_subscribed(int promise, int resolver, int object, bool answer) {
    model_resolver *self = &m.resolvers[resolver];
    self->subscribing = false;
    if (!self->claimed && !answer) {
        self->claimed = true;
        model_end_hooks(promise, HOOK_DROPPED);
        model_settle(promise, object);
    } else if (!self->claimed && self->holds == 0) {
        self->claimed = true;
        model_end_hooks(promise, HOOK_DROPPED);
        break_promise(promise, true);
    }
}
