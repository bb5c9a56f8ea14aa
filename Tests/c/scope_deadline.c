/* Tests of a scope's time: its deadline, what takes it over, and the report of members that do not
 * end. Most go by a virtual clock. */
#include "tools.h"

#include <fcntl.h>

#define MS VOW_MS

static vow_scope *scope_of(int64_t deadline, int64_t grace, const char *label) {
    vow_scope_options options = {
        .size = sizeof options, .deadline_ns = deadline, .grace_ns = grace, .label = label};
    return vow_scope_create_with(&options);
}

TEST("wrong options make a scope that takes nothing, and whose end says what is wrong") {
    const vow_scope_options wrong[4] = {
        {.size = 3},
        {.size = sizeof(vow_scope_options), .flags = 2},
        {.size = sizeof(vow_scope_options), .deadline_ns = -1},
        {.size = sizeof(vow_scope_options), .grace_ns = -1},
    };
    static const char *const words[4] = {"options->size", "options->flags", "options->deadline_ns",
                                         "options->grace_ns"};
    for (int i = 0; i < 4; i++) {
        counter its = {0};
        vow_scope *scope = vow_scope_create_with(&wrong[i]);
        CHECK_INT_EQ(vow_scope_add(scope, fulfilled_int(1)), VOW_EINVAL);
        CHECK_INT_EQ(code_of(vow_scope_async(scope, NULL, counter_run, &its, counter_end)),
                     VOW_EINVAL);
        CHECK_INT_EQ(its.ends, 1);
        vow_value error;
        vow_promise *end = vow_scope_close(scope);
        CHECK_INT_EQ(vow_await(end, LONG_ENOUGH, &error), VOW_REJECTED);
        CHECK_INT_EQ(vow_error_code(error), VOW_EINVAL);
        CHECK_STR_HAS(vow_error_message(error), words[i]);
        vow_value_release(error);
        vow_promise_release(end);
    }
    CHECK_INT_EQ(code_of(vow_scope_close(vow_scope_create_with(NULL))), 0);
}

TEST(
    "a deadline cancels the members with the time-out as the reason, and rejects the end with it") {
    vow_loop *loop = vow_loop_create_virtual();
    vow_resolver *resolver, *stubborn;
    vow_scope *scope = scope_of(100 * MS, 0, NULL);
    vow_promise *member = vow_promise_create(&resolver);
    CHECK_INT_EQ(vow_scope_add(scope, vow_promise_retain(member)), 0);
    CHECK_INT_EQ(vow_scope_add(scope, vow_promise_create_with(&stubborn, VOW_COOPERATIVE)), 0);
    vow_promise *end = vow_scope_close(scope);
    vow_loop_advance(loop, 99 * MS);
    CHECK_INT_EQ(vow_promise_state(member), VOW_PENDING);
    vow_loop_advance(loop, MS);
    CHECK_INT_EQ(reason_of(member), VOW_ETIMEDOUT);
    CHECK_INT_EQ(vow_promise_state(end), VOW_PENDING);
    vow_resolver_release(stubborn);
    CHECK_INT_EQ(code_of(end), VOW_ETIMEDOUT);
    vow_resolver_release(resolver);
    vow_loop_destroy(loop);
}

TEST("a scope that ends in time has no timer left, and one that failed before keeps its error") {
    vow_loop *loop = vow_loop_create_virtual();
    vow_scope *scope = scope_of(100 * MS, 50 * MS, NULL);
    CHECK_INT_EQ(vow_scope_add(scope, vow_delay(10 * MS)), 0);
    CHECK_INT_EQ(code_of(vow_scope_close(scope)), 0);
    CHECK_INT_EQ(vow_loop_advance(loop, SECOND), 0);
    vow_resolver *resolver;
    scope = scope_of(100 * MS, 0, NULL);
    CHECK_INT_EQ(vow_scope_add(scope, vow_promise_create(&resolver)), 0);
    CHECK_INT_EQ(vow_scope_add(scope, rejected_code(6)), 0);
    CHECK_INT_EQ(code_of(vow_scope_close(scope)), 6);
    vow_resolver_release(resolver);
    vow_loop_destroy(loop);
}

