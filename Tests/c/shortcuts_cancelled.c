/* Tests the short ways where the link is cancelled meanwhile. */
#include "tools.h"

typedef struct watched {
    vow_promise *promise; /* the link's own */
    counter context;
    counter object;
    atomic_int entered;
    atomic_int open;
    bool cancelled;
} watched;

static void watched_end(void *context) {
    counter_end(&((watched *)context)->context);
}

static bool is_cancelled(vow_promise *promise) {
    vow_value error = vow_none();
    return CHECK(vow_promise_peek(promise, &error)) && CHECK_INT_EQ(error.kind, VOW_ERROR) &&
           CHECK_INT_EQ(vow_error_code(error), VOW_ECANCELLED);
}

/* Both are gone, once each. */
static void ended_once(watched *it) {
    CHECK_INT_EQ(atomic_load(&it->context.ends), 1);
    CHECK_INT_EQ(atomic_load(&it->object.ends), 1);
}

static vow_value cancel_and_give(vow_value input, void *context) {
    watched *it = context;
    (void)input;
    it->cancelled = vow_cancel(it->promise);
    CHECK(!vow_cancel(it->promise));
    CHECK_INT_EQ(vow_promise_state(it->promise), VOW_PENDING);
    CHECK_INT_EQ(atomic_load(&it->context.ends), 0);
    return vow_object(&it->object, &counter_class);
}

TEST("an inline handler that cancels its own promise: what it returns is discarded, once") {
    for (int readers = 0; readers < 3; readers++) {
        vow_resolver *resolver;
        watched it = {0};
        vow_promise *promise = vow_promise_create(&resolver);
        it.promise =
            link_full(vow_executor_inline(), promise, cancel_and_give, NULL, &it, watched_end);
        vow_promise *codes[2] = {NULL, NULL};
        for (int i = 0; i < readers; i++) {
            codes[i] = catch_inline(vow_promise_retain(it.promise), give_code, NULL);
        }
        CHECK(vow_resolve(resolver, vow_int(1)));
        CHECK(it.cancelled);
        ended_once(&it);
        is_cancelled(it.promise);
        for (int i = 0; i < readers; i++) {
            CHECK_INT_EQ(int_of(codes[i]), VOW_ECANCELLED);
        }
        vow_resolver_release(resolver);
        vow_promise_release(it.promise);
    }
}

static vow_value cancel_and_let_go(vow_value input, void *context) {
    watched *it = context;
    (void)input;
    it->cancelled = vow_cancel(it->promise);
    vow_promise_release(it->promise);
    return vow_object(&it->object, &counter_class);
}

TEST("an inline handler that cancels its own promise and lets go of it") {
    vow_resolver *resolver;
    watched it = {0};
    vow_promise *promise = vow_promise_create(&resolver);
    it.promise =
        link_full(vow_executor_inline(), promise, cancel_and_let_go, NULL, &it, watched_end);
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK(it.cancelled);
    ended_once(&it);
    vow_resolver_release(resolver);
}

static vow_value enter_and_give(vow_value input, void *context) {
    watched *it = context;
    (void)input;
    atomic_store(&it->entered, 1);
    CHECK(reaches(&it->open, 1));
    CHECK_INT_EQ(atomic_load(&it->context.ends), 0);
    return vow_object(&it->object, &counter_class);
}

static void *resolve_it(void *resolver) {
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    return NULL;
}

TEST("an inline handler is cancelled by another thread while it runs, and perhaps let go of") {
    for (int lets_go = 0; lets_go < 2; lets_go++) {
        vow_resolver *resolver;
        watched it = {0};
        vow_promise *promise = vow_promise_create(&resolver);
        it.promise =
            link_full(vow_executor_inline(), promise, enter_and_give, NULL, &it, watched_end);
        pthread_t thread = start_thread(resolve_it, resolver);
        CHECK(reaches(&it.entered, 1));
        CHECK(vow_cancel(it.promise));
        CHECK(!vow_cancel(it.promise));
        CHECK_INT_EQ(vow_promise_state(it.promise), VOW_PENDING);
        if (lets_go) {
            vow_promise_release(it.promise);
        }
        CHECK_INT_EQ(atomic_load(&it.object.ends), 0);
        atomic_store(&it.open, 1);
        pthread_join(thread, NULL);
        ended_once(&it);
        if (!lets_go) {
            is_cancelled(it.promise);
            vow_promise_release(it.promise);
        }
    }
}
