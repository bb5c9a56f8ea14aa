/* vow_using: what was acquired is released, however the use ends. */
#include "tools.h"

/* A resource that counts how often it is acquired, used and released. */
typedef struct pool {
    atomic_int acquired;
    atomic_int used;
    atomic_int released;
    atomic_int contexts;
    vow_promise *answer;  /* of the use, owned until then; NULL: the resource */
    vow_promise *release; /* what releasing waits for, owned until then; NULL: nothing */
    vow_value end;        /* what releasing returns else */
    int ended;            /* how the use has ended, and with what */
    int64_t code;
} pool;

static vow_value ended_inside(vow_value input, void *context) {
    (void)input;
    vow_value outcome = vow_int(1);
    CHECK_INT_EQ(vow_using_ended(&outcome), VOW_EINVAL);
    CHECK_INT_EQ(outcome.kind, VOW_NONE);
    atomic_fetch_add((atomic_int *)context, 1);
    return vow_none();
}

static vow_value use_it(vow_value input, void *context) {
    pool *self = context;
    CHECK_INT_EQ(input.kind, VOW_INT);
    atomic_fetch_add(&self->used, 1);
    CHECK_INT_EQ(atomic_load(&self->released), 0);
    CHECK_INT_EQ(atomic_load(&self->contexts), 0);
    if (self->answer != NULL) {
        vow_promise *answer = self->answer;
        self->answer = NULL;
        return vow_from_promise(answer);
    }
    return vow_int(input.as.integer + 1);
}

static vow_value release_it(vow_value input, void *context) {
    pool *self = context;
    CHECK_INT_EQ(input.kind, VOW_INT);
    atomic_fetch_add(&self->released, 1);
    CHECK(!vow_current_is_cancelled());
    vow_value outcome;
    self->ended = vow_using_ended(&outcome);
    CHECK_INT_EQ(vow_using_ended(NULL), self->ended);
    self->code = outcome.kind == VOW_INT ? outcome.as.integer : vow_error_code(outcome);
    if (self->release != NULL) {
        vow_promise *release = self->release;
        self->release = NULL;
        return vow_from_promise(release);
    }
    return self->end;
}

static void forget_pool(void *context) {
    atomic_fetch_add(&((pool *)context)->contexts, 1);
}

static bool was(pool *self, int used, int released, int contexts) {
    return CHECK_INT_EQ(atomic_load(&self->used), used) &&
           CHECK_INT_EQ(atomic_load(&self->released), released) &&
           CHECK_INT_EQ(atomic_load(&self->contexts), contexts);
}

static vow_promise *use_inline(vow_promise *resource, pool *self) {
    vow_call call = {.size = sizeof call,
                     .context = self,
                     .destroy = forget_pool,
                     .executor = vow_executor_inline()};
    return vow_using_with(resource, use_it, release_it, &call);
}

TEST("the outcome is the use's, and comes after the release and the context's end") {
    pool self = {0};
    vow_promise *promise = use_inline(fulfilled_int(1), &self);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_FULFILLED);
    was(&self, 1, 1, 1);
    CHECK_INT_EQ(self.ended, VOW_FULFILLED);
    CHECK_INT_EQ(self.code, 2);
    CHECK_INT_EQ(int_of(promise), 2);
}

TEST("a use that fails is released, and its error stays") {
    pool self = {.answer = rejected_code(7)};
    CHECK_INT_EQ(code_of(use_inline(fulfilled_int(1), &self)), 7);
    was(&self, 1, 1, 1);
    CHECK_INT_EQ(self.ended, VOW_REJECTED);
    CHECK_INT_EQ(self.code, 7);
}

static vow_value release_with_handler(vow_value input, void *context) {
    vow_promise_release(catch_inline(rejected_code(1), ended_inside, context));
    vow_promise *inner = vow_async(vow_executor_pool(), ended_inside, context);
    CHECK_INT_EQ(vow_await(inner, LONG_ENOUGH, NULL), VOW_FULFILLED);
    vow_promise_release(inner);
    CHECK_INT_EQ(vow_using_ended(NULL), VOW_FULFILLED);
    (void)input;
    return vow_none();
}

