/* Tests chapter 9, tokens: one switch for many reactions. */
#include "worker.h"

static void hook_called(void *context) {
    atomic_fetch_add(&((counter *)context)->runs, 1);
}

static bool ran(counter *of, int runs, int ends) {
    return CHECK_INT_EQ(atomic_load(&of->runs), runs) && CHECK_INT_EQ(atomic_load(&of->ends), ends);
}

/* A link (promise consumed) that belongs to a token. */
static vow_promise *linked(vow_executor *executor, vow_promise *promise, vow_handler fulfilled,
                           vow_handler rejected, counter *of, vow_token *token) {
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = fulfilled;
    reaction.on_rejected = rejected;
    reaction.context = of;
    reaction.destroy = counter_end;
    reaction.executor = executor;
    reaction.token = token;
    return vow_then_with(promise, &reaction);
}

static vow_value give_code_counted(vow_value input, void *context) {
    atomic_fetch_add(&((counter *)context)->runs, 1);
    return vow_int(vow_error_code(input));
}

TEST("a token cancels its reactions: the promise upstream is left alone") {
    vow_resolver *resolver;
    counter success = {0}, failure = {0}, told = {0};
    vow_cancel_source *source = vow_cancel_source_create();
    vow_token *token = vow_cancel_source_token(source);
    vow_promise *upstream = vow_promise_create(&resolver);
    vow_executor *in = vow_executor_inline();
    CHECK_INT_EQ(vow_resolver_on_cancel(resolver, hook_called, &told, counter_end), 0);
    vow_promise *one = linked(in, vow_promise_retain(upstream), counter_run, NULL, &success, token);
    vow_promise *two =
        linked(in, vow_promise_retain(upstream), NULL, give_code_counted, &failure, token);
    CHECK(!vow_token_is_cancelled(token));
    CHECK(vow_cancel_source_cancel(source));
    CHECK(vow_token_is_cancelled(token));
    CHECK(!vow_cancel_source_cancel(source));
    CHECK_INT_EQ(code_of(one), VOW_ECANCELLED);
    CHECK_INT_EQ(code_of(two), VOW_ECANCELLED);
    ran(&success, 0, 1);
    ran(&failure, 1, 1);
    CHECK_INT_EQ(vow_promise_state(upstream), VOW_PENDING);
    ran(&told, 0, 0);
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK_INT_EQ(int_of(upstream), 1);
    vow_resolver_release(resolver);
    vow_cancel_source_release(source);
}

TEST("a token that is cancelled cancels what is made with it, whatever the promise") {
    counter success = {0}, failure = {0};
    vow_resolver *resolver;
    vow_cancel_source *source = vow_cancel_source_create();
    vow_token *token = vow_cancel_source_token(source);
    CHECK(vow_cancel_source_cancel(source));
    vow_promise *promise = vow_promise_create(&resolver);
    vow_executor *in = vow_executor_inline();
    CHECK_INT_EQ(code_of(linked(in, promise, counter_run, NULL, &success, token)), VOW_ECANCELLED);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(linked(vow_executor_pool(), fulfilled_int(1), NULL, give_code_counted,
                               &failure, token)) == 1 ||
                     atomic_load(&failure.runs) == 1,
                 true);
    ran(&success, 0, 1);
    CHECK_INT_EQ(atomic_load(&failure.ends), 1);
    vow_cancel_source_release(source);
}

TEST("a reaction that is through has left its token") {
    counter success = {0};
    vow_cancel_source *source = vow_cancel_source_create();
    vow_promise *promise = linked(vow_executor_inline(), fulfilled_int(1), counter_run, NULL,
                                  &success, vow_cancel_source_token(source));
    CHECK_INT_EQ(vow_promise_state(promise), VOW_FULFILLED);
    CHECK(vow_cancel_source_cancel(source));
    CHECK_INT_EQ(int_of(promise), 1);
    ran(&success, 1, 1);
    vow_cancel_source_release(source);
}

static vow_value wait_for_one(vow_value input, void *context) {
    CHECK(reaches(context, 1));
    return vow_value_retain(input);
}

typedef struct canceller {
    vow_cancel_source *source;
    counter ends;
} canceller;

static void cancel_at_end(void *context) {
    canceller *self = context;
    vow_cancel_source_cancel(self->source);
    counter_end(&self->ends);
}

TEST("a reaction that was to pass on what its promise was settled with reads the cancellation") {
    vow_resolver *resolver;
    vow_cancel_source *source = vow_cancel_source_create();
    vow_token *token = vow_cancel_source_token(source);
    vow_promise *upstream = vow_promise_create(&resolver);
    canceller first = {.source = source};
    counter value = {0};
    vow_reaction reaction = {.size = sizeof reaction,
                             .on_rejected = give_code_counted,
                             .context = &first,
                             .destroy = cancel_at_end};
    vow_promise *before = vow_then_with(vow_promise_retain(upstream), &reaction);
    vow_promise *passes = linked(vow_executor_pool(), vow_promise_retain(upstream), NULL,
                                 give_code_counted, &value, token);
    CHECK(vow_resolve(resolver, vow_int(5)));
    CHECK_INT_EQ(int_of(before), 5);
    CHECK_INT_EQ(code_of(passes), VOW_ECANCELLED);
    ran(&value, 1, 1);
    CHECK_INT_EQ(atomic_load(&first.ends.ends), 1);
    vow_promise_release(upstream);
    vow_resolver_release(resolver);
    vow_cancel_source_release(source);
}

