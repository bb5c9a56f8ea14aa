/* Tests what a cancelled link reads, and with what its promise is rejected. */
#include "worker.h"

/* An executor that runs what it has when it is told to. */
typedef struct hand {
    void (*run)(void *work);
    void *work;
} hand;

static void take(void *context, void (*run)(void *work), void *work) {
    hand *self = context;
    CHECK(self->run == NULL);
    *self = (hand){run, work};
}

static void run_taken(hand *self) {
    void (*run)(void *work) = self->run;
    self->run = NULL;
    if (CHECK(run != NULL)) {
        run(self->work);
    }
}

static const vow_executor_class hand_class = {sizeof hand_class, take, NULL, NULL, 0};

static vow_value keep_reason(vow_value input, void *context) {
    *(int64_t *)context = vow_error_payload(input).as.integer;
    return vow_int(1);
}

static vow_value keep_value(vow_value input, void *context) {
    *(int64_t *)context = input.as.integer;
    return vow_none();
}

static vow_value keep_code(vow_value input, void *context) {
    *(int64_t *)context = vow_error_code(input);
    return vow_value_retain(input);
}

static bool is_rejected(vow_promise *promise, int64_t code, int64_t reason) {
    vow_value error = vow_none();
    return CHECK(vow_promise_peek(promise, &error)) && CHECK_INT_EQ(vow_error_code(error), code) &&
           CHECK_INT_EQ(vow_error_payload(error).as.integer, reason);
}

TEST("a handler that its executor has reads why it is cancelled, and its promise says it too") {
    hand executor = {0};
    vow_executor *real = vow_executor_custom(&hand_class, &executor);
    int64_t reason = 0;
    vow_promise *promise = link_full(real, vow_promise_with(vow_error("test", 1, NULL)), NULL,
                                     keep_reason, &reason, NULL);
    CHECK(vow_cancel_with(promise, vow_int(42)));
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    run_taken(&executor);
    CHECK_INT_EQ(reason, 42);
    is_rejected(promise, VOW_ECANCELLED, 42);
    vow_promise_release(promise);
    vow_executor_release(real);
}

/* A handler that answers with a promise. */
typedef struct answer {
    vow_promise *promise;
    int destroyed;
} answer;

static vow_value give_answer(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(vow_promise_retain(((answer *)context)->promise));
}

static void destroy_answer(void *context) {
    ((answer *)context)->destroyed++;
}

TEST("a promise says why it is cancelled also where its handler answers with one that is "
     "fulfilled") {
    for (int with_context = 0; with_context < 2; with_context++) {
        answer given = {vow_promise_with(vow_int(1)), 0};
        vow_resolver *resolver;
        vow_promise *read = vow_promise_create(&resolver);
        vow_promise *promise = link_full(vow_executor_inline(), read, NULL, give_answer, &given,
                                         with_context ? destroy_answer : NULL);
        CHECK(vow_cancel_with(promise, vow_int(42)));
        is_rejected(promise, VOW_ECANCELLED, 42);
        CHECK_INT_EQ(given.destroyed, with_context);
        vow_resolver_release(resolver);
        vow_promise_release(promise);
        vow_promise_release(given.promise);
    }
}

TEST("G15: clean-up for values alone, that its executor has, sees the value, and then no value") {
    hand executor = {0};
    vow_executor *real = vow_executor_custom(&hand_class, &executor);
    int64_t seen = 0;
    vow_reaction reaction = {.size = sizeof reaction, .on_fulfilled = keep_value};
    reaction.context = &seen;
    reaction.executor = real;
    reaction.flags = VOW_FINALLY;
    vow_promise *promise = vow_then_with(vow_promise_with(vow_int(5)), &reaction);
    CHECK(vow_cancel_with(promise, vow_int(42)));
    run_taken(&executor);
    CHECK_INT_EQ(seen, 5);
    is_rejected(promise, VOW_ECANCELLED, 42);
    vow_promise_release(promise);
    vow_executor_release(real);
}

TEST("what a handler upstream rejects with comes down to cancelled links") {
    vow_resolver *resolver;
    int64_t code = 0;
    vow_executor *here = vow_executor_inline();
    vow_promise *promise = vow_promise_create(&resolver);
    promise = link_full(here, promise, NULL, fail_with_7, NULL, NULL);
    promise = link_full(here, promise, NULL, keep_code, &code, NULL);
    CHECK(vow_cancel(promise));
    CHECK_INT_EQ(code, 7);
    is_rejected(promise, 7, 0);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}

/* Its context: a promise that has settled, and is being delivered. */
typedef struct nested {
    vow_promise *promise;
    vow_token *token;
    counter of;
} nested;

static vow_value cancel_late_one(vow_value input, void *context) {
    nested *self = context;
    vow_reaction reaction = {.size = sizeof reaction, .on_fulfilled = counter_run};
    reaction.on_rejected = counter_run;
    reaction.context = &self->of;
    reaction.destroy = counter_end;
    reaction.executor = vow_executor_inline();
    reaction.token = self->token;
    vow_promise *promise = vow_then_with(vow_promise_retain(self->promise), &reaction);
    CHECK(vow_cancel(promise));
    CHECK(!vow_cancel(promise));
    vow_promise_release(promise);
    return vow_value_retain(input);
}

TEST("a link with a token that is cancelled in the queue of what is being delivered runs once") {
    vow_resolver *resolver;
    vow_cancel_source *source = vow_cancel_source_create();
    nested self = {.promise = vow_promise_create(&resolver)};
    self.token = vow_cancel_source_token(source);
    vow_promise *end = link_full(vow_executor_inline(), vow_promise_retain(self.promise),
                                 cancel_late_one, NULL, &self, NULL);
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK_INT_EQ(atomic_load(&self.of.runs), 1);
    CHECK_INT_EQ(atomic_load(&self.of.ends), 1);
    vow_promise_release(end);
    vow_promise_release(self.promise);
    vow_resolver_release(resolver);
    vow_cancel_source_release(source);
}

static void count_report(vow_value error, void *context) {
    CHECK_INT_EQ(vow_error_code(error), 7);
    ++*(int *)context;
}

TEST("a handler of a loser that fails is reported: nobody else sees it") {
    int reports = 0;
    vow_resolver *resolver;
    vow_on_unhandled(count_report, &reports);
    vow_promise *both[2] = {link_full(vow_executor_inline(), vow_promise_create(&resolver), NULL,
                                      fail_with_7, NULL, NULL),
                            vow_promise_with(vow_int(1))};
    vow_promise_release(vow_race(both, 2));
    CHECK_INT_EQ(reports, 1);
    vow_resolver_release(resolver);
    vow_on_unhandled(NULL, NULL);
}
