/* The model of resolvers: what resolves a promise, with what, and what becomes of one that is given
 * up. */
#include "model.h"

/* By the kind of the value. The right to do so is the caller's. */
void model_resolve_with(int promise, int value, bool by_handler) {
    const model_value *with = &m.values[value];
    if (with->kind == VOW_PROMISE) {
        model_follow(promise, (int)with->number, by_handler);
    } else if (with->kind == VOW_OBJECT && with->thenable) {
        /* What the object will say is a promise of its own. */
        int told = model_promise_new(WAITS_THENABLE);
        m.promises[told].value = value;
        model_follow(promise, told, by_handler);
    } else {
        m.promises[promise].direct = true;
        model_settle(promise, value);
    }
}

int model_promise_with(int value) {
    int promise = model_promise_new(WAITS_RESOLVER);
    m.promises[promise].holds++; /* the caller's */
    model_resolve_with(promise, value, false);
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
    model_resolve_with(promise, value, false);
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
    } else if (!m.promises[promise].must && !m.promises[promise].observed) {
        m.promises[promise].observed = true;
    }
    m.promises[promise].direct = true;
    model_settle(promise, model_own_error(VOW_EBROKEN));
}

void model_resolver_drop(int resolver) {
    model_resolver *self = &m.resolvers[resolver];
    self->holds--;
    if (self->holds > 0 || self->claimed || self->subscribing) {
        return;
    }
    self->claimed = true;
    /* To be broken is no resolving: what is on the way to being called is called. */
    model_end_hooks(self->promise, HOOK_DROPPED);
    break_promise(self->promise, self->subscribed);
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
