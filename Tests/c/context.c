/* Tests chapter 11: the context that travels along a chain. */
#include "worker.h"

static vow_value give_context(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_value_retain(vow_context_get());
}

TEST("a reaction runs with the context that was set where it was made") {
    vow_executor *serial = vow_executor_serial("context");
    vow_executor *executors[3] = {vow_executor_inline(), vow_executor_pool(), serial};
    for (int i = 0; i < 3; i++) {
        vow_resolver *resolver;
        vow_context_set(vow_int(7));
        vow_promise *promise =
            then_on(executors[i], vow_promise_create(&resolver), give_context, NULL);
        vow_promise *rejected =
            link_full(executors[i], rejected_code(1), NULL, give_context, NULL, NULL);
        vow_promise *both = vow_finally(fulfilled_int(3), give_context, NULL);
        vow_context_set(vow_none());
        CHECK(vow_resolve(resolver, vow_int(1)));
        CHECK_INT_EQ(int_of(promise), 7);
        CHECK_INT_EQ(int_of(rejected), 7);
        CHECK_INT_EQ(int_of(both), 3);
        vow_resolver_release(resolver);
    }
    vow_executor_release(serial);
}

static vow_value make_link(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_from_promise(vow_then(fulfilled_int(1), give_context, NULL));
}

TEST("it travels on to what handlers make, and async work has it") {
    vow_context_set(vow_int(8));
    vow_promise *promise = vow_then(fulfilled_int(1), make_link, NULL);
    vow_promise *work = vow_async(NULL, give_context, NULL);
    vow_context_set(vow_none());
    CHECK_INT_EQ(int_of(promise), 8);
    CHECK_INT_EQ(int_of(work), 8);
}

/* What a handler has put into the travelling context looks, when it ends, for the handler's
 * promise. */
typedef struct leftover {
    vow_promise *promise;
    vow_state found;
} leftover;

static void look_for_result(void *pointer) {
    leftover *self = pointer;
    self->found = vow_promise_state(self->promise);
}

static const vow_class leftover_class = {sizeof(vow_class), "leftover", look_for_result, NULL};

static vow_value leave_one(vow_value input, void *context) {
    (void)input;
    vow_context_set(vow_object(context, &leftover_class));
    return vow_int(1);
}

static vow_value leave_one_and_return_text(vow_value input, void *context) {
    (void)leave_one(input, context);
    return vow_string("text", 4);
}

TEST("what a handler leaves in the context is released before its result counts") {
    vow_executor *serial = vow_executor_serial("context");
    vow_executor *executors[3] = {vow_executor_inline(), vow_executor_pool(), serial};
    vow_handler handlers[2] = {leave_one, leave_one_and_return_text};
    for (int i = 0; i < 12; i++) {
        /* With and without a context of the reaction's own. */
        leftover left = {NULL, VOW_REJECTED};
        vow_resolver *resolver;
        vow_context_set(i % 4 < 2 ? vow_none() : vow_int(5));
        vow_promise *start = vow_promise_create(&resolver);
        left.promise = then_on(executors[i % 3], vow_promise_retain(start), handlers[i % 2], &left);
        vow_context_set(vow_none());
        CHECK(vow_resolve(resolver, vow_int(0)));
        CHECK_INT_EQ(vow_await(left.promise, LONG_ENOUGH, NULL), VOW_FULFILLED);
        CHECK_INT_EQ(left.found, VOW_PENDING);
        vow_promise_release(left.promise);
        vow_promise_release(start);
        vow_resolver_release(resolver);
    }
    vow_executor_release(serial);
}

/* What the combinators' functions find as context, and leave there: an object, in turn with others.
 */
typedef struct looker {
    int64_t expected; /* 0: none */
    atomic_int calls, wrong;
    counter left;
} looker;

static void look_and_leave(looker *it) {
    vow_value here = vow_context_get();
    atomic_fetch_add(&it->calls, 1);
    bool good = it->expected == 0 ? here.kind == VOW_NONE
                                  : here.kind == VOW_INT && here.as.integer == it->expected;
    if (!good) {
        atomic_fetch_add(&it->wrong, 1);
    }
    vow_context_set(vow_object(&it->left, &counter_class));
}

static bool look_below_three(vow_value state, void *context) {
    look_and_leave(context);
    return state.as.integer < 3;
}

static vow_value look_and_add(vow_value state, void *context) {
    look_and_leave(context);
    return vow_int(state.as.integer + 1);
}

static vow_value look_and_sum(vow_value sum, vow_value item, void *context) {
    look_and_leave(context);
    return vow_int(sum.as.integer + item.as.integer);
}

static vow_value look_and_fail(vow_value attempt, void *context) {
    look_and_leave(context);
    return attempt.as.integer < 3 ? vow_error("test", 1, "again") : vow_int(attempt.as.integer);
}

