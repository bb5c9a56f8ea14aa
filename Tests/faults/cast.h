/* What a scene needs: links and objects that count their ends, and results with what they may be.
 *
 * A scene runs with all memory, and with every choice of failing allocations. What it says about
 * its results holds in both: each is what it should be, or, if memory lacked, VOW_ENOMEM. */
#ifndef VOW_TEST_CAST_H
#define VOW_TEST_CAST_H

#include "failing.h"

typedef struct cast {
    counter links[64]; /* the contexts of links: one run at most, one end */
    atomic_int given_links;
    counter objects[64]; /* one end each */
    atomic_int given_objects;
    counter executors; /* the contexts of custom executors */
    int given_executors;
} cast;

typedef struct scene {
    const char *name;
    void (*play)(cast *);
} scene;

static inline counter *next_of(counter *all, atomic_int *given) {
    int place = atomic_fetch_add(given, 1);
    if (place >= 64) {
        abort();
    }
    return &all[place];
}

/* A link (promise consumed) with a context of its own, that counts. */
static inline vow_promise *cast_link(cast *self, vow_executor *executor, vow_promise *promise,
                                     vow_handler fulfilled, vow_handler rejected) {
    counter *context = next_of(self->links, &self->given_links);
    return link_full(executor, promise, fulfilled, rejected, context, counter_end);
}

static inline vow_promise *cast_inline(cast *self, vow_promise *promise, vow_handler fulfilled,
                                       vow_handler rejected) {
    return cast_link(self, vow_executor_inline(), promise, fulfilled, rejected);
}

static inline vow_promise *cast_finally(cast *self, vow_executor *executor, vow_promise *promise,
                                        vow_handler fn) {
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = fn;
    reaction.on_rejected = fn;
    reaction.context = next_of(self->links, &self->given_links);
    reaction.destroy = counter_end;
    reaction.executor = executor;
    reaction.flags = VOW_FINALLY;
    reaction.label = "the last word";
    return vow_then_with(promise, &reaction);
}

static inline vow_value cast_object(cast *self) {
    return vow_object(next_of(self->objects, &self->given_objects), &counter_class);
}

/* Whether a code is the expected one, or the one of lacking memory when memory lacked. */
static inline bool is_code(int64_t code, int64_t expected) {
    return (code == VOW_ENOMEM && lacked_memory()) || CHECK_INT_EQ(code, expected);
}

/* Waits for a promise (consumed): it must settle, with this code (0: fulfilled). */
static inline void settles(vow_promise *promise, int64_t expected) {
    is_code(code_of(promise), expected);
}

/* The same, for what gets along without a part of its memory: then it may end with another code. */
static inline void settles_or(vow_promise *promise, int64_t expected, int64_t without) {
    int64_t code = code_of(promise);
    if (!(lacked_memory() && code == without)) {
        is_code(code, expected);
    }
}

/* The same, with a whole number. */
static inline void settles_int(vow_promise *promise, int64_t expected) {
    vow_value out = vow_none();
    int state = vow_await(promise, LONG_ENOUGH, &out);
    if (state == (int)VOW_FULFILLED) {
        CHECK_INT_EQ(out.kind, VOW_INT);
        CHECK_INT_EQ(out.as.integer, expected);
    } else {
        is_code(state == (int)VOW_REJECTED ? vow_error_code(out) : state == 0 ? 99 : state, 0);
    }
    vow_value_release(out);
    vow_promise_release(promise);
}

/* Whether a handle was given, as it is unless memory lacked. */
static inline bool is_made(const void *handle) {
    CHECK(handle != NULL || lacked_memory());
    return handle != NULL;
}

/* Whether a value is of this kind, as it is unless memory lacked. */
static inline bool is_kind(vow_value value, vow_kind kind) {
    if (value.kind != kind && value.kind == VOW_ERROR && lacked_memory()) {
        CHECK_INT_EQ(vow_error_code(value), VOW_ENOMEM);
        CHECK_STR_EQ(vow_error_domain(value), "vow");
        return false;
    }
    return CHECK_INT_EQ(value.kind, kind);
}

/* Resolves and gives the resolver away (consumed). */
static inline void resolve_last(vow_resolver *resolver, vow_value value) {
    vow_resolve(resolver, value);
    vow_resolver_release(resolver);
}

/* Counts the call of a function that is to hear of a cancellation. */
static inline void hear_of_it(void *context) {
    counter *self = context;
    CHECK_INT_EQ(atomic_load(&self->ends), 0);
    atomic_fetch_add(&self->runs, 1);
}

/* A function that is to hear when nobody wants what a resolver (borrowed) promises any more. The
 * context ends whatever the answer is. */
static inline counter *cast_hook(cast *self, vow_resolver *resolver) {
    counter *context = next_of(self->links, &self->given_links);
    int answer = vow_resolver_on_cancel(resolver, hear_of_it, context, counter_end);
    is_code(answer, 0);
    CHECK(answer == 0 || atomic_load(&context->ends) == 1);
    return context;
}

/* What several handlers may share, and who has no end. */
static counter shared;

/* Each handler says so that it runs; its context must not have ended. */
static inline void runs_now(void *context) {
    counter *self = context;
    CHECK_INT_EQ(atomic_load(&self->ends), 0);
    atomic_fetch_add(&self->runs, 1);
}

static inline vow_value pass_on(vow_value input, void *context) {
    runs_now(context);
    return vow_value_retain(input);
}

static inline vow_value make_none(vow_value input, void *context) {
    (void)input;
    runs_now(context);
    return vow_none();
}

static inline vow_value make_string(vow_value input, void *context) {
    (void)input;
    runs_now(context);
    return vow_string("made by a handler", VOW_NUL_TERMINATED);
}

static inline vow_value make_promise(vow_value input, void *context) {
    runs_now(context);
    return vow_from_promise(vow_promise_with(vow_value_retain(input)));
}

static inline vow_value make_error(vow_value input, void *context) {
    runs_now(context);
    return vow_error_wrap("test", 7, "made by a handler", vow_value_retain(input));
}

static inline vow_value make_chain(vow_value input, void *context) {
    (void)input;
    runs_now(context);
    vow_promise *inner = vow_async(vow_executor_pool(), make_string, &shared);
    return vow_from_promise(vow_then(inner, make_promise, &shared));
}

#endif