TEST("how a use has ended is told to its release alone") {
    atomic_int asked = 0;
    ended_inside(vow_none(), &asked);
    vow_call call = {.size = sizeof call, .context = &asked, .executor = vow_executor_inline()};
    vow_promise *use = vow_using_with(fulfilled_int(1), ended_inside, release_with_handler, &call);
    CHECK_INT_EQ(code_of(use), 0);
    CHECK_INT_EQ(asked, 4);
}

TEST("a release is waited for; when it fails, it rejects a success") {
    vow_resolver *resolver;
    pool self = {0};
    self.release = vow_promise_create(&resolver);
    vow_promise *promise = use_inline(fulfilled_int(1), &self);
    was(&self, 1, 1, 0);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    CHECK(vow_resolve(resolver, vow_none()));
    CHECK_INT_EQ(int_of(promise), 2);
    was(&self, 1, 1, 1);
    vow_resolver_release(resolver);
    pool bad = {.end = vow_error("test", 9, "cannot be released")};
    CHECK_INT_EQ(code_of(use_inline(fulfilled_int(1), &bad)), 9);
}

static int reported;

static void note_reported(vow_value error, void *context) {
    (void)context;
    reported = (int)vow_error_code(error);
}

TEST("beside another error, a failing release is reported") {
    vow_on_unhandled(note_reported, NULL);
    pool self = {.answer = rejected_code(7), .end = vow_error("test", 9, "cannot be released")};
    CHECK_INT_EQ(code_of(use_inline(fulfilled_int(1), &self)), 7);
    CHECK_INT_EQ(reported, 9);
    reported = 0;
    vow_resolver *resolver;
    pool cancelled = {.end = vow_error("test", 8, "cannot be released")};
    cancelled.answer = vow_promise_create(&resolver);
    vow_promise *promise = use_inline(fulfilled_int(1), &cancelled);
    CHECK(vow_cancel(promise));
    CHECK_INT_EQ(code_of(promise), VOW_ECANCELLED);
    CHECK_INT_EQ(reported, 8);
    vow_resolver_release(resolver);
    vow_on_unhandled(NULL, NULL);
}

TEST("a resource that is rejected rejects, and nothing runs") {
    pool self = {0};
    CHECK_INT_EQ(code_of(use_inline(rejected_code(4), &self)), 4);
    was(&self, 0, 0, 1);
}

static void note_told(void *context) {
    *(int *)context += 1;
}

TEST("cancelled before it is acquired: the producer is told, and nothing runs") {
    vow_resolver *resolver;
    pool self = {0};
    int told = 0;
    vow_promise *resource = vow_promise_create(&resolver);
    CHECK_INT_EQ(vow_resolver_on_cancel(resolver, note_told, &told, NULL), 0);
    vow_promise *promise = use_inline(resource, &self);
    CHECK(vow_cancel(promise));
    CHECK(!vow_cancel(promise));
    CHECK_INT_EQ(told, 1);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_REJECTED);
    CHECK_INT_EQ(code_of(promise), VOW_ECANCELLED);
    was(&self, 0, 0, 1);
    vow_resolver_release(resolver);
}

TEST("acquired in spite of the cancellation, it is released without being used") {
    vow_resolver *resolver;
    pool self = {0};
    vow_promise *resource = vow_promise_create(&resolver);
    vow_promise *promise = use_inline(vow_promise_retain(resource), &self);
    CHECK(vow_cancel(promise));
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    CHECK_INT_EQ(vow_promise_state(resource), VOW_PENDING);
    CHECK(vow_resolve(resolver, vow_int(5)));
    was(&self, 0, 1, 1);
    CHECK_INT_EQ(self.ended, VOW_PENDING);
    CHECK_INT_EQ(code_of(promise), VOW_ECANCELLED);
    vow_promise_release(resource);
    vow_resolver_release(resolver);
}