static bool look_and_allow(vow_value error, void *context) {
    (void)error;
    look_and_leave(context);
    return true;
}

TEST("each function of a combinator begins with the context that was set where that was made") {
    vow_executor *executors[2] = {vow_executor_inline(), vow_executor_pool()};
    for (int i = 0; i < 4; i++) {
        looker it = {.expected = i % 2 == 0 ? 0 : 7};
        vow_executor_set_default(executors[i / 2]);
        vow_context_set(i % 2 == 0 ? vow_none() : vow_int(7));
        vow_promise *repeated = vow_repeat(vow_int(0), look_below_three, look_and_add, &it);
        vow_value numbers[3] = {vow_int(1), vow_int(2), vow_int(3)};
        vow_promise *mapped = vow_map(vow_list(numbers, 3), look_and_add, &it, 1);
        vow_promise *members[2] = {fulfilled_int(1), fulfilled_int(2)};
        vow_promise *sum = vow_reduce(members, 2, vow_int(0), look_and_sum, &it);
        vow_retry_policy policy = {
            .size = sizeof policy, .attempts = 3, .may_retry = look_and_allow};
        vow_promise *retried = vow_retry(&policy, look_and_fail, &it);
        vow_context_set(vow_none());
        vow_executor_set_default(NULL);
        CHECK_INT_EQ(int_of(repeated), 3);
        CHECK_INT_EQ(vow_await(mapped, LONG_ENOUGH, NULL), VOW_FULFILLED);
        vow_promise_release(mapped);
        CHECK_INT_EQ(int_of(sum), 3);
        CHECK_INT_EQ(int_of(retried), 3);
        CHECK_INT_EQ(atomic_load(&it.calls), 7 + 3 + 2 + 5);
        CHECK_INT_EQ(atomic_load(&it.wrong), 0);
        CHECK_INT_EQ(atomic_load(&it.left.ends), atomic_load(&it.calls));
    }
}

/* Functions that note the context they see. */
static atomic_int seen[8];

static void note_context(void *place) {
    int64_t context = -1;
    (void)vow_as_int(vow_context_get(), &context);
    atomic_store(&seen[(intptr_t)place], (int)context);
    vow_context_set(vow_int(55));
}

static void note_progress_context(double fraction, const char *note, void *place) {
    (void)fraction;
    (void)note;
    note_context(place);
}

TEST("what is told and destroyed sees the context of who registered, not of who calls") {
    vow_resolver *resolvers[3];
    vow_promise *promises[3];
    vow_executor *executor = vow_executor_inline();
    vow_cancel_source *source = vow_cancel_source_create();
    void *places[8];
    for (intptr_t i = 0; i < 8; i++) {
        places[i] = (void *)i;
        atomic_store(&seen[i], 0);
    }
    for (int i = 0; i < 3; i++) {
        promises[i] = vow_promise_create(&resolvers[i]);
    }
    vow_context_set(vow_int(7));
    vow_token *token = vow_cancel_source_token(source);
    CHECK_INT_EQ(vow_token_on_cancel(token, note_context, places[0], NULL), 0);
    CHECK_INT_EQ(vow_resolver_on_cancel(resolvers[0], note_context, places[1], note_context), 0);
    vow_call listens = {.size = sizeof listens,
                        .context = places[2],
                        .destroy = note_context,
                        .executor = executor};
    CHECK_INT_EQ(vow_on_progress_with(promises[1], 0, note_progress_context, &listens), 0);
    vow_promise *skipped = link_full(executor, vow_promise_retain(promises[2]), NULL, add_one,
                                     places[3], note_context);
    vow_call call = {
        .size = sizeof call, .context = places[4], .destroy = note_context, .executor = executor};
    vow_value item = vow_int(1);
    vow_promise *mapped = vow_map_with(vow_list(&item, 1), make_link, 1, &call);
    vow_context_set(vow_int(99));
    CHECK(vow_cancel_source_cancel(source));
    CHECK(vow_cancel(promises[0]));
    vow_resolver_set_progress(resolvers[1], 0.5, NULL);
    CHECK_INT_EQ(atomic_load(&seen[2]), 7);
    atomic_store(&seen[2], 0);
    CHECK(vow_resolve(resolvers[2], vow_int(1)));
    CHECK_INT_EQ(int_of(skipped), 1);
    CHECK_INT_EQ(code_of(mapped), 0);
    for (int i = 0; i < 3; i++) {
        vow_promise_release(promises[i]);
        vow_resolver_release(resolvers[i]);
    }
    for (int i = 0; i < 5; i++) {
        CHECK_INT_EQ(atomic_load(&seen[i]), 7);
    }
    /* What they set has ended with them. */
    int64_t context = 0;
    CHECK(vow_as_int(vow_context_get(), &context));
    CHECK_INT_EQ(context, 99);
    vow_context_set(vow_none());
    vow_cancel_source_release(source);
}
