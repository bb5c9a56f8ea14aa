/* Tests G4 and G5: nothing runs where it surprises, and callbacks may call everything. */
#include "worker.h"

static _Thread_local int depth; /* handlers that run on this thread now */

typedef struct scene {
    vow_promise *promise;
    vow_resolver *resolver;
    journal seen;
    counter runs;
    entry entries[4];
} scene;

/* A handler that does everything that it can to the promise on which it was registered. */
static vow_value use_everything(vow_value input, void *context) {
    scene *self = context;
    vow_value out = vow_none();
    CHECK_INT_EQ(vow_promise_state(self->promise), VOW_FULFILLED);
    CHECK(vow_promise_peek(self->promise, &out));
    CHECK_INT_EQ(out.as.integer, 1);
    CHECK(!vow_resolve(self->resolver, vow_int(2)));
    CHECK(!vow_reject(self->resolver, vow_error("test", 2, NULL)));
    CHECK_INT_EQ(vow_await(self->promise, VOW_FOREVER, NULL), VOW_FULFILLED);
    vow_promise_release(then_inline(vow_promise_retain(self->promise), counter_run, &self->runs));
    vow_promise_release(vow_promise_retain(self->promise));
    vow_resolver_release(vow_resolver_retain(self->resolver));
    return vow_value_retain(input);
}

TEST("G5: a handler may call everything on its own promise") {
    vow_executor *executors[3] = {vow_executor_inline(), vow_executor_pool(),
                                  vow_executor_serial("everything")};
    for (int i = 0; i < 3; i++) {
        scene all;
        memset(&all, 0, sizeof all);
        all.promise = vow_promise_create(&all.resolver);
        vow_promise *end =
            then_on(executors[i], vow_promise_retain(all.promise), use_everything, &all);
        CHECK(vow_resolve(all.resolver, vow_int(1)));
        CHECK_INT_EQ(int_of(end), 1);
        CHECK(reaches(&all.runs.runs, 1));
        vow_resolver_release(all.resolver);
        vow_promise_release(all.promise);
    }
    vow_executor_release(executors[2]);
}

static vow_value release_both(vow_value input, void *context) {
    scene *self = context;
    vow_promise_release(self->promise);
    vow_resolver_release(self->resolver);
    atomic_fetch_add(&self->runs.runs, 1);
    CHECK_STR_EQ(vow_string_bytes(input, NULL), "still here");
    return vow_value_retain(input);
}

TEST("G5: a handler may release the last handles of its promise, its input stays") {
    scene all;
    memset(&all, 0, sizeof all);
    all.promise = vow_promise_create(&all.resolver);
    vow_promise_release(then_inline(vow_promise_retain(all.promise), release_both, &all));
    vow_resolver *resolver = vow_resolver_retain(all.resolver);
    CHECK(vow_resolve(resolver, vow_string("still here", 10)));
    CHECK_INT_EQ(atomic_load(&all.runs.runs), 1);
    vow_resolver_release(resolver);
}

static vow_value release_derived(vow_value input, void *context) {
    scene *self = context;
    vow_promise_release(self->promise);
    atomic_fetch_add(&self->runs.runs, 1);
    return vow_value_retain(input);
}

TEST("G5: a handler may release the promise of its own result") {
    scene all;
    memset(&all, 0, sizeof all);
    vow_promise *start = vow_promise_create(&all.resolver);
    all.promise = then_inline(start, release_derived, &all);
    CHECK(vow_resolve(all.resolver, vow_string("text", 4)));
    CHECK_INT_EQ(atomic_load(&all.runs.runs), 1);
    vow_resolver_release(all.resolver);
}

/* Destroys an object by using the promise that lost it, or had it. */
static void scene_object_end(void *pointer) {
    scene *self = pointer;
    CHECK(vow_promise_state(self->promise) != VOW_PENDING);
    CHECK(!vow_resolve(self->resolver, vow_int(3)));
    vow_promise_release(then_inline(vow_promise_retain(self->promise), counter_run, &self->runs));
}

static const vow_class scene_class = {sizeof(vow_class), "scene", scene_object_end, NULL};

TEST("G5: the destructor of a value that lost may use the promise that refused it") {
    scene all;
    memset(&all, 0, sizeof all);
    all.promise = vow_promise_create(&all.resolver);
    CHECK(vow_resolve(all.resolver, vow_int(1)));
    CHECK(!vow_resolve(all.resolver, vow_object(&all, &scene_class)));
    CHECK_INT_EQ(atomic_load(&all.runs.runs), 1);
    vow_resolver_release(all.resolver);
    vow_promise_release(all.promise);
}

static void scene_context_end(void *context) {
    scene *self = context;
    CHECK(!vow_resolve(self->resolver, vow_int(3)));
    vow_promise_release(then_inline(vow_promise_retain(self->promise), counter_run, &self->runs));
    vow_promise_release(self->promise);
    vow_resolver_release(self->resolver);
    atomic_fetch_add(&self->runs.ends, 1);
}

