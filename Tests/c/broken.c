/* Tests G9: the last release of an unresolved resolver rejects with VOW_EBROKEN. */
#include "tools.h"

TEST("G9: the last resolver to go breaks the promise, not an earlier one") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_resolver *again = vow_resolver_retain(resolver);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    vow_resolver_release(again);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_REJECTED);
    CHECK_INT_EQ(code_of(promise), VOW_EBROKEN);
}

TEST("G9: a broken promise runs its rejection handlers once and its chain to the end") {
    counter values = {0};
    counter errors = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    promise = then_inline(promise, counter_run, &values);
    promise = catch_inline(promise, counter_run, &errors);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(atomic_load(&values.runs), 0);
    CHECK_INT_EQ(atomic_load(&errors.runs), 1);
    CHECK_INT_EQ(code_of(promise), VOW_EBROKEN);
}

static vow_value drop_resolver(vow_value input, void *context) {
    vow_resolver_release(context);
    return vow_value_retain(input);
}

TEST("G9: a handler may drop the last resolver, of its own chain's start too") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK_INT_EQ(int_of(then_inline(fulfilled_int(1), drop_resolver, resolver)), 1);
    CHECK_INT_EQ(code_of(promise), VOW_EBROKEN);
    promise = vow_promise_create(&resolver);
    promise = then_inline(promise, drop_resolver, vow_resolver_retain(resolver));
    CHECK(vow_resolve(resolver, vow_int(3)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), 3);
}

static void count_report(vow_value error, void *context) {
    (void)error;
    atomic_fetch_add((atomic_int *)context, 1);
}

TEST("G9: where nobody is left to observe it, a broken promise is not reported") {
    atomic_int reports = 0;
    vow_resolver *resolver;
    vow_on_unhandled(count_report, &reports);
    vow_promise_release(vow_promise_create(&resolver));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(atomic_load(&reports), 0);
    vow_promise *promise = vow_promise_create(&resolver);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&reports), 1);
    vow_on_unhandled(NULL, NULL);
}
