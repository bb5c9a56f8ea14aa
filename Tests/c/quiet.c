/* G14: settled means quiet. Cooperative producers, shields, contexts of calls. */
#include "tools.h"

static void note_told(void *context) {
    atomic_fetch_add((atomic_int *)context, 1);
}

static bool is_pending(vow_promise *promise) {
    return CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
}

TEST("a cooperative producer is told, and ends its work first") {
    vow_resolver *resolver;
    atomic_int told = 0;
    counter object = {0};
    vow_promise *promise = vow_promise_create_with(&resolver, VOW_COOPERATIVE);
    CHECK_INT_EQ(vow_resolver_on_cancel(resolver, note_told, &told, NULL), 0);
    vow_promise *reader = then_inline(vow_promise_retain(promise), add_one, NULL);
    CHECK(vow_cancel(promise));
    CHECK(!vow_cancel(promise));
    CHECK_INT_EQ(atomic_load(&told), 1);
    is_pending(promise);
    is_pending(reader);
    /* Too late to be told later. */
    CHECK_INT_EQ(vow_resolver_on_cancel(resolver, note_told, &told, NULL), 0);
    CHECK_INT_EQ(atomic_load(&told), 2);
    CHECK(!vow_resolve(resolver, vow_object(&object, &counter_class)));
    CHECK_INT_EQ(atomic_load(&object.ends), 1);
    CHECK_INT_EQ(code_of(promise), VOW_ECANCELLED);
    CHECK_INT_EQ(code_of(reader), VOW_ECANCELLED);
    CHECK(!vow_resolve(resolver, vow_none()));
    vow_resolver_release(resolver);
}

TEST("one that is not cancelled is like any other") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create_with(&resolver, VOW_COOPERATIVE);
    CHECK(vow_resolve(resolver, vow_int(3)));
    CHECK(!vow_cancel(promise));
    CHECK_INT_EQ(int_of(promise), 3);
    vow_resolver_release(resolver);
    promise = vow_promise_create_with(&resolver, VOW_COOPERATIVE);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(code_of(promise), VOW_EBROKEN);
    promise = vow_promise_create_with(&resolver, 2);
    CHECK(resolver == NULL);
    CHECK_INT_EQ(code_of(promise), VOW_EINVAL);
}

TEST("a cooperative producer may reject, resolve with a promise, or let go") {
    for (int way = 0; way < 3; way++) {
        vow_resolver *resolver, *inner;
        atomic_int told = 0;
        vow_promise *promise = vow_promise_create_with(&resolver, VOW_COOPERATIVE);
        CHECK(vow_cancel_with(promise, vow_int(4)));
        vow_promise *begun = vow_promise_create(&inner);
        CHECK_INT_EQ(vow_resolver_on_cancel(inner, note_told, &told, NULL), 0);
        if (way == 0) {
            CHECK(!vow_reject(resolver, vow_error("test", 7, "no")));
            vow_promise_release(begun);
        } else if (way == 1) {
            CHECK(!vow_resolve(resolver, vow_from_promise(begun)));
        } else {
            vow_promise_release(begun);
        }
        vow_resolver_release(resolver);
        CHECK_INT_EQ(atomic_load(&told), 1);
        vow_value error = vow_none();
        CHECK_INT_EQ(vow_await(promise, VOW_FOREVER, &error), VOW_REJECTED);
        CHECK_INT_EQ(vow_error_code(error), VOW_ECANCELLED);
        CHECK_INT_EQ(vow_error_payload(error).as.integer, 4);
        vow_value_release(error);
        vow_promise_release(promise);
        vow_resolver_release(inner);
    }
}