TEST("cancelled while it is used: the use is cancelled, the release is not") {
    vow_resolver *resolver, *releasing;
    pool self = {0};
    int told = 0;
    self.answer = vow_promise_create(&resolver);
    CHECK_INT_EQ(vow_resolver_on_cancel(resolver, note_told, &told, NULL), 0);
    self.release = vow_promise_create(&releasing);
    vow_promise *promise = use_inline(fulfilled_int(1), &self);
    CHECK(vow_cancel(promise));
    CHECK_INT_EQ(told, 1);
    was(&self, 1, 1, 0);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    CHECK_INT_EQ(self.ended, VOW_REJECTED);
    CHECK_INT_EQ(self.code, VOW_ECANCELLED);
    CHECK(vow_resolve(releasing, vow_none()));
    CHECK_INT_EQ(code_of(promise), VOW_ECANCELLED);
    was(&self, 1, 1, 1);
    vow_resolver_release(resolver);
    vow_resolver_release(releasing);
}

TEST("cancelled while it is released: that goes on to its end") {
    vow_resolver *releasing;
    pool self = {0};
    int told = 0;
    self.release = vow_promise_create(&releasing);
    CHECK_INT_EQ(vow_resolver_on_cancel(releasing, note_told, &told, NULL), 0);
    vow_promise *promise = use_inline(fulfilled_int(1), &self);
    CHECK(vow_cancel(promise));
    CHECK_INT_EQ(told, 0);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    CHECK(vow_resolve(releasing, vow_none()));
    CHECK_INT_EQ(code_of(promise), VOW_ECANCELLED);
    was(&self, 1, 1, 1);
    vow_resolver_release(releasing);
}

TEST("a time-out and a token release it, too") {
    vow_loop *loop = vow_loop_create_virtual();
    vow_resolver *resolver;
    pool self = {0};
    self.answer = vow_promise_create(&resolver);
    vow_promise *promise =
        vow_timeout(vow_using(fulfilled_int(1), use_it, release_it, &self, forget_pool), SECOND);
    CHECK_INT_EQ(code_of(promise), VOW_ETIMEDOUT);
    while (vow_loop_run_once(loop, 0) > 0) {
    }
    was(&self, 1, 1, 1);
    vow_resolver_release(resolver);
    vow_cancel_source *source = vow_cancel_source_create();
    pool other = {0};
    other.answer = vow_promise_create(&resolver);
    vow_call call = {.size = sizeof call,
                     .context = &other,
                     .destroy = forget_pool,
                     .token = vow_cancel_source_token(source)};
    promise = vow_using_with(fulfilled_int(1), use_it, release_it, &call);
    while (vow_loop_run_once(loop, 0) > 0) {
    }
    was(&other, 1, 0, 0);
    CHECK(vow_cancel_source_cancel(source));
    CHECK_INT_EQ(code_of(promise), VOW_ECANCELLED);
    was(&other, 1, 1, 1);
    pool late = {0};
    call.context = &late;
    CHECK_INT_EQ(code_of(vow_using_with(fulfilled_int(1), use_it, release_it, &call)),
                 VOW_ECANCELLED);
    was(&late, 0, 1, 1);
    vow_resolver_release(resolver);
    vow_cancel_source_release(source);
    vow_loop_destroy(loop);
}

/* What acquires on the pool, and waits there until it may come. */
typedef struct acquiring {
    pool in;
    atomic_int inside;
    atomic_int may_come;
    atomic_int heard; /* whether it was asked to stop, while it ran */
} acquiring;

static vow_value acquire(vow_value input, void *context) {
    acquiring *self = context;
    (void)input;
    atomic_store(&self->inside, 1);
    CHECK(reaches(&self->may_come, 1));
    atomic_store(&self->heard, vow_current_is_cancelled());
    atomic_fetch_add(&self->in.acquired, 1);
    return vow_int(1);
}

static vow_value acquire_later(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(vow_async(vow_executor_pool(), acquire, context));
}

static vow_value acquire_sum(vow_value sum, vow_value item, void *context) {
    (void)sum;
    return acquire(item, context);
}

static vow_promise **one_member(void) {
    static vow_promise *member;
    member = fulfilled_int(1);
    return &member;
}

static bool first_time(vow_value state, void *context) {
    (void)context;
    return state.kind == VOW_NONE;
}

