/* Tests of the report of members that do not end when their scope is cancelled. */
#include "tools.h"

#define MS VOW_MS

static vow_scope *scope_of(int64_t deadline, int64_t grace, const char *label) {
    vow_scope_options options = {
        .size = sizeof options, .deadline_ns = deadline, .grace_ns = grace, .label = label};
    return vow_scope_create_with(&options);
}

typedef struct reports {
    atomic_int count;
    char text[512];
} reports;

static void note_report(vow_value error, void *context) {
    reports *its = context;
    atomic_fetch_add(&its->count, 1);
    CHECK_INT_EQ(vow_error_code(error), VOW_ETIMEDOUT);
    (void)snprintf(its->text, sizeof its->text, "%s", vow_error_message(error));
}

static vow_value pass(vow_value input, void *context) {
    (void)context;
    return vow_value_retain(input);
}

/* A link that has a label and waits, though it is cancelled. */
static vow_promise *labelled(vow_promise *promise, const char *label) {
    vow_reaction reaction = {.size = sizeof reaction,
                             .on_rejected = pass,
                             .executor = vow_executor_inline(),
                             .label = label};
    return vow_then_with(promise, &reaction);
}

TEST("each member that has not ended is reported once when the grace is over, and waited for") {
    vow_loop *loop = vow_loop_create_virtual();
    reports its = {0};
    vow_on_unhandled(note_report, &its);
    vow_resolver *quick, *first, *second;
    vow_scope *scope = scope_of(0, 50 * MS, "requests");
    CHECK_INT_EQ(vow_scope_add(scope, vow_promise_create(&quick)), 0);
    CHECK_INT_EQ(vow_scope_add(scope, vow_promise_create_with(&first, VOW_COOPERATIVE)), 0);
    CHECK_INT_EQ(
        vow_scope_add(scope, labelled(vow_promise_create_with(&second, VOW_COOPERATIVE), "fetch")),
        0);
    vow_loop_advance(loop, SECOND);
    CHECK_INT_EQ(its.count, 0);
    vow_scope_cancel(scope);
    vow_promise *end = vow_scope_close(scope);
    vow_loop_advance(loop, 49 * MS);
    CHECK_INT_EQ(its.count, 0);
    vow_resolver_release(first);
    vow_loop_advance(loop, MS);
    CHECK_INT_EQ(its.count, 1);
    CHECK_STR_HAS(its.text, "'fetch'");
    CHECK_STR_HAS(its.text, "'requests'");
    CHECK_STR_HAS(its.text, "50 ms");
    vow_loop_advance(loop, SECOND);
    CHECK_INT_EQ(its.count, 1);
    CHECK_INT_EQ(vow_promise_state(end), VOW_PENDING);
    vow_resolver_release(second);
    CHECK_INT_EQ(code_of(end), 0);
    vow_resolver_release(quick);
    vow_on_unhandled(NULL, NULL);
    vow_loop_destroy(loop);
}

TEST("nothing is reported of a scope whose members end in time, or that is not cancelled") {
    vow_loop *loop = vow_loop_create_virtual();
    reports its = {0};
    vow_on_unhandled(note_report, &its);
    vow_resolver *resolver;
    vow_scope *scope = scope_of(100 * MS, 50 * MS, NULL);
    CHECK_INT_EQ(vow_scope_add(scope, vow_promise_create_with(&resolver, VOW_COOPERATIVE)), 0);
    vow_promise *end = vow_scope_close(scope);
    vow_loop_advance(loop, 149 * MS);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(code_of(end), VOW_ETIMEDOUT);
    CHECK_INT_EQ(vow_loop_advance(loop, SECOND), 0);
    CHECK_INT_EQ(its.count, 0);
    vow_on_unhandled(NULL, NULL);
    vow_loop_destroy(loop);
}

static vow_value settle_then(vow_value input, void *context) {
    (void)input;
    vow_resolver_release(context);
    return vow_none();
}

TEST("a member that ends while it is reported is waited for once, and the scope ends") {
    for (int round = 0; round < 20; round++) {
        reports its = {0};
        vow_on_unhandled(note_report, &its);
        vow_resolver *resolver;
        vow_scope *scope = scope_of(MS, MS, NULL);
        CHECK_INT_EQ(vow_scope_add(scope, vow_promise_create_with(&resolver, VOW_COOPERATIVE)), 0);
        vow_promise *later = vow_then(vow_delay(2 * MS + round * MS / 10), settle_then, resolver);
        CHECK_INT_EQ(code_of(vow_scope_close(scope)), VOW_ETIMEDOUT);
        CHECK_INT_EQ(code_of(later), 0);
        CHECK(its.count <= 1);
        vow_on_unhandled(NULL, NULL);
    }
}

static void *cancel_elsewhere(void *context) {
    vow_scope_cancel(context);
    return NULL;
}

TEST("a scope goes by the clock of who made it, whoever cancels it") {
    vow_loop *loop = vow_loop_create_virtual();
    reports its = {0};
    vow_on_unhandled(note_report, &its);
    vow_resolver *resolver;
    vow_scope *scope = scope_of(0, 50 * MS, NULL);
    CHECK_INT_EQ(vow_scope_add(scope, vow_promise_create_with(&resolver, VOW_COOPERATIVE)), 0);
    pthread_join(start_thread(cancel_elsewhere, scope), NULL);
    vow_loop_advance(loop, 50 * MS);
    CHECK_INT_EQ(its.count, 1);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(code_of(vow_scope_close(scope)), 0);
    vow_on_unhandled(NULL, NULL);
    vow_loop_destroy(loop);
}