TEST("a shielded promise is waited for, and not cancelled") {
    vow_promise *no_promise = NULL;
    vow_resolver *resolver;
    atomic_int told = 0;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK_INT_EQ(vow_resolver_on_cancel(resolver, note_told, &told, NULL), 0);
    vow_promise *shielded = vow_shield(promise);
    vow_promise *reader = then_inline(vow_promise_retain(shielded), add_one, NULL);
    CHECK(vow_cancel(shielded));
    CHECK(!vow_cancel(shielded));
    CHECK_INT_EQ(atomic_load(&told), 0);
    is_pending(shielded);
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK_INT_EQ(code_of(shielded), VOW_ECANCELLED);
    CHECK_INT_EQ(code_of(reader), VOW_ECANCELLED);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(vow_shield(fulfilled_int(3))), 3);
    CHECK_INT_EQ(code_of(vow_shield(rejected_code(3))), 3);
    CHECK_INT_EQ(code_of(vow_shield(no_promise)), VOW_EINVAL);
}

static vow_value give_shielded(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(vow_shield(context));
}

TEST("clean-up that a finally returns shielded runs to its end") {
    vow_resolver *resolver, *cleaning;
    atomic_int told = 0;
    vow_promise *source = vow_promise_create(&resolver);
    vow_promise *clean_up = vow_promise_create(&cleaning);
    CHECK_INT_EQ(vow_resolver_on_cancel(cleaning, note_told, &told, NULL), 0);
    vow_promise *promise = finally_inline(source, give_shielded, clean_up);
    CHECK(vow_cancel(promise));
    is_pending(promise);
    CHECK_INT_EQ(atomic_load(&told), 0);
    CHECK(vow_resolve(cleaning, vow_none()));
    CHECK_INT_EQ(code_of(promise), VOW_ECANCELLED);
    vow_resolver_release(resolver);
    vow_resolver_release(cleaning);
}

/* Calls of functions with contexts. */
typedef struct job {
    atomic_int entered;
    atomic_int may_end;
    atomic_int running;
    atomic_int saw_cancellation;
    atomic_int ends;
} job;

static void end_job(void *context) {
    job *self = context;
    CHECK_INT_EQ(atomic_load(&self->running), 0);
    atomic_fetch_add(&self->ends, 1);
}

/* The second item fails while the first one works. */
static vow_value work(vow_value input, void *context) {
    job *self = context;
    if (input.as.integer == 2) {
        CHECK(reaches(&self->entered, 1));
        return vow_error("test", 2, "the second one fails");
    }
    atomic_fetch_add(&self->running, 1);
    atomic_fetch_add(&self->entered, 1);
    CHECK(reaches(&self->may_end, 1));
    for (int i = 0; i < 10000 && !vow_current_is_cancelled(); i++) {
        usleep(1000);
    }
    atomic_fetch_add(&self->saw_cancellation, vow_current_is_cancelled());
    atomic_fetch_sub(&self->running, 1);
    return vow_none();
}

static vow_call call_of(job *self) {
    return (vow_call){.size = sizeof(vow_call),
                      .context = self,
                      .destroy = end_job,
                      .executor = vow_executor_pool(),
                      .label = "a job"};
}

TEST("a map that fails settles when the last call has returned and the context is gone") {
    job self = {0};
    vow_value items[3] = {vow_int(1), vow_int(2), vow_int(3)};
    vow_call call = call_of(&self);
    vow_promise *map = vow_map_with(vow_list(items, 3), work, 2, &call);
    CHECK(reaches(&self.entered, 1));
    usleep(20000);
    is_pending(map);
    atomic_store(&self.may_end, 1);
    CHECK_INT_EQ(vow_await(map, VOW_FOREVER, NULL), VOW_REJECTED);
    CHECK_INT_EQ(atomic_load(&self.running), 0);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
    CHECK_INT_EQ(atomic_load(&self.saw_cancellation), 1);
    CHECK_INT_EQ(code_of(map), 2);
    /* Nobody has begun the third one. */
    CHECK_INT_EQ(atomic_load(&self.entered), 1);
}

