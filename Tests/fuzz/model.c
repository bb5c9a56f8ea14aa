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

int model_own_error(int64_t code) {
    return model_error_new(DOMAIN_VOW, code, TEXT_ANY, -1);
}

int model_promise_new(model_wait wait) {
    model_promise *promise = &m.promises[m.promise_count];
    promise->wait = wait;
    promise->value = promise->upstream = promise->outcome = promise->context = -1;
    promise->outcome_of = promise->kept = promise->error = promise->ending = -1;
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

/* Before anything else, so that nothing is cancelled that is settled already. */
static void take_outcomes(void) {
    if (m.taking) {
        return;
    }
    m.taking = true;
    while (true) {
        if (m.outcomes_first < m.outcomes_last) {
            int member = m.outcomes[m.outcomes_first++];
            /* Else it was cancelled meanwhile. */
            model_wait wait = m.promises[member].wait;
            if (wait == WAITS_FOLLOWED || wait == WAITS_MEMBER) {
                upstream_settled(member, m.promises[member].upstream);
            }
        } else if (m.leaving_first < m.leaving_last) {
            model_give_up(m.leaving[m.leaving_first++]);
        } else {
            break;
        }
    }
    m.taking = false;
}

void model_step_begin(void) {
    m.steps++;
}

void model_step_end(void) {
    take_outcomes();
    while (m.steps == 1 && m.handed_first < m.handed_last) {
        int member = m.handed[m.handed_first++];
        if (m.promises[member].wait == WAITS_UPSTREAM) {
            upstream_settled(member, m.promises[member].upstream);
        }
        take_outcomes();
    }
    m.steps--;
    if (m.steps == 0) {
        m.outcomes_first = m.outcomes_last = m.handed_first = m.handed_last = 0;
        m.leaving_first = m.leaving_last = 0;
    }
}

void model_drain(void) {
    model_step_begin();
    model_step_end();
}

void model_hand_over(int reaction) {
    m.handed[m.handed_last++] = reaction;
    model_drain();
}

void model_settle(int promise, int value) {
    model_promise *self = &m.promises[promise];
    self->state = m.values[value].kind == VOW_ERROR ? VOW_REJECTED : VOW_FULFILLED;
    self->value = value;
    if (self->state == VOW_REJECTED && self->outcome_of >= 0 && !self->cancelled) {
        model_replace(self->outcome_of, value);
    }
    self->epoch = m.epoch;
    self->wait = WAITS_NOTHING;
    self->upstream = self->outcome = self->outcome_of = -1;
    while (self->first >= 0) {
        int member = self->first;
        self->first = m.promises[member].next;
        m.promises[member].next = -1;
        line_up(member);
    }
    self->last = -1;
    model_drain();
}

void model_settle_last(int promise, int value) {
    model_promise *self = &m.promises[promise];
    if (self->context < 0) {
        model_settle(promise, value);
        return;
    }
    /* It keeps its place at its executor, also if it is cancelled there and its handler runs. */
    self->epoch = m.epoch;
    self->wait = WAITS_CONTEXT;
    self->ending = value;
    m.context_done[self->context] = true;
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
        model_drain();
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

/* A reaction's promise is settled, or it reads something else; or a follower's. */
static void upstream_settled(int member, int upstream) {
    model_promise *self = &m.promises[member];
    if (self->wait == WAITS_MEMBER) {
        model_member_settled(member, upstream);
        return;
    }
    bool follows = self->wait == WAITS_FOLLOWED;
    bool reads_else = !follows && self->redirect >= 0;
    int value = reads_else ? self->redirect : m.promises[upstream].value;
    bool rejected = m.values[value].kind == VOW_ERROR;
    if (!follows && (rejected ? self->on_error : self->on_value)) {
        self->wait = WAITS_EXECUTOR;
        self->epoch = m.epoch;
        return;
    }
    if (self->cancelled && (!rejected || (self->had_input && !follows))) {
        value = self->error;
    } else if (!rejected && self->outcome >= 0) {
        value = self->outcome;
    }
    model_settle_last(member, value);
}

/* Who is resolved with a promise that itself follows another one waits for that one already. Those
 * between lose a reader, and are given up where it was the last. */
static void stand_at_end(int promise, int followed) {
    int end = followed;
    while (m.promises[end].wait == WAITS_FOLLOWED && !model_stands_between(end)) {
        m.promises[end].observed = true;
        end = m.promises[end].upstream;
    }
    m.promises[promise].wait = WAITS_FOLLOWED;
    model_enqueue(end, promise);
    for (int passed = followed; passed != end;) {
        int next = m.promises[passed].upstream;
        if (m.promises[passed].wait != WAITS_FOLLOWED || model_is_read(passed) ||
            m.promises[passed].context >= 0) {
            break;
        }
        model_leave_queue(passed);
        model_settle(passed, model_cancellation(-1));
        passed = next;
    }
}

bool model_stands_between(int follower) {
    const model_promise *self = &m.promises[follower];
    return self->outcome >= 0 || self->cancelled || self->context >= 0;
}

/* Who follows, and is read by its followers alone, stands between them for nothing: they move on to
 * the end of its path, and settle in the turn that they have there. A handful of them: the library
 * does not move many. */
static bool is_read_by_followers_alone(int promise) {
    const model_promise *self = &m.promises[promise];
    int count = 0;
    if (self->wait != WAITS_FOLLOWED || model_stands_between(promise) || model_is_held(promise)) {
        return false;
    }
    for (int i = self->first; i >= 0; i = m.promises[i].next, count++) {
        bool same_token = self->token < 0 || m.promises[i].token == self->token;
        if (m.promises[i].wait != WAITS_FOLLOWED || !same_token || m.promises[i].has_left) {
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
    while (m.promises[end].wait == WAITS_FOLLOWED && !model_stands_between(end)) {
        end = m.promises[end].upstream;
    }
    take_followers(promise, moving, &count);
    for (int i = 0; i < count; i++) {
        if (is_read_by_followers_alone(moving[i])) {
            take_followers(moving[i], moving, &count);
        }
        model_enqueue(end, moving[i]);
    }
    /* Who stood between is gone. */
    m.promises[promise].observed = true;
    model_leave_queue(promise);
    model_settle(promise, model_cancellation(-1));
}

/* Whether the path of adoptions from a promise on comes to another one. */
static bool follows(int a, int b) {
    while (a != b && m.promises[a].wait == WAITS_FOLLOWED && !model_stands_between(a)) {
        a = m.promises[a].upstream;
    }
    return a == b;
}

void model_follow(int promise, int followed, bool by_handler) {
    model_promise *self = &m.promises[promise];
    bool given_up = !self->is_reaction && !model_is_read(promise);
    if (given_up && m.promises[followed].state == VOW_PENDING && followed != promise) {
        /* Nobody is to learn of it. */
        m.promises[followed].observed = true;
        self->observed = true;
        model_settle(promise, model_cancellation(-1));
        return;
    }
    /* A cancelled one gives up first what it has begun to follow, and is a member of no ring. */
    bool is_ring =
        self->cancelled ? follows(followed, promise) : model_waits_for(followed, promise);
    if (is_ring) {
        /* Whether the attempt counts as adopting is left open; it was perhaps the last reader. */
        if (followed != promise) {
            bool is_left = m.promises[followed].is_reaction && !model_is_read(followed);
            m.promises[followed].observed = m.promises[followed].observed && !is_left;
            m.promises[followed].doubtful = true;
        }
        model_settle_last(promise, self->cancelled ? self->error : model_own_error(VOW_ECYCLE));
        return;
    }
    model_observe_by_adoption(promise, followed, by_handler);
    stand_at_end(promise, followed);
    model_pass_followers_on(promise);
}
