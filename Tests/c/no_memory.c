/* Tests out of memory: whichever allocation fails, nothing crashes, leaks or is lost. */
#include "meter.h"

/* What a scenario hands to its links: each context and object must end once. */
typedef struct cast {
    counter contexts;
    int given_contexts;
    counter objects;
    int given_objects;
    int64_t code;
} cast;

static vow_promise *cast_link(cast *self, vow_executor *executor, vow_promise *promise,
                              vow_handler fulfilled, vow_handler rejected) {
    self->given_contexts++;
    return link_full(executor, promise, fulfilled, rejected, &self->contexts, counter_end);
}

static vow_value cast_object(cast *self) {
    self->given_objects++;
    return vow_object(&self->objects, &counter_class);
}

static vow_value make_string(vow_value input, void *context) {
    (void)input;
    atomic_fetch_add(&((counter *)context)->runs, 1);
    return vow_string("made by a handler", VOW_NUL_TERMINATED);
}

static vow_value make_promise(vow_value input, void *context) {
    atomic_fetch_add(&((counter *)context)->runs, 1);
    return vow_from_promise(vow_promise_with(vow_value_retain(input)));
}

static void scene_chain(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    promise = cast_link(self, vow_executor_inline(), promise, make_string, NULL);
    promise = cast_link(self, vow_executor_inline(), promise, make_promise, NULL);
    promise = cast_link(self, vow_executor_inline(), promise, counter_run, counter_run);
    vow_resolve(resolver, cast_object(self));
    vow_resolver_release(resolver);
    self->code = code_of(promise);
}

static void scene_values(cast *self) {
    vow_value items[3] = {vow_string("one", 3), cast_object(self), vow_int(3)};
    vow_value list = vow_list(items, 3);
    vow_value error = vow_error_wrap("test", 5, "five", list);
    vow_promise *promise = vow_promise_with(vow_value_retain(error));
    vow_value_release(error);
    self->code = code_of(promise);
    if (self->code == 5) {
        self->code = 0;
    }
}

static void scene_adoption(cast *self) {
    vow_resolver *outer_resolver;
    vow_resolver *inner_resolver;
    vow_promise *outer = vow_promise_create(&outer_resolver);
    vow_promise *inner = vow_promise_create(&inner_resolver);
    outer = cast_link(self, vow_executor_inline(), outer, counter_run, counter_run);
    vow_resolve(outer_resolver, vow_from_promise(inner));
    outer = cast_link(self, vow_executor_inline(), outer, counter_run, counter_run);
    vow_resolve(inner_resolver, cast_object(self));
    vow_resolver_release(outer_resolver);
    vow_resolver_release(inner_resolver);
    self->code = code_of(outer);
}

static bool cast_subscribe(void *pointer, vow_resolver *resolver) {
    (void)pointer;
    vow_resolve(resolver, vow_string("from a thenable", VOW_NUL_TERMINATED));
    vow_resolver_release(resolver);
    return true;
}

static const vow_class cast_thenable = {sizeof(vow_class), "cast", counter_end, cast_subscribe};

static void scene_thenable(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    self->given_objects++;
    vow_resolve(resolver, vow_object(&self->objects, &cast_thenable));
    vow_resolver_release(resolver);
    self->code = code_of(cast_link(self, vow_executor_inline(), promise, counter_run, counter_run));
}

static void scene_executors(cast *self) {
    vow_executor *serial = vow_executor_serial("memory");
    vow_promise *promise = vow_async(serial, add_one, NULL);
    promise = cast_link(self, vow_executor_pool(), promise, counter_run, counter_run);
    promise = cast_link(self, serial, promise, make_string, NULL);
    vow_executor_release(serial);
    self->code = code_of(promise);
}

static void scene_custom(cast *self) {
    worker thread;
    worker_start(&thread);
    vow_executor *executor = vow_executor_custom(&worker_class, &thread);
    vow_promise *promise = fulfilled_int(1);
    promise = cast_link(self, executor, promise, counter_run, counter_run);
    vow_executor_release(executor);
    self->code = code_of(promise);
    CHECK(reaches(&thread.destroyed, 1));
    worker_stop(&thread);
    CHECK_INT_EQ(atomic_load(&thread.destroyed), 1);
}

static void scene_finally(cast *self) {
    vow_resolver *resolver;
    vow_promise *inner = vow_promise_create(&resolver);
    vow_promise *promise = vow_promise_with(vow_from_promise(inner));
    promise = finally_inline(promise, make_promise, &self->contexts);
    vow_resolve(resolver, cast_object(self));
    vow_resolver_release(resolver);
    self->code = code_of(promise);
}