TEST("cancelled, a map and an async settle after what runs, and contexts end before") {
    for (int way = 0; way < 2; way++) {
        job self = {0};
        vow_value item = vow_int(1);
        vow_call call = call_of(&self);
        vow_promise *promise = way == 0 ? vow_map_with(vow_list(&item, 1), work, 0, &call)
                                        : vow_async_with(work, &call);
        CHECK(reaches(&self.entered, 1));
        CHECK(vow_cancel(promise));
        is_pending(promise);
        CHECK_INT_EQ(atomic_load(&self.ends), 0);
        atomic_store(&self.may_end, 1);
        CHECK_INT_EQ(vow_await(promise, VOW_FOREVER, NULL), VOW_REJECTED);
        CHECK_INT_EQ(atomic_load(&self.ends), 1);
        CHECK_INT_EQ(atomic_load(&self.saw_cancellation), 1);
        CHECK_INT_EQ(code_of(promise), VOW_ECANCELLED);
    }
    CHECK(!vow_current_is_cancelled());
}

static bool is_below_3(vow_value state, void *context) {
    (void)context;
    return state.as.integer < 3;
}

static vow_value add(vow_value accumulated, vow_value item, void *context) {
    (void)context;
    return vow_int(accumulated.as.integer + item.as.integer);
}

static vow_value give_attempt(vow_value attempt, void *context) {
    (void)context;
    return attempt.as.integer < 3 ? vow_error("test", 1, "again") : vow_value_retain(attempt);
}

TEST("each call with everything ends its context once, before it settles") {
    vow_handler no_handler = NULL;
    bool (*no_predicate)(vow_value, void *) = NULL;
    job self = {0};
    vow_call call = call_of(&self);
    vow_promise *members[2] = {fulfilled_int(1), fulfilled_int(2)};
    vow_value items[2] = {vow_int(1), vow_int(2)};
    CHECK_INT_EQ(int_of(vow_reduce_with(members, 2, vow_int(4), add, &call)), 7);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
    CHECK_INT_EQ(int_of(vow_repeat_with(vow_int(0), is_below_3, add_one, &call)), 3);
    CHECK_INT_EQ(atomic_load(&self.ends), 2);
    CHECK_INT_EQ(int_of(vow_retry_with(NULL, give_attempt, &call)), 3);
    CHECK_INT_EQ(atomic_load(&self.ends), 3);
    CHECK_INT_EQ(code_of(vow_map_with(vow_list(items, 2), no_handler, 0, &call)), VOW_EINVAL);
    CHECK_INT_EQ(code_of(vow_map_with(vow_int(1), add_one, 0, &call)), VOW_EINVAL);
    CHECK_INT_EQ(code_of(vow_async_with(no_handler, &call)), VOW_EINVAL);
    CHECK_INT_EQ(code_of(vow_retry_with(NULL, no_handler, &call)), VOW_EINVAL);
    CHECK_INT_EQ(code_of(vow_repeat_with(vow_int(0), no_predicate, add_one, &call)), VOW_EINVAL);
    CHECK_INT_EQ(code_of(vow_reduce_with(NULL, 1, vow_int(0), add, &call)), VOW_EINVAL);
    CHECK_INT_EQ(atomic_load(&self.ends), 9);
    vow_retry_policy policy = {.size = 1};
    CHECK_INT_EQ(code_of(vow_retry_with(&policy, give_attempt, &call)), VOW_EINVAL);
    CHECK_INT_EQ(atomic_load(&self.ends), 10);
    call.size = 1;
    CHECK_INT_EQ(code_of(vow_async_with(add_one, &call)), VOW_EINVAL);
    CHECK_INT_EQ(atomic_load(&self.ends), 10);
    vow_promise *map = vow_map_with(vow_list(NULL, 0), add_one, 0, NULL);
    CHECK_INT_EQ(vow_await(map, VOW_FOREVER, NULL), VOW_FULFILLED);
    vow_promise_release(map);
}

