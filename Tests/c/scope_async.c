/* Tests of work that begins as a member of a scope, of scopes that fail fast, and of members that
 * wait for the end. */
#include "meter.h"

static vow_scope *scope_with(uint32_t flags) {
    vow_scope_options options = {.size = sizeof options, .flags = flags};
    return vow_scope_create_with(&options);
}

TEST("vow_scope_async runs a function as a member, and destroys its context before the promise "
     "settles") {
    counter its = {0};
    vow_scope *scope = vow_scope_create();
    vow_promise *work = vow_scope_async(scope, NULL, counter_run, &its, counter_end);
    vow_promise *end = vow_scope_close(scope);
    CHECK_INT_EQ(vow_await(end, LONG_ENOUGH, NULL), VOW_FULFILLED);
    CHECK_INT_EQ(vow_promise_state(work), VOW_FULFILLED);
    CHECK_INT_EQ(its.runs, 1);
    CHECK_INT_EQ(its.ends, 1);
    vow_promise_release(work);
    vow_promise_release(end);
}

TEST("work of a cancelled scope does not begin, and its context is destroyed") {
    counter its = {0};
    vow_scope *scope = vow_scope_create();
    vow_scope_cancel(scope);
    CHECK_INT_EQ(code_of(vow_scope_async(scope, NULL, counter_run, &its, counter_end)),
                 VOW_ECANCELLED);
    CHECK_INT_EQ(its.runs, 0);
    CHECK_INT_EQ(its.ends, 1);
    CHECK_INT_EQ(code_of(vow_scope_close(scope)), 0);
}

TEST("wrong arguments of vow_scope_async, and the context is destroyed") {
    static vow_scope *no_scope;
    static vow_handler no_handler;
    counter its = {0};
    CHECK_INT_EQ(code_of(vow_scope_async(no_scope, NULL, counter_run, &its, counter_end)),
                 VOW_EINVAL);
    vow_scope *scope = vow_scope_create();
    CHECK_INT_EQ(code_of(vow_scope_async(scope, NULL, no_handler, &its, counter_end)), VOW_EINVAL);
    CHECK_INT_EQ(its.ends, 2);
    vow_scope_release(scope);
}

TEST("fail-fast: the first failure cancels the others with it as the reason; the end comes last") {
    vow_scope *scope = scope_with(VOW_SCOPE_FAIL_FAST);
    vow_resolver *resolvers[4];
    vow_promise *kept[4];
    for (int i = 0; i < 4; i++) {
        kept[i] = i == 3 ? vow_promise_create_with(&resolvers[i], VOW_COOPERATIVE)
                         : vow_promise_create(&resolvers[i]);
        CHECK_INT_EQ(vow_scope_add(scope, vow_promise_retain(kept[i])), 0);
    }
    CHECK_INT_EQ(vow_promise_state(kept[0]), VOW_PENDING);
    vow_reject(resolvers[0], vow_error("test", 9, NULL));
    CHECK_INT_EQ(reason_of(kept[2]), 9);
    vow_promise *end = vow_scope_close(scope);
    CHECK_INT_EQ(vow_promise_state(end), VOW_PENDING);
    vow_resolver_release(resolvers[3]);
    CHECK_INT_EQ(code_of(end), 9);
    CHECK_INT_EQ(reason_of(kept[3]), 9);
    for (int i = 0; i < 3; i++) {
        vow_resolver_release(resolvers[i]);
    }
    vow_promise_release(kept[0]);
    vow_promise_release(kept[1]);
}

typedef struct crowd {
    atomic_int running, started, returned, told;
    int count;
} crowd;

static vow_value take_part(vow_value input, void *context) {
    (void)input;
    crowd *its = context;
    int number = atomic_fetch_add(&its->started, 1);
    atomic_fetch_add(&its->running, 1);
    vow_value result = vow_int(number);
    if (number == its->count / 2) {
        result = vow_error("test", 3, "one of many");
    } else {
        for (int i = 0; i < 50 && !vow_current_is_cancelled(); i++) {
            sched_yield();
        }
    }
    atomic_fetch_sub(&its->running, 1);
    return result;
}

static void left(void *context) {
    atomic_fetch_add(&((crowd *)context)->returned, 1);
}

static vow_value note_told(vow_value input, void *context) {
    atomic_fetch_add(&((crowd *)context)->told, 1);
    return vow_value_retain(input);
}

static vow_value look_at_end(vow_value input, void *context) {
    crowd *its = context;
    CHECK_INT_EQ(its->running, 0);
    CHECK_INT_EQ(its->returned, its->count);
    return vow_value_retain(input);
}