/* Plays a scene with the n-th allocation failing, for every n until none fails any more. */
static void fail_each(void (*scene)(cast *self)) {
    long long tried = 0;
    for (long long n = 1;; n++) {
        cast all;
        memset(&all, 0, sizeof all);
        vow_statistics before = harness_stats();
        atomic_store(&counts.failed, 0);
        atomic_store(&counts.countdown, n);
        scene(&all);
        atomic_store(&counts.countdown, 0);
        bool failed = atomic_load(&counts.failed) > 0;
        CHECK(reaches(&all.contexts.ends, all.given_contexts));
        CHECK(reaches(&all.objects.ends, all.given_objects));
        CHECK_INT_EQ(atomic_load(&all.contexts.ends), all.given_contexts);
        CHECK_INT_EQ(atomic_load(&all.objects.ends), all.given_objects);
        harness_gate(&before);
        /* An executor that could not be made is "none given", and the work is done elsewhere. */
        CHECK(all.code == 0 || (failed && all.code == VOW_ENOMEM));
        if (!failed) {
            CHECK_INT_EQ(all.code, 0);
            break;
        }
        tried++;
        if (atomic_load(&harness_failures) > 0) {
            printf("# while allocation %lld failed, the answer was %" PRId64 "\n", n, all.code);
            break;
        }
    }
    CHECK(tried > 0);
}

TEST("a chain survives the failure of every allocation in it") {
    fail_each(scene_chain);
}

TEST("values survive the failure of every allocation in them") {
    fail_each(scene_values);
}

TEST("adoption survives the failure of every allocation in it") {
    fail_each(scene_adoption);
}

TEST("thenables survive the failure of every allocation in them") {
    fail_each(scene_thenable);
}

TEST("executors survive the failure of every allocation in them") {
    fail_each(scene_executors);
}

TEST("an executor of the program survives the failure of every allocation in it") {
    fail_each(scene_custom);
}

TEST("finally survives the failure of every allocation in it") {
    fail_each(scene_finally);
}

static void hear(double fraction, const char *note, void *context) {
    CHECK(fraction == 0.5 && note == NULL);
    atomic_fetch_add(&((counter *)context)->runs, 1);
}

/* Who has many listeners takes memory to find them by; what else a call takes is its first
 * allocation. */
TEST("where there is no memory to find listeners by, they are found, and what there was is given "
     "back") {
    enum { COUNT = 200 };
    counter ears = {0};
    vow_promise *promises[COUNT];
    vow_resolver *resolvers[COUNT];
    vow_executor_set_default(vow_executor_inline());
    for (int round = 0; round < 2; round++) {
        atomic_store(&counts.failed, 0);
        for (int i = 0; i < COUNT; i++) {
            promises[i] = vow_promise_create(&resolvers[i]);
        }
        long long before = atomic_load(&counts.blocks);
        for (int i = 0; i < COUNT; i++) {
            atomic_store(&counts.countdown, round == 0 ? 2 : 0);
            CHECK_INT_EQ(vow_on_progress(promises[i], 0, hear, &ears, counter_end), 0);
            atomic_store(&counts.countdown, 0);
        }
        CHECK_INT_EQ(atomic_load(&counts.failed) > 0, round == 0);
        CHECK_INT_EQ(atomic_load(&counts.blocks) > before + COUNT, round == 1);
        for (int i = 0; i < COUNT; i++) {
            CHECK_INT_EQ(vow_promise_set_progress(promises[i], 0.5, NULL), 0);
            CHECK_INT_EQ(atomic_load(&ears.runs), round * COUNT + i + 1);
        }
        for (int i = 0; i < COUNT; i++) {
            vow_resolve(resolvers[i], vow_none());
            vow_resolver_release(resolvers[i]);
            vow_promise_release(promises[i]);
        }
        CHECK_INT_EQ(atomic_load(&ears.ends), (round + 1) * COUNT);
        CHECK(keeps_freed || atomic_load(&counts.blocks) == before - COUNT);
    }
    vow_executor_set_default(NULL);
}

TEST("without memory a promise is rejected with VOW_ENOMEM and its resolver ignores everything") {
    counter object = {0};
    vow_resolver *resolver = NULL;
    atomic_store(&counts.countdown, 1);
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(resolver != NULL);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_REJECTED);
    vow_value value = vow_object(&object, &counter_class);
    CHECK(!vow_resolve(vow_resolver_retain(resolver), value));
    CHECK_INT_EQ(atomic_load(&object.ends), 1);
    vow_resolver_release(resolver);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(code_of(vow_promise_retain(promise)), VOW_ENOMEM);
    CHECK_INT_EQ(code_of(catch_inline(promise, counter_run, &object)), VOW_ENOMEM);
    CHECK_INT_EQ(atomic_load(&object.runs), 1);
}

TEST("without memory a value is an error VOW_ENOMEM and consumes what it was given") {
    counter object = {0};
    atomic_store(&counts.countdown, 1);
    vow_value value = vow_object(&object, &counter_class);
    CHECK_INT_EQ(vow_error_code(value), VOW_ENOMEM);
    CHECK_INT_EQ(atomic_load(&object.ends), 1);
    vow_value_release(value);
    vow_value item = vow_object(&object, &counter_class);
    atomic_store(&counts.countdown, 1);
    value = vow_list(&item, 1);
    CHECK_INT_EQ(value.kind, VOW_ERROR);
    CHECK_INT_EQ(vow_error_code(value), VOW_ENOMEM);
    CHECK_INT_EQ(atomic_load(&object.ends), 2);
    vow_value_release(value);
    atomic_store(&counts.countdown, 1);
    value = vow_error("test", 1, "one");
    CHECK_INT_EQ(vow_error_code(value), VOW_ENOMEM);
    CHECK_STR_EQ(vow_error_domain(value), "vow");
    vow_value_release(value);
}