TEST("a token cancels calls; one that is cancelled before lets none begin") {
    job jobs[2] = {{0}, {0}};
    vow_cancel_source *source = vow_cancel_source_create();
    vow_call calls[2] = {call_of(&jobs[0]), call_of(&jobs[1])};
    calls[0].token = calls[1].token = vow_cancel_source_token(source);
    vow_value item = vow_int(1);
    vow_promise *promises[2] = {vow_map_with(vow_list(&item, 1), work, 0, &calls[0]),
                                vow_async_with(work, &calls[1])};
    CHECK(reaches(&jobs[0].entered, 1) && reaches(&jobs[1].entered, 1));
    CHECK(vow_cancel_source_cancel_with(source, vow_int(5)));
    atomic_store(&jobs[0].may_end, 1);
    atomic_store(&jobs[1].may_end, 1);
    for (int i = 0; i < 2; i++) {
        vow_value error = vow_none();
        CHECK_INT_EQ(vow_await(promises[i], VOW_FOREVER, &error), VOW_REJECTED);
        CHECK_INT_EQ(vow_error_code(error), VOW_ECANCELLED);
        CHECK_INT_EQ(vow_error_payload(error).as.integer, 5);
        vow_value_release(error);
        vow_promise_release(promises[i]);
        CHECK_INT_EQ(atomic_load(&jobs[i].ends), 1);
    }
    CHECK_INT_EQ(code_of(vow_map_with(vow_list(&item, 1), work, 0, &calls[0])), VOW_ECANCELLED);
    CHECK_INT_EQ(code_of(vow_async_with(work, &calls[1])), VOW_ECANCELLED);
    for (int i = 0; i < 2; i++) {
        CHECK_INT_EQ(atomic_load(&jobs[i].ends), 2);
        CHECK_INT_EQ(atomic_load(&jobs[i].entered), 1);
    }
    vow_cancel_source_release(source);
}

/* A context lives for as long as the promise that its handler returned. */
static vow_value give_promise(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(*(vow_promise **)context);
}

static vow_promise *inner_promise;
static atomic_int inner_ends;

static void end_inner(void *context) {
    (void)context;
    atomic_fetch_add(&inner_ends, 1);
}

TEST("the context of a handler that returned a promise ends when that has settled") {
    for (int way = 0; way < 3; way++) {
        vow_resolver *resolver;
        inner_promise = vow_promise_create(&resolver);
        atomic_store(&inner_ends, 0);
        vow_reaction reaction = {.size = sizeof reaction,
                                 .on_fulfilled = give_promise,
                                 .context = &inner_promise,
                                 .destroy = end_inner,
                                 .executor = vow_executor_inline()};
        vow_promise *promise = vow_promise_retain(vow_then_with(fulfilled_int(1), &reaction));
        vow_promise *adopts = then_inline(fulfilled_int(1), give_promise, &promise);
        CHECK_INT_EQ(atomic_load(&inner_ends), 0);
        if (way == 0) {
            CHECK(vow_resolve(resolver, vow_int(3)));
            CHECK_INT_EQ(int_of(vow_promise_retain(promise)), 3);
            CHECK_INT_EQ(int_of(adopts), 3);
        } else {
            CHECK(vow_cancel(way == 1 ? promise : adopts));
            if (way == 2) {
                is_pending(promise);
                is_pending(adopts);
                CHECK(vow_resolve(resolver, vow_int(3)));
            }
            CHECK_INT_EQ(code_of(adopts), VOW_ECANCELLED);
        }
        CHECK_INT_EQ(atomic_load(&inner_ends), 1);
        vow_promise_release(promise);
        vow_resolver_release(resolver);
    }
}

static vow_value share_promise(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(vow_promise_retain(*(vow_promise **)context));
}

TEST("a returned promise that others hold: why it was cancelled, and what it fails with, is not "
     "lost") {
    for (int fails = 0; fails < 2; fails++) {
        vow_resolver *resolver;
        vow_promise *shared = vow_promise_create(&resolver);
        vow_promise *promise = then_inline(fulfilled_int(1), share_promise, &shared);
        CHECK(vow_cancel_with(promise, vow_error("test", 12, NULL)));
        CHECK(!vow_cancel(promise));
        is_pending(promise);
        if (fails) {
            CHECK(vow_reject(resolver, vow_error("test", 13, NULL)));
            CHECK_INT_EQ(code_of(promise), 13);
        } else {
            CHECK(vow_resolve(resolver, vow_int(3)));
            CHECK_INT_EQ(reason_of(promise), 12);
        }
        vow_promise_release(shared);
        vow_resolver_release(resolver);
    }
}