static vow_value give_back_as_it_is(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_none();
}

/* Each way to come by a resource whose handler runs. */
static vow_promise *acquired_by(int way, acquiring *self) {
    vow_executor *pool = vow_executor_pool();
    vow_retry_policy policy = {.size = sizeof policy, .attempts = 3};
    vow_call call = {
        .size = sizeof call, .context = self, .executor = way % 2 ? pool : vow_executor_inline()};
    switch (way) {
    case 0:
        return vow_async(pool, acquire, self);
    case 1:
        return then_on(pool, fulfilled_int(1), acquire, self);
    case 2:
        return vow_shield(vow_async(pool, acquire, self));
    case 3:
        return vow_retry(&policy, acquire, self);
    case 4:
        return vow_retry_with(&policy, acquire_later, &call);
    case 5:
        return then_on(pool, fulfilled_int(1), acquire_later, self);
    case 6:
        return catch_inline(vow_async(pool, acquire, self), give_code, NULL);
    case 7:
        return catch_inline(rejected_code(3), acquire_later, self);
    case 8:
        return finally_inline(vow_async(pool, acquire, self), add_one, NULL);
    case 9:
        return vow_timeout(vow_async(pool, acquire, self), 3600 * SECOND);
    case 10:
        return vow_repeat(vow_none(), first_time, acquire, self);
    case 11:
        return vow_reduce(one_member(), 1, vow_int(0), acquire_sum, self);
    default:
        /* The use of another one acquires it. */
        return vow_using(fulfilled_int(1), acquire, give_back_as_it_is, self, NULL);
    }
}

#define WAYS 13

TEST("G15: cancelled while its resource's handler runs, what comes all the same is released") {
    for (int way = 0; way < WAYS; way++) {
        for (int by = 0; by < 4; by++) {
            acquiring self = {0};
            vow_cancel_source *source = vow_cancel_source_create();
            vow_scope *scope = vow_scope_create();
            vow_call call = {.size = sizeof call,
                             .context = &self.in,
                             .destroy = forget_pool,
                             .executor = vow_executor_inline(),
                             .token = vow_cancel_source_token(source)};
            vow_promise *promise =
                vow_using_with(acquired_by(way, &self), use_it, release_it, &call);
            CHECK(reaches(&self.inside, 1));
            if (by == 0) {
                CHECK(vow_cancel(promise));
            } else if (by == 1) {
                CHECK(vow_cancel_source_cancel(source));
            } else if (by == 2) {
                /* By this thread, which has cancelled the promise when it comes back. */
                vow_loop *loop = vow_loop_create();
                vow_promise *limited = vow_timeout(promise, MILLISECOND);
                CHECK_INT_EQ(vow_loop_run_until(loop, limited, LONG_ENOUGH), VOW_REJECTED);
                CHECK_INT_EQ(code_of(limited), VOW_ETIMEDOUT);
                vow_loop_destroy(loop);
            } else {
                CHECK_INT_EQ(vow_scope_add(scope, vow_promise_retain(promise)), 0);
                vow_scope_cancel(scope);
            }
            if (by != 2) {
                CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
            }
            atomic_store(&self.may_come, 1);
            if (by == 2) {
                CHECK(reaches(&self.in.contexts, 1));
            } else {
                CHECK_INT_EQ(code_of(promise), VOW_ECANCELLED);
            }
            if (!was(&self.in, 0, 1, 1)) {
                printf("# way %d, by %d\n", way, by);
            }
            CHECK_INT_EQ(atomic_load(&self.in.acquired), 1);
            /* A shield keeps it from hearing. */
            CHECK_INT_EQ(atomic_load(&self.heard), way != 2);
            vow_cancel_source_release(source);
            vow_scope_release(scope);
        }
    }
}

TEST("cancelled while a permit is waited for before the resource: the line is left at once") {
    vow_resolver *permit;
    pool self = {0};
    int told = 0;
    vow_promise *line = vow_promise_create(&permit);
    CHECK_INT_EQ(vow_resolver_on_cancel(permit, note_told, &told, NULL), 0);
    vow_promise *promise = use_inline(then_inline(line, add_one, NULL), &self);
    CHECK(vow_cancel(promise));
    CHECK_INT_EQ(told, 1);
    CHECK_INT_EQ(code_of(promise), VOW_ECANCELLED);
    was(&self, 0, 0, 1);
    vow_resolver_release(permit);
}

