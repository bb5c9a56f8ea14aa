/* Tests waits inside destructors for what their own thread is about to do (G11). */
#include "meter.h"

/* What a destructor waits for, and the answer. */
typedef struct waiting {
    vow_promise *promise;
    int answer;
    int64_t code;
    int64_t integer;
    int ends;
} waiting;

static void wait_at_end(void *context) {
    waiting *self = context;
    vow_value out = vow_none();
    self->answer = vow_await(self->promise, LONG_ENOUGH, &out);
    self->code = self->answer == (int)VOW_REJECTED ? vow_error_code(out) : 0;
    self->integer = out.kind == VOW_INT ? out.as.integer : 0;
    self->ends++;
    vow_value_release(out);
}

static const vow_class waiting_class = {sizeof(vow_class), "waiting", wait_at_end, NULL};

static void check_refused(vow_executor *executor) {
    waiting self = {NULL, 99, 0, 0, 0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    self.promise = link_full(executor, promise, NULL, add_one, &self, wait_at_end);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(self.ends, 1);
    CHECK_INT_EQ(self.answer, VOW_EDEADLOCK);
    CHECK_INT_EQ(int_of(self.promise), 1);
}

TEST("G11: the destructor of a skipped handler's context may not wait for the result") {
    check_refused(vow_executor_inline());
    check_refused(vow_executor_pool());
}

static vow_value register_a_skipped_one(vow_value input, void *context) {
    waiting *self = context;
    vow_promise *source = vow_promise_with(vow_value_retain(input));
    vow_promise_release(link_full(vow_executor_inline(), source, NULL, add_one, self, wait_at_end));
    return vow_int(7);
}

TEST("a handler's result counts before contexts of others are destroyed, which may wait for it") {
    waiting self = {NULL, 99, 0, 0, 0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    self.promise = then_inline(vow_promise_retain(promise), register_a_skipped_one, &self);
    vow_promise *late =
        link_full(vow_executor_inline(), promise, NULL, add_one, &self, wait_at_end);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(self.ends, 2);
    CHECK_INT_EQ(self.answer, VOW_FULFILLED);
    CHECK_INT_EQ(self.integer, 7);
    CHECK_INT_EQ(int_of(late), 1);
    CHECK_INT_EQ(int_of(self.promise), 7);
}

/* Registers, on the promise that it reads itself, a link that its end will skip. */
typedef struct late_link {
    waiting waits;
    vow_promise *source;
} late_link;

static vow_value register_late(vow_value input, void *context) {
    late_link *self = context;
    (void)input;
    vow_promise_release(link_full(vow_executor_inline(), vow_promise_retain(self->source), NULL,
                                  add_one, &self->waits, wait_at_end));
    return vow_int(7);
}

TEST("so it does when the other was registered late, by the handler itself") {
    late_link self = {{NULL, 99, 0, 0, 0}, NULL};
    vow_resolver *resolver;
    self.source = vow_promise_create(&resolver);
    self.waits.promise = then_inline(vow_promise_retain(self.source), register_late, &self);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(self.waits.ends, 1);
    CHECK_INT_EQ(self.waits.answer, VOW_FULFILLED);
    CHECK_INT_EQ(self.waits.integer, 7);
    vow_promise_release(self.source);
    CHECK_INT_EQ(int_of(self.waits.promise), 7);
}

static bool drop(void *pointer, vow_resolver *resolver) {
    (void)pointer;
    vow_resolver_release(resolver);
    return true;
}

static const vow_class dropping_class = {sizeof(vow_class), "dropping", wait_at_end, drop};

TEST("a thenable that drops its resolver may wait for the broken promise as it is destroyed") {
    waiting self = {NULL, 99, 0, 0, 0};
    vow_resolver *resolver;
    self.promise = vow_promise_create(&resolver);
    CHECK(vow_resolve(resolver, vow_object(&self, &dropping_class)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(self.ends, 1);
    CHECK_INT_EQ(self.answer, VOW_REJECTED);
    CHECK_INT_EQ(self.code, VOW_EBROKEN);
    CHECK_INT_EQ(code_of(self.promise), VOW_EBROKEN);
}

TEST("a payload for which there is no memory may wait for the promise as it is destroyed") {
    waiting self = {NULL, 99, 0, 0, 0};
    vow_resolver *resolver;
    self.promise = vow_promise_create(&resolver);
    vow_value payload = vow_object(&self, &waiting_class);
    atomic_store(&counts.failed, 0);
    atomic_store(&counts.countdown, 1);
    CHECK(vow_reject(resolver, payload));
    CHECK_INT_EQ(atomic_load(&counts.failed), 1);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(self.ends, 1);
    CHECK_INT_EQ(self.answer, VOW_REJECTED);
    CHECK_INT_EQ(self.code, VOW_ENOMEM);
    CHECK_INT_EQ(code_of(self.promise), VOW_ENOMEM);
}

static bool never_asked(void *pointer, vow_resolver *resolver) {
    CHECK(!"a thenable without memory for its resolver is subscribed to");
    return drop(pointer, resolver);
}

static const vow_class unasked_class = {sizeof(vow_class), "unasked", wait_at_end, never_asked};

TEST("a thenable for which there is no memory may wait for the promise as it is destroyed") {
    waiting self = {NULL, 99, 0, 0, 0};
    vow_resolver *resolver;
    self.promise = vow_promise_create(&resolver);
    vow_value thenable = vow_object(&self, &unasked_class);
    atomic_store(&counts.failed, 0);
    atomic_store(&counts.countdown, 1);
    CHECK(vow_resolve(resolver, thenable));
    CHECK_INT_EQ(atomic_load(&counts.failed), 1);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(self.ends, 1);
    CHECK_INT_EQ(self.answer, VOW_REJECTED);
    CHECK_INT_EQ(self.code, VOW_ENOMEM);
    CHECK_INT_EQ(code_of(self.promise), VOW_ENOMEM);
}

/* What the call makes, waited for by its destructor. */
typedef vow_promise *caller(const vow_call *call);

static bool once(vow_value state, void *context) {
    (void)context;
    return state.kind == VOW_NONE;
}

static vow_value give_int(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_int(1);
}

static vow_promise *first_promise; /* what a call begins with, not yet settled */

static vow_promise *by_async(const vow_call *call) {
    return vow_async_with(give_int, call);
}

static vow_promise *by_map(const vow_call *call) {
    vow_value item = vow_int(1);
    return vow_map_with(vow_list(&item, 1), give_int, 0, call);
}

static vow_promise *by_reduce(const vow_call *call) {
    vow_promise *member = vow_promise_retain(first_promise);
    return vow_reduce_with(&member, 1, vow_int(1), fold, call);
}

static vow_promise *by_repeat(const vow_call *call) {
    return vow_repeat_with(vow_none(), once, give_int, call);
}

static vow_promise *by_retry(const vow_call *call) {
    return vow_retry_with(NULL, give_int, call);
}

static vow_promise *by_using(const vow_call *call) {
    return vow_using_with(vow_promise_retain(first_promise), give_int, give_int, call);
}

static caller *const callers[] = {by_async, by_map, by_reduce, by_repeat, by_retry, by_using};

TEST("G11: the destructor of no call's context may wait for its result") {
    for (size_t at = 0; at < sizeof callers / sizeof *callers; at++) {
        waiting self = {NULL, 99, 0, 0, 0};
        vow_loop *loop = vow_loop_create();
        vow_call call = {.size = sizeof call, .context = &self, .destroy = wait_at_end};
        first_promise = vow_promise_with(vow_int(1));
        self.promise = callers[at](&call);
        CHECK_INT_EQ(vow_await(self.promise, LONG_ENOUGH, NULL), VOW_FULFILLED);
        CHECK_INT_EQ(self.ends, 1);
        CHECK_INT_EQ(self.answer, VOW_EDEADLOCK);
        vow_promise_release(self.promise);
        vow_promise_release(first_promise);
        vow_loop_destroy(loop);
    }
}

static vow_value set_waiting(vow_value input, void *context) {
    (void)input;
    vow_context_set(vow_object(context, &waiting_class));
    return vow_int(1);
}

TEST("G11: nor may an object that a handler has set as its context") {
    waiting self = {NULL, 99, 0, 0, 0};
    vow_loop *loop = vow_loop_create();
    vow_value item = vow_int(1);
    self.promise = vow_map(vow_list(&item, 1), set_waiting, &self, 0);
    CHECK_INT_EQ(vow_await(self.promise, LONG_ENOUGH, NULL), VOW_FULFILLED);
    CHECK_INT_EQ(self.answer, VOW_EDEADLOCK);
    vow_promise_release(self.promise);
    self.promise = then_on(vow_loop_executor(loop), fulfilled_int(1), set_waiting, &self);
    CHECK_INT_EQ(int_of(vow_promise_retain(self.promise)), 1);
    CHECK_INT_EQ(self.answer, VOW_EDEADLOCK);
    CHECK_INT_EQ(self.ends, 2);
    vow_promise_release(self.promise);
    vow_loop_destroy(loop);
}