TEST("a returned promise is cancelled when all who read it are, and its first readers waited") {
    for (int order = 0; order < 2; order++) {
        vow_resolver *resolver;
        int told = 0;
        vow_promise *shared = vow_promise_create(&resolver);
        CHECK_INT_EQ(vow_resolver_on_cancel(resolver, note_told, &told, NULL), 0);
        vow_promise *readers[2];
        for (int at = 0; at < 2; at++) {
            readers[at] = then_inline(fulfilled_int(1), share_promise, &shared);
        }
        vow_promise_release(shared);
        CHECK(vow_cancel(readers[order]));
        is_pending(readers[order]);
        CHECK_INT_EQ(told, 0);
        CHECK(vow_cancel(readers[1 - order]));
        CHECK_INT_EQ(told, 1);
        CHECK_INT_EQ(code_of(readers[0]), VOW_ECANCELLED);
        CHECK_INT_EQ(code_of(readers[1]), VOW_ECANCELLED);
        vow_resolver_release(resolver);
    }
}

/* What a handler may return that ends by itself, or by its producer, whose resolver is the
 * caller's. */
static vow_promise *pending_of(int kind, vow_resolver **resolver) {
    vow_promise *inner, *outer;
    vow_resolver *adopts;
    *resolver = NULL;
    switch (kind) {
    case 0:
        return vow_promise_create(resolver);
    case 1:
        return vow_promise_create_with(resolver, VOW_COOPERATIVE);
    case 2:
        return vow_delay(3600 * SECOND);
    case 3:
        return vow_timeout(vow_promise_create(resolver), 3600 * SECOND);
    case 4:
        inner = vow_promise_create(resolver);
        return vow_all(&inner, 1);
    default:
        outer = vow_promise_create(&adopts);
        CHECK(vow_resolve(adopts, vow_from_promise(vow_promise_create(resolver))));
        vow_resolver_release(adopts);
        return outer;
    }
}

TEST("a returned promise whose last other reader has gone is wanted by nobody, and ends") {
    for (int kind = 0; kind < 6; kind++) {
        vow_resolver *resolver;
        vow_promise *shared = pending_of(kind, &resolver);
        vow_promise *promise = then_inline(fulfilled_int(1), share_promise, &shared);
        CHECK(vow_cancel(promise));
        is_pending(promise);
        vow_promise_release(shared);
        if (kind == 1) {
            is_pending(promise);
            vow_resolver_release(resolver);
            resolver = NULL;
        }
        CHECK_INT_EQ(code_of(promise), VOW_ECANCELLED);
        if (resolver != NULL) {
            vow_resolver_release(resolver);
        }
    }
}

TEST(
    "a finally that is cancelled while others hold what it waits for passes its input's error on") {
    vow_resolver *resolver;
    vow_promise *shared = vow_promise_create(&resolver);
    vow_promise *promise = finally_inline(rejected_code(5), share_promise, &shared);
    CHECK(vow_cancel(promise));
    is_pending(promise);
    CHECK(vow_resolve(resolver, vow_none()));
    CHECK_INT_EQ(code_of(promise), 5);
    vow_promise_release(shared);
    vow_resolver_release(resolver);
}

/* Cancels the promise of its own handler before it returns what waits for that. */
static vow_value share_cancelled(vow_value input, void *context) {
    vow_promise **promises = context;
    CHECK(vow_cancel(promises[0]));
    return share_promise(input, &promises[1]);
}

TEST("a cancelled handler returns what waits for its own promise: the ring ends") {
    vow_resolver *resolver;
    vow_promise *first = vow_promise_create(&resolver);
    vow_promise *promises[2];
    promises[0] = then_inline(first, share_cancelled, promises);
    promises[1] = then_inline(vow_promise_retain(promises[0]), add_one, NULL);
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK_INT_EQ(code_of(promises[0]), VOW_ECANCELLED);
    CHECK_INT_EQ(code_of(promises[1]), VOW_ECANCELLED);
    vow_resolver_release(resolver);
}