TEST("a cooperative producer that is cancelled gives its value, or a promise of it, to the "
     "release") {
    for (int later = 0; later < 2; later++) {
        vow_resolver *resolver, *inner = NULL;
        pool self = {0};
        int told = 0;
        vow_promise *resource = vow_promise_create_with(&resolver, VOW_COOPERATIVE);
        CHECK_INT_EQ(vow_resolver_on_cancel(resolver, note_told, &told, NULL), 0);
        vow_promise *promise = use_inline(resource, &self);
        CHECK(vow_cancel(promise));
        CHECK_INT_EQ(told, 1);
        if (later) {
            vow_value value = vow_from_promise(vow_promise_create_with(&inner, VOW_COOPERATIVE));
            CHECK_INT_EQ(vow_resolver_on_cancel(inner, note_told, &told, NULL), 0);
            CHECK(vow_resolve(resolver, value));
            /* It is asked in turn. */
            CHECK_INT_EQ(told, 2);
            was(&self, 0, 0, 0);
        }
        CHECK(vow_resolve(later ? inner : resolver, vow_int(5)));
        was(&self, 0, 1, 1);
        CHECK_INT_EQ(code_of(promise), VOW_ECANCELLED);
        vow_resolver_release(resolver);
        if (later) {
            vow_resolver_release(inner);
        }
    }
}

TEST("wrong arguments of vow_using") {
    vow_promise *no_resource = NULL;
    vow_handler no_handler = NULL;
    pool self = {0};
    CHECK_INT_EQ(code_of(vow_using(no_resource, use_it, release_it, &self, forget_pool)),
                 VOW_EINVAL);
    CHECK_INT_EQ(code_of(vow_using(fulfilled_int(1), no_handler, release_it, &self, forget_pool)),
                 VOW_EINVAL);
    CHECK_INT_EQ(code_of(vow_using(fulfilled_int(1), use_it, no_handler, &self, forget_pool)),
                 VOW_EINVAL);
    was(&self, 0, 0, 3);
    vow_call call = {.size = 1, .context = &self, .destroy = forget_pool};
    CHECK_INT_EQ(code_of(vow_using_with(fulfilled_int(1), use_it, release_it, &call)), VOW_EINVAL);
    was(&self, 0, 0, 3);
    CHECK_INT_EQ(int_of(vow_using_with(fulfilled_int(1), add_one, add_one, NULL)), 2);
}

static vow_value use_it_often(vow_value input, void *context) {
    atomic_fetch_add(&((pool *)context)->used, 1);
    return vow_value_retain(input);
}

/* Cancelled by another thread at every moment: what was acquired is released. */
static void *cancel_it(void *promise) {
    vow_cancel(promise);
    vow_promise_release(promise);
    return NULL;
}

TEST("cancelled by another thread at any moment: acquired = released") {
    int rounds = many_of(3000, 100000);
    pool self = {0};
    for (int i = 0; i < rounds; i++) {
        vow_resolver *resolver;
        vow_promise *promise =
            vow_using(vow_promise_create(&resolver), use_it_often, release_it, &self, NULL);
        pthread_t thread = start_thread(cancel_it, vow_promise_retain(promise));
        for (int spin = i % 64; spin > 0; spin--) {
            sched_yield();
        }
        if (vow_resolve(resolver, vow_int(1))) {
            atomic_fetch_add(&self.acquired, 1);
        }
        vow_resolver_release(resolver);
        pthread_join(thread, NULL);
        vow_await(promise, VOW_FOREVER, NULL);
        CHECK_INT_EQ(atomic_load(&self.released), atomic_load(&self.acquired));
        vow_promise_release(promise);
    }
    printf("# acquired %d, used %d, released %d\n", atomic_load(&self.acquired),
           atomic_load(&self.used), atomic_load(&self.released));
}
