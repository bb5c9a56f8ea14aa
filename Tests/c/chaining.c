/* Tests chapter 4, chaining: then, catch, finally and their common form. */
#include "worker.h"

/* Gives the promise that the context is; the link consumes it. */
static vow_value give_promise(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(context);
}

TEST("a chain of twenty links runs each once") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    for (int i = 0; i < 20; i++) {
        promise = vow_then(promise, add_one, NULL);
    }
    CHECK(vow_resolve(resolver, vow_int(0)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), 20);
}

TEST("finally runs on both ways and passes the outcome on") {
    counter seen = {0};
    CHECK_INT_EQ(int_of(vow_finally(fulfilled_int(4), counter_run, &seen)), 4);
    CHECK_INT_EQ(code_of(vow_finally(rejected_code(5), counter_run, &seen)), 5);
    CHECK_INT_EQ(atomic_load(&seen.runs), 2);
    CHECK_INT_EQ(int_of(vow_finally(fulfilled_int(4), add_one, NULL)), 4);
    CHECK_INT_EQ(code_of(vow_finally(rejected_code(5), give_code, NULL)), 5);
}

TEST("an error that finally returns replaces the outcome") {
    CHECK_INT_EQ(code_of(vow_finally(fulfilled_int(4), fail_with_7, NULL)), 7);
    CHECK_INT_EQ(code_of(vow_finally(rejected_code(5), fail_with_7, NULL)), 7);
}

TEST("a promise that finally returns is waited for and counts if it is rejected") {
    CHECK_INT_EQ(int_of(vow_finally(fulfilled_int(4), give_promise, fulfilled_int(1))), 4);
    CHECK_INT_EQ(code_of(vow_finally(fulfilled_int(4), give_promise, rejected_code(6))), 6);
    CHECK_INT_EQ(code_of(vow_finally(rejected_code(4), give_promise, fulfilled_int(6))), 4);
    vow_resolver *resolver;
    vow_promise *inner = vow_promise_create(&resolver);
    vow_promise *promise = finally_inline(rejected_code(5), give_promise, inner);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(code_of(promise), 5);
    inner = vow_promise_create(&resolver);
    promise = finally_inline(vow_promise_with(vow_string("kept", 4)), give_promise, inner);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    vow_value out;
    CHECK(vow_promise_peek(promise, &out));
    CHECK_STR_EQ(vow_string_bytes(out, NULL), "kept");
    vow_promise_release(promise);
}

TEST(
    "a link without a fitting handler passes through, and visits its executor for a context only") {
    worker thread;
    worker_start(&thread);
    vow_executor *executor = vow_executor_custom(&worker_class, &thread);
    counter context = {0};
    CHECK_INT_EQ(int_of(link_full(executor, fulfilled_int(3), NULL, NULL, NULL, NULL)), 3);
    CHECK_INT_EQ(code_of(link_full(executor, rejected_code(3), NULL, NULL, NULL, NULL)), 3);
    CHECK_INT_EQ(atomic_load(&thread.submitted), 0);
    CHECK_INT_EQ(
        code_of(link_full(executor, rejected_code(3), counter_run, NULL, &context, counter_end)),
        3);
    CHECK_INT_EQ(
        int_of(link_full(executor, fulfilled_int(3), NULL, counter_run, &context, counter_end)), 3);
    CHECK_INT_EQ(atomic_load(&thread.submitted), 2);
    CHECK_INT_EQ(atomic_load(&context.runs), 0);
    CHECK_INT_EQ(atomic_load(&context.ends), 2);
    vow_executor_release(executor);
    worker_stop(&thread);
}

static vow_value concatenate(vow_value input, void *context) {
    char text[64];
    snprintf(text, sizeof text, "%s%s", vow_string_bytes(input, NULL), (const char *)context);
    return vow_string(text, VOW_NUL_TERMINATED);
}

TEST("counted values flow through a chain and every one is freed") {
    vow_promise *promise = vow_promise_with(vow_string("a", 1));
    promise = vow_then(promise, concatenate, "b");
    promise = vow_finally(promise, concatenate, "ignored");
    promise = vow_then(promise, concatenate, "c");
    vow_value out;
    CHECK_INT_EQ(vow_await(promise, LONG_ENOUGH, &out), VOW_FULFILLED);
    CHECK_STR_EQ(vow_string_bytes(out, NULL), "abc");
    vow_value_release(out);
    vow_promise_release(promise);
}

TEST("a reaction is borrowed: it may change after the call") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = add_one;
    reaction.executor = vow_executor_inline();
    reaction.label = "add one";
    promise = vow_then_with(promise, &reaction);
    memset(&reaction, 0xff, sizeof reaction);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), 2);
}