/* What a function of the scope makes; each is looked at by who has waited for the function. */
typedef struct made {
    vow_promise *delay, *soon, *timed, *ready, *retry, *inner, *member, *chained;
    vow_resolver *first, *second;
    int pipe[2];
} made;

static vow_value fail_always(vow_value attempt, void *context) {
    (void)attempt;
    (void)context;
    return vow_error("test", 8, NULL);
}

static vow_value delay_later(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_from_promise(vow_delay(SECOND));
}

static vow_value make_all(vow_value input, void *context) {
    made *its = context;
    its->delay = vow_delay(SECOND);
    its->soon = vow_delay(10 * MS);
    its->timed = vow_timeout(vow_promise_create(&its->first), SECOND);
    its->ready = vow_fd_ready(its->pipe[0], VOW_READ);
    vow_retry_policy policy = {
        .size = sizeof policy, .attempts = 100, .first_delay_ns = 30 * MS, .factor = 1};
    its->retry = vow_retry(&policy, fail_always, NULL);
    its->member = vow_promise_create(&its->second);
    vow_scope *inner = vow_scope_create();
    CHECK_INT_EQ(vow_scope_add(inner, vow_promise_retain(its->member)), 0);
    its->inner = vow_scope_close(inner);
    its->chained = vow_then(vow_delay(20 * MS), delay_later, NULL);
    return vow_value_retain(input);
}

TEST("all that is timed and made under a scope takes over its deadline") {
    vow_loop *loop = vow_loop_create_virtual();
    made its = {0};
    CHECK_INT_EQ(pipe2(its.pipe, O_CLOEXEC), 0);
    vow_scope *scope = scope_of(100 * MS, 0, NULL);
    int64_t began = vow_now();
    vow_promise *work = vow_scope_async(scope, NULL, make_all, &its, NULL);
    CHECK_INT_EQ(code_of(work), 0);
    CHECK_INT_EQ(code_of(its.soon), 0);
    CHECK_INT_EQ(code_of(its.delay), VOW_ETIMEDOUT);
    CHECK_INT_EQ(code_of(its.timed), VOW_ETIMEDOUT);
    CHECK_INT_EQ(code_of(its.ready), VOW_ETIMEDOUT);
    vow_value error = vow_none();
    CHECK_INT_EQ(vow_await(its.retry, LONG_ENOUGH, &error), VOW_REJECTED);
    CHECK_INT_EQ(vow_error_code(error), VOW_ETIMEDOUT);
    CHECK_INT_EQ(vow_error_attempts(error), 4);
    CHECK_INT_EQ(vow_error_code(vow_error_payload(error)), 8);
    vow_value_release(error);
    vow_promise_release(its.retry);
    CHECK_INT_EQ(code_of(its.inner), VOW_ETIMEDOUT);
    CHECK_INT_EQ(reason_of(its.member), VOW_ETIMEDOUT);
    CHECK_INT_EQ(code_of(its.chained), VOW_ETIMEDOUT);
    CHECK_INT_EQ(vow_now() - began, 100 * MS);
    /* What is not made under it takes its time. */
    vow_promise *outside = vow_delay(SECOND);
    CHECK_INT_EQ(code_of(outside), 0);
    CHECK_INT_EQ(code_of(vow_scope_close(scope)), VOW_ETIMEDOUT);
    vow_resolver_release(its.first);
    vow_resolver_release(its.second);
    close(its.pipe[0]);
    close(its.pipe[1]);
    vow_loop_destroy(loop);
}

typedef struct nested {
    int64_t wanted, took;
} nested;

static vow_value note_time(vow_value input, void *context) {
    nested *its = context;
    its->took = vow_now() - its->took;
    return vow_value_retain(input);
}

static vow_value make_inner(vow_value input, void *context) {
    (void)input;
    nested *its = context;
    vow_scope *inner = scope_of(its->wanted, 0, NULL);
    its->took = vow_now();
    CHECK_INT_EQ(vow_scope_add(inner, vow_delay(SECOND)), 0);
    return vow_from_promise(
        either_on(vow_executor_current(), vow_scope_close(inner), note_time, its));
}