TEST("a reaction that its executor has is cancelled: its success handler never runs") {
    counter success = {0}, failure = {0};
    vow_cancel_source *source = vow_cancel_source_create();
    vow_token *token = vow_cancel_source_token(source);
    worker thread;
    worker_start(&thread);
    vow_executor *executor = vow_executor_custom(&worker_class, &thread);
    atomic_int gate = 0;
    vow_promise *busy = then_on(executor, fulfilled_int(1), wait_for_one, &gate);
    vow_promise *one = linked(executor, fulfilled_int(1), counter_run, NULL, &success, token);
    vow_promise *two =
        linked(executor, rejected_code(4), counter_run, give_code_counted, &failure, token);
    CHECK(vow_cancel_source_cancel(source));
    atomic_store(&gate, 1);
    CHECK_INT_EQ(code_of(one), VOW_ECANCELLED);
    CHECK_INT_EQ(code_of(two), VOW_ECANCELLED);
    CHECK_INT_EQ(int_of(busy), 1);
    ran(&success, 0, 1);
    ran(&failure, 1, 1);
    vow_executor_release(executor);
    worker_stop(&thread);
    vow_cancel_source_release(source);
}

static vow_value give_promise(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(context);
}

TEST("a reaction that waits for its handler's promise is cancelled, with that") {
    vow_resolver *resolver;
    counter told = {0};
    vow_cancel_source *source = vow_cancel_source_create();
    vow_promise *inner = vow_promise_create(&resolver);
    CHECK_INT_EQ(vow_resolver_on_cancel(resolver, hook_called, &told, counter_end), 0);
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = give_promise;
    reaction.context = inner;
    reaction.executor = vow_executor_inline();
    reaction.token = vow_cancel_source_token(source);
    vow_promise *promise = vow_then_with(fulfilled_int(1), &reaction);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    CHECK(vow_cancel_source_cancel(source));
    CHECK_INT_EQ(code_of(promise), VOW_ECANCELLED);
    ran(&told, 1, 1);
    vow_resolver_release(resolver);
    vow_cancel_source_release(source);
}

TEST("a finally of a token runs with VOW_ECANCELLED") {
    vow_resolver *resolver;
    counter seen = {0};
    vow_cancel_source *source = vow_cancel_source_create();
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = reaction.on_rejected = counter_run;
    reaction.context = &seen;
    reaction.executor = vow_executor_inline();
    reaction.flags = VOW_FINALLY;
    reaction.token = vow_cancel_source_token(source);
    vow_promise *promise = vow_then_with(vow_promise_create(&resolver), &reaction);
    CHECK(vow_cancel_source_cancel(source));
    CHECK_INT_EQ(code_of(promise), VOW_ECANCELLED);
    CHECK_INT_EQ(atomic_load(&seen.runs), 1);
    vow_resolver_release(resolver);
    vow_cancel_source_release(source);
}

TEST("the reason travels to every reaction") {
    vow_resolver *resolver;
    counter unused = {0};
    vow_cancel_source *source = vow_cancel_source_create();
    vow_token *token = vow_token_retain(vow_cancel_source_token(source));
    vow_promise *promise = linked(vow_executor_inline(), vow_promise_create(&resolver), counter_run,
                                  NULL, &unused, token);
    CHECK_INT_EQ(vow_token_reason(token).kind, VOW_NONE);
    CHECK(vow_cancel_source_cancel_with(source, vow_string("closing", VOW_NUL_TERMINATED)));
    vow_value error;
    CHECK(vow_promise_peek(promise, &error));
    CHECK_STR_EQ(vow_string_bytes(vow_error_payload(error), NULL), "closing");
    vow_value reason = vow_token_reason(token);
    CHECK_STR_EQ(vow_string_bytes(reason, NULL), "closing");
    vow_value_release(reason);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
    vow_cancel_source_release(source);
    CHECK(vow_token_is_cancelled(token));
    vow_token_release(token);
}