static vow_value return_int(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_int(4);
}

TEST("G5: the destructor of a context may use and release the promise of its reaction") {
    for (int rejects = 0; rejects < 2; rejects++) {
        scene all;
        memset(&all, 0, sizeof all);
        all.promise = vow_promise_create(&all.resolver);
        vow_resolver *resolver = vow_resolver_retain(all.resolver);
        vow_promise *end = link_full(vow_executor_inline(), vow_promise_retain(all.promise),
                                     return_int, NULL, &all, scene_context_end);
        CHECK(rejects ? vow_reject(resolver, vow_error("test", 4, NULL))
                      : vow_resolve(resolver, vow_int(4)));
        vow_resolver_release(resolver);
        CHECK_INT_EQ(atomic_load(&all.runs.ends), 1);
        CHECK_INT_EQ(atomic_load(&all.runs.runs), rejects ? 0 : 1);
        CHECK_INT_EQ(code_of(end), rejects ? 4 : 0);
    }
}

static void hook_that_works(vow_value error, void *context) {
    scene *self = context;
    CHECK_INT_EQ(vow_error_code(error), 5);
    vow_promise_release(then_inline(fulfilled_int(1), counter_run, &self->runs));
    vow_promise *other = vow_promise_with(vow_value_retain(error));
    CHECK_INT_EQ(code_of(other), 5);
    atomic_fetch_add(&self->runs.ends, 1);
}

TEST("G5: the hook for unhandled rejections may make and await promises") {
    scene all;
    memset(&all, 0, sizeof all);
    vow_on_unhandled(hook_that_works, &all);
    vow_promise_release(rejected_code(5));
    vow_on_unhandled(NULL, NULL);
    CHECK_INT_EQ(atomic_load(&all.runs.ends), 1);
    CHECK_INT_EQ(atomic_load(&all.runs.runs), 1);
}

/* An executor whose submit uses the promise that is being settled, and then runs the work. */
static _Thread_local bool inside_submit;

static void busy_submit(void *context, void (*run)(void *work), void *work) {
    scene *self = context;
    inside_submit = true;
    CHECK_INT_EQ(vow_promise_state(self->promise), VOW_FULFILLED);
    CHECK(!vow_resolve(self->resolver, vow_int(3)));
    vow_promise_release(then_inline(vow_promise_retain(self->promise), counter_run, &self->runs));
    run(work);
    inside_submit = false;
}

static const vow_executor_class busy_class = {sizeof(vow_executor_class), busy_submit, NULL, NULL,
                                              0};

static vow_value check_not_in_submit(vow_value input, void *context) {
    CHECK(!inside_submit);
    CHECK_INT_EQ(depth, 0);
    depth++;
    atomic_fetch_add(&((counter *)context)->ends, 1);
    depth--;
    return vow_value_retain(input);
}

TEST("G5: submit may use the same promise, and G4: work that it runs at once is put off") {
    scene all;
    memset(&all, 0, sizeof all);
    vow_executor *busy = vow_executor_custom(&busy_class, &all);
    all.promise = vow_promise_create(&all.resolver);
    for (int i = 0; i < 3; i++) {
        vow_promise_release(
            then_on(busy, vow_promise_retain(all.promise), check_not_in_submit, &all.runs));
    }
    CHECK(vow_resolve(all.resolver, vow_int(1)));
    CHECK_INT_EQ(atomic_load(&all.runs.ends), 3);
    CHECK(atomic_load(&all.runs.runs) >= 1);
    vow_promise_release(
        then_on(busy, vow_promise_retain(all.promise), check_not_in_submit, &all.runs));
    CHECK_INT_EQ(atomic_load(&all.runs.ends), 4);
    vow_resolver_release(all.resolver);
    vow_promise_release(all.promise);
    vow_executor_release(busy);
}

static bool subscribe_and_use(void *pointer, vow_resolver *resolver) {
    scene *self = pointer;
    CHECK_INT_EQ(vow_promise_state(self->promise), VOW_PENDING);
    CHECK(!vow_resolve(self->resolver, vow_int(3)));
    vow_promise_release(then_inline(vow_promise_retain(self->promise), counter_run, &self->runs));
    CHECK(vow_resolve(resolver, vow_int(6)));
    vow_resolver_release(resolver);
    return true;
}

TEST("G5: subscribe may use the promise that follows it") {
    static const vow_class using_class = {sizeof(vow_class), "using", NULL, subscribe_and_use};
    scene all;
    memset(&all, 0, sizeof all);
    all.promise = vow_promise_create(&all.resolver);
    CHECK(vow_resolve(all.resolver, vow_object(&all, &using_class)));
    vow_resolver_release(all.resolver);
    CHECK_INT_EQ(int_of(all.promise), 6);
    CHECK_INT_EQ(atomic_load(&all.runs.runs), 1);
}