TEST("a scope of 1,000 members on the pool, one fails: all are told, and the end comes after the "
     "last") {
    for (int round = 0; round < many_of(5, 50); round++) {
        crowd its = {.count = 1000};
        vow_promise *told[1000];
        vow_scope *scope = scope_with(VOW_SCOPE_FAIL_FAST);
        for (int i = 0; i < its.count; i++) {
            vow_promise *work = vow_scope_async(scope, NULL, take_part, &its, left);
            told[i] = either_on(vow_executor_inline(), work, note_told, &its);
        }
        vow_promise *end =
            either_on(vow_executor_inline(), vow_scope_close(scope), look_at_end, &its);
        CHECK_INT_EQ(code_of(end), 3);
        for (int i = 0; i < its.count; i++) {
            vow_await(told[i], LONG_ENOUGH, NULL);
            vow_promise_release(told[i]);
        }
        CHECK_INT_EQ(its.told, its.count);
    }
}

/* A member that holds the scope, and closes it. */
static vow_value wait_for_own_end(vow_value input, void *context) {
    (void)input;
    vow_promise *end = vow_scope_close(context);
    int64_t answer = vow_await(end, VOW_FOREVER, NULL);
    vow_promise_release(end);
    return vow_int(answer);
}

static vow_value adopt_own_end(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(vow_scope_close(context));
}

TEST("a member that waits for the end of its own scope is refused, however many there are") {
    for (int others = 0; others <= 1000; others += 1000) {
        vow_resolver *gate;
        vow_promise *open = vow_promise_create(&gate);
        vow_scope *scope = vow_scope_create();
        vow_promise *member =
            vow_then(vow_promise_retain(open), wait_for_own_end, vow_scope_retain(scope));
        CHECK_INT_EQ(vow_scope_add(scope, vow_promise_retain(member)), 0);
        for (int i = 0; i < others; i++) {
            CHECK_INT_EQ(vow_scope_add(scope, vow_promise_retain(open)), 0);
        }
        vow_resolver *last;
        CHECK_INT_EQ(vow_scope_add(scope, vow_promise_create(&last)), 0);
        vow_promise *end = vow_scope_close(scope);
        vow_resolve(gate, vow_none());
        CHECK_INT_EQ(int_of(member), VOW_EDEADLOCK);
        vow_resolve(last, vow_none());
        CHECK_INT_EQ(code_of(end), 0);
        vow_resolver_release(gate);
        vow_resolver_release(last);
        vow_promise_release(open);
    }
}

TEST("a member that adopts the end of its own scope is rejected with VOW_ECYCLE") {
    for (int others = 0; others <= 1000; others += 1000) {
        vow_scope *scope = vow_scope_create();
        vow_resolver *gate;
        vow_promise *open = vow_promise_create(&gate);
        vow_promise *member =
            vow_then(vow_promise_retain(open), adopt_own_end, vow_scope_retain(scope));
        CHECK_INT_EQ(vow_scope_add(scope, vow_promise_retain(member)), 0);
        vow_resolver *last;
        vow_promise *waiting = vow_promise_create(&last);
        for (int i = 0; i < others; i++) {
            CHECK_INT_EQ(vow_scope_add(scope, vow_promise_retain(waiting)), 0);
        }
        CHECK_INT_EQ(vow_scope_add(scope, waiting), 0);
        vow_resolve(gate, vow_none());
        CHECK_INT_EQ(code_of(member), VOW_ECYCLE);
        vow_resolve(last, vow_none());
        CHECK_INT_EQ(code_of(vow_scope_close(scope)), VOW_ECYCLE);
        vow_resolver_release(gate);
        vow_resolver_release(last);
        vow_promise_release(open);
    }
}

TEST("work that vow_scope_async began and that waits for the end of its scope is refused") {
    vow_scope *scope = vow_scope_create();
    vow_promise *work =
        vow_scope_async(scope, NULL, wait_for_own_end, vow_scope_retain(scope), NULL);
    CHECK_INT_EQ(int_of(work), VOW_EDEADLOCK);
    CHECK_INT_EQ(code_of(vow_scope_close(scope)), 0);
}

TEST("without memory work is rejected, its context destroyed once, and the scope ends") {
    for (int nth = 1;; nth++) {
        counter its = {0};
        vow_scope *scope = scope_with(VOW_SCOPE_FAIL_FAST);
        atomic_store(&counts.failed, 0);
        atomic_store(&counts.countdown, nth);
        int64_t code = code_of(vow_scope_async(scope, NULL, counter_run, &its, counter_end));
        atomic_store(&counts.countdown, 0);
        CHECK(code == 0 || code == VOW_ENOMEM);
        CHECK_INT_EQ(its.ends, 1);
        CHECK_INT_EQ(its.runs, code == 0);
        int64_t end = code_of(vow_scope_close(scope));
        CHECK(end == 0 || end == VOW_ENOMEM);
        if (atomic_load(&counts.failed) == 0) {
            break;
        }
    }
}