TEST("functions of a token are called once; or destroyed, when nobody can cancel any more") {
    counter called = {0}, late = {0}, never = {0}, refused = {0};
    void (*no_function)(void *) = NULL;
    vow_cancel_source *source = vow_cancel_source_create();
    vow_token *token = vow_cancel_source_token(source);
    CHECK_INT_EQ(vow_token_on_cancel(token, hook_called, &called, counter_end), 0);
    CHECK_INT_EQ(vow_token_on_cancel(token, no_function, &refused, counter_end), VOW_EINVAL);
    vow_token *no_token = NULL;
    CHECK_INT_EQ(vow_token_on_cancel(no_token, hook_called, &refused, counter_end), VOW_EINVAL);
    ran(&refused, 0, 2);
    CHECK(vow_cancel_source_cancel(source));
    ran(&called, 1, 1);
    CHECK_INT_EQ(vow_token_on_cancel(token, hook_called, &late, counter_end), 0);
    ran(&late, 1, 1);
    vow_cancel_source_release(source);

    source = vow_cancel_source_create();
    token = vow_token_retain(vow_cancel_source_token(source));
    CHECK_INT_EQ(vow_token_on_cancel(token, hook_called, &never, counter_end), 0);
    vow_cancel_source_release(source);
    ran(&never, 0, 1);
    CHECK_INT_EQ(vow_token_on_cancel(token, hook_called, &never, counter_end), 0);
    ran(&never, 0, 2);
    vow_token_release(token);
}

TEST("a source that dies uncancelled frees everything; its reactions go on") {
    vow_resolver *resolver;
    counter success = {0};
    vow_cancel_source *source = vow_cancel_source_create();
    vow_promise *promise = linked(vow_executor_inline(), vow_promise_create(&resolver), counter_run,
                                  NULL, &success, vow_cancel_source_token(source));
    vow_cancel_source_release(source);
    CHECK(vow_resolve(resolver, vow_int(5)));
    CHECK_INT_EQ(int_of(promise), 5);
    ran(&success, 1, 1);
    vow_resolver_release(resolver);
}

TEST("linked sources are cancelled with any of their parents, and with its reason") {
    vow_cancel_source *first = vow_cancel_source_create();
    vow_cancel_source *second = vow_cancel_source_create();
    vow_token *parents[3] = {vow_cancel_source_token(first), NULL, vow_cancel_source_token(second)};
    vow_cancel_source *child = vow_cancel_source_create_linked(parents, 3);
    vow_token *of_child = vow_cancel_source_token(child);
    vow_cancel_source *grandchild = vow_cancel_source_create_linked(&of_child, 1);
    counter called = {0};
    CHECK_INT_EQ(
        vow_token_on_cancel(vow_cancel_source_token(grandchild), hook_called, &called, counter_end),
        0);
    CHECK(vow_cancel_source_cancel_with(second, vow_int(7)));
    CHECK(vow_token_is_cancelled(of_child));
    CHECK(!vow_token_is_cancelled(parents[0]));
    CHECK_INT_EQ(vow_token_reason(vow_cancel_source_token(grandchild)).as.integer, 7);
    ran(&called, 1, 1);
    vow_cancel_source *late = vow_cancel_source_create_linked(parents, 3);
    CHECK(vow_token_is_cancelled(vow_cancel_source_token(late)));
    CHECK(!vow_cancel_source_cancel(late));
    vow_cancel_source_release(late);
    vow_cancel_source_release(grandchild);
    vow_cancel_source_release(child);
    vow_cancel_source_release(first);
    vow_cancel_source_release(second);
}

TEST("a child that dies leaves its parents; cancelling a child leaves them alone") {
    vow_cancel_source *parent = vow_cancel_source_create();
    vow_token *token = vow_cancel_source_token(parent);
    vow_cancel_source *child = vow_cancel_source_create_linked(&token, 1);
    CHECK(vow_cancel_source_cancel(child));
    CHECK(!vow_token_is_cancelled(token));
    vow_cancel_source_release(child);
    vow_cancel_source_release(vow_cancel_source_create_linked(&token, 1));
    CHECK(vow_cancel_source_cancel(parent));
    vow_cancel_source_release(parent);
}

#define SOURCES 100000

TEST("a hundred thousand linked sources in a row are cancelled and freed flat") {
    vow_cancel_source **sources = malloc(SOURCES * sizeof *sources);
    sources[0] = vow_cancel_source_create();
    for (int i = 1; i < SOURCES; i++) {
        vow_token *parent = vow_cancel_source_token(sources[i - 1]);
        sources[i] = vow_cancel_source_create_linked(&parent, 1);
    }
    CHECK(vow_cancel_source_cancel(sources[0]));
    CHECK(vow_token_is_cancelled(vow_cancel_source_token(sources[SOURCES - 1])));
    for (int i = 0; i < SOURCES; i++) {
        vow_cancel_source_release(sources[i]);
    }
    free(sources);
}

TEST("NULL sources and tokens are nothing") {
    vow_cancel_source *no_source = NULL;
    vow_token *no_token = NULL;
    CHECK(vow_cancel_source_token(no_source) == NULL);
    CHECK(vow_token_retain(no_token) == NULL);
    CHECK(vow_cancel_source_retain(no_source) == NULL);
    vow_token_release(no_token);
    vow_cancel_source_release(no_source);
    CHECK(!vow_token_is_cancelled(no_token));
    CHECK_INT_EQ(vow_token_reason(no_token).kind, VOW_NONE);
    CHECK(!vow_cancel_source_cancel(no_source));
    CHECK(!vow_cancel_source_cancel_with(no_source, vow_string("x", 1)));
}
