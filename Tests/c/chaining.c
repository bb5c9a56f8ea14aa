/* Tests chapter 4, chaining: then, catch, finally and their common form. */
#include "worker.h"

/* Gives the promise that the context is; the link consumes it. */
static vow_value give_promise(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(context);
}

TEST("then runs with the value and makes a promise of the result") {
    CHECK_INT_EQ(int_of(vow_then(fulfilled_int(1), add_one, NULL)), 2);
    CHECK_INT_EQ(int_of(then_inline(fulfilled_int(1), add_one, NULL)), 2);
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

TEST("a rejection passes then by, a value passes catch by") {
    counter seen = {0};
    CHECK_INT_EQ(code_of(vow_then(rejected_code(3), counter_run, &seen)), 3);
    CHECK_INT_EQ(int_of(vow_catch(fulfilled_int(4), counter_run, &seen)), 4);
    CHECK_INT_EQ(atomic_load(&seen.runs), 0);
}

TEST("catch recovers with a value and rejects again with an error") {
    CHECK_INT_EQ(int_of(vow_catch(rejected_code(3), give_code, NULL)), 3);
    CHECK_INT_EQ(code_of(vow_catch(rejected_code(3), fail_with_7, NULL)), 7);
    CHECK_INT_EQ(code_of(vow_catch(rejected_code(3), counter_run, &(counter){0})), 3);
}

TEST("a handler that returns an error rejects") {
    CHECK_INT_EQ(code_of(vow_then(fulfilled_int(1), fail_with_7, NULL)), 7);
}

TEST("a link after a recovery runs as if nothing had happened") {
    vow_promise *promise = vow_then(rejected_code(3), add_one, NULL);
    promise = vow_catch(promise, give_code, NULL);
    CHECK_INT_EQ(int_of(vow_then(promise, add_one, NULL)), 4);
}

TEST("a handler that returns a promise is followed, settled or not") {
    CHECK_INT_EQ(int_of(vow_then(fulfilled_int(1), give_promise, fulfilled_int(8))), 8);
    CHECK_INT_EQ(code_of(vow_then(fulfilled_int(1), give_promise, rejected_code(8))), 8);
    vow_resolver *resolver;
    vow_promise *inner = vow_promise_create(&resolver);
    vow_promise *promise = then_inline(fulfilled_int(1), give_promise, inner);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    CHECK(vow_resolve(resolver, vow_int(9)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), 9);
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

TEST("a reaction with both handlers runs the one that fits") {
    counter fulfilled = {0};
    vow_executor *here = vow_executor_inline();
    CHECK_INT_EQ(int_of(link_full(here, fulfilled_int(1), add_one, give_code, NULL, NULL)), 2);
    CHECK_INT_EQ(int_of(link_full(here, rejected_code(9), add_one, give_code, NULL, NULL)), 9);
    CHECK_INT_EQ(
        code_of(link_full(here, fulfilled_int(1), fail_with_7, counter_run, &fulfilled, NULL)), 7);
    CHECK_INT_EQ(atomic_load(&fulfilled.runs), 0);
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

TEST("a promise may have several branches, each with its own result") {
    vow_resolver *resolver;
    vow_promise *root = vow_promise_create(&resolver);
    vow_promise *left = vow_then(vow_promise_retain(root), add_one, NULL);
    vow_promise *right = vow_then(vow_promise_retain(root), fail_with_7, NULL);
    vow_promise *none = vow_catch(vow_promise_retain(root), give_code, NULL);
    CHECK(vow_resolve(resolver, vow_int(10)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(left), 11);
    CHECK_INT_EQ(code_of(right), 7);
    CHECK_INT_EQ(int_of(none), 10);
    CHECK_INT_EQ(int_of(root), 10);
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