static vow_value limit_for_ever(vow_value input, void *context) {
    vow_resolver *resolver;
    (void)input;
    usleep(30000);
    vow_promise *limited = vow_timeout(vow_promise_create(&resolver), VOW_FOREVER);
    *(int64_t *)context = code_of(limited);
    vow_resolver_release(resolver);
    return vow_none();
}

TEST("a time-out without an end that is made after the deadline is over at once") {
    int64_t code = 0;
    vow_scope_options options = {.size = sizeof options, .deadline_ns = 20 * MILLISECOND};
    vow_scope *scope = vow_scope_create_with(&options);
    vow_promise_release(vow_scope_async(scope, vow_executor_pool(), limit_for_ever, &code, NULL));
    CHECK_INT_EQ(code_of(vow_scope_close(scope)), VOW_ETIMEDOUT);
    /* 0: it had not begun by then, and was cancelled. */
    CHECK(code == VOW_ETIMEDOUT || code == 0);
}

TEST("of two scopes inside each other the earlier deadline wins") {
    vow_loop *loop = vow_loop_create_virtual();
    nested shorter = {.wanted = 30 * MS}, longer = {.wanted = 300 * MS};
    vow_scope *scope = scope_of(100 * MS, 0, NULL);
    vow_promise *first = vow_scope_async(scope, NULL, make_inner, &shorter, NULL);
    vow_promise *second = vow_scope_async(scope, NULL, make_inner, &longer, NULL);
    CHECK_INT_EQ(code_of(vow_scope_close(scope)), VOW_ETIMEDOUT);
    CHECK_INT_EQ(shorter.took, 30 * MS);
    CHECK_INT_EQ(longer.took, 100 * MS);
    CHECK_INT_EQ(code_of(first), VOW_ETIMEDOUT);
    vow_promise_release(second);
    vow_loop_destroy(loop);
}

static vow_value look_at_context(vow_value input, void *context) {
    (void)input;
    (void)context;
    CHECK_INT_EQ(vow_context_get().as.integer, 7);
    CHECK_INT_EQ(vow_context_get().reserved, 0);
    vow_context_set(vow_none());
    return vow_from_promise(vow_delay(SECOND));
}

TEST("the context travels beside the scope, and setting it leaves the scope") {
    vow_loop *loop = vow_loop_create_virtual();
    vow_context_set(vow_int(7));
    vow_scope *scope = scope_of(100 * MS, 0, NULL);
    vow_promise *work = vow_scope_async(scope, NULL, look_at_context, NULL, NULL);
    CHECK_INT_EQ(vow_context_get().as.integer, 7);
    int64_t began = vow_now();
    CHECK_INT_EQ(code_of(vow_delay(SECOND)), 0);
    CHECK_INT_EQ(vow_now() - began, SECOND);
    vow_context_set(vow_none());
    CHECK(vow_promise_state(work) == VOW_REJECTED);
    vow_promise_release(work);
    CHECK_INT_EQ(code_of(vow_scope_close(scope)), VOW_ETIMEDOUT);
    vow_loop_destroy(loop);
}

static vow_value delay_on_pool(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_from_promise(vow_delay(60 * SECOND));
}

TEST("off loops a deadline goes by real time, and is carried by what runs on the pool") {
    vow_scope *scope = scope_of(20 * MS, 0, NULL);
    vow_promise *work = vow_scope_async(scope, vow_executor_pool(), delay_on_pool, NULL, NULL);
    CHECK_INT_EQ(code_of(vow_scope_close(scope)), VOW_ETIMEDOUT);
    vow_promise_release(work);
}

TEST("a loop that is destroyed with a scope's timer cancels the scope, which says so") {
    vow_loop *loop = vow_loop_create_virtual();
    vow_resolver *resolver;
    vow_scope *scope = scope_of(100 * MS, 0, NULL);
    CHECK_INT_EQ(vow_scope_add(scope, vow_promise_create(&resolver)), 0);
    vow_loop_destroy(loop);
    CHECK_INT_EQ(code_of(vow_scope_close(scope)), VOW_ESHUTDOWN);
    vow_resolver_release(resolver);
}
