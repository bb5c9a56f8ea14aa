/* Tests of who may do what with a scope for how long: references, members that come late, the end.
 */
#include "tools.h"

static vow_promise *pending(vow_resolver **resolver) {
    return vow_promise_create(resolver);
}

static void settle(vow_resolver *resolver) {
    vow_resolve(resolver, vow_none());
    vow_resolver_release(resolver);
}

TEST("a holder of a reference adds members after another one has closed the scope") {
    vow_resolver *first, *late;
    vow_scope *scope = vow_scope_create();
    vow_scope *kept = vow_scope_retain(scope);
    CHECK(kept == scope);
    CHECK_INT_EQ(vow_scope_add(scope, pending(&first)), 0);
    vow_promise *end = vow_scope_close(scope);
    CHECK_INT_EQ(vow_scope_add(kept, pending(&late)), 0);
    settle(first);
    CHECK_INT_EQ(vow_promise_state(end), VOW_PENDING);
    settle(late);
    CHECK_INT_EQ(vow_promise_state(end), VOW_FULFILLED);
    vow_promise_release(end);
    vow_scope_release(kept);
    CHECK(vow_scope_retain(NULL) == NULL);
}

TEST("a scope that has ended refuses members with VOW_ESHUTDOWN, and cancels them") {
    vow_resolver *late;
    vow_scope *scope = vow_scope_create();
    vow_scope *kept = vow_scope_retain(scope);
    CHECK_INT_EQ(code_of(vow_scope_close(scope)), 0);
    vow_promise *promise = pending(&late);
    CHECK_INT_EQ(vow_scope_add(kept, vow_promise_retain(promise)), VOW_ESHUTDOWN);
    CHECK_INT_EQ(code_of(promise), VOW_ECANCELLED);
    vow_scope_cancel(kept);
    CHECK_INT_EQ(vow_scope_add(kept, fulfilled_int(1)), VOW_ESHUTDOWN);
    counter its = {0};
    CHECK_INT_EQ(code_of(vow_scope_async(kept, NULL, counter_run, &its, counter_end)),
                 VOW_ESHUTDOWN);
    CHECK_INT_EQ(its.runs, 0);
    CHECK_INT_EQ(its.ends, 1);
    vow_resolver_release(late);
    vow_scope_release(kept);
}

TEST("everybody who closes a scope gets the promise of its end, also after the first has let it "
     "go") {
    vow_resolver *resolver;
    vow_scope *scope = vow_scope_create();
    vow_scope *second = vow_scope_retain(scope);
    vow_scope *third = vow_scope_retain(scope);
    CHECK_INT_EQ(vow_scope_add(scope, pending(&resolver)), 0);
    vow_promise_release(vow_scope_close(scope));
    vow_promise *end = vow_scope_close(second);
    CHECK_INT_EQ(vow_promise_state(end), VOW_PENDING);
    vow_promise_release(end);
    vow_reject(resolver, vow_error("test", 4, NULL));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(code_of(vow_scope_close(third)), 4);
}

TEST("a reference that is given back cancels nothing, but for the last one of a scope nobody "
     "closed") {
    vow_resolver *resolver;
    vow_scope *scope = vow_scope_create();
    vow_scope *kept = vow_scope_retain(scope);
    vow_promise *member = pending(&resolver);
    CHECK_INT_EQ(vow_scope_add(scope, vow_promise_retain(member)), 0);
    vow_scope_release(scope);
    CHECK_INT_EQ(vow_promise_state(member), VOW_PENDING);
    vow_scope_release(kept);
    CHECK_INT_EQ(code_of(member), VOW_ECANCELLED);
    vow_resolver_release(resolver);

    scope = vow_scope_create();
    kept = vow_scope_retain(scope);
    member = pending(&resolver);
    CHECK_INT_EQ(vow_scope_add(scope, vow_promise_retain(member)), 0);
    vow_promise *end = vow_scope_close(scope);
    vow_scope_release(kept);
    CHECK_INT_EQ(vow_promise_state(member), VOW_PENDING);
    settle(resolver);
    CHECK_INT_EQ(code_of(end), 0);
    vow_promise_release(member);
}

TEST("cancelling what reads a scope's end cancels the scope, though others hold references") {
    vow_resolver *resolver;
    vow_scope *scope = vow_scope_create();
    vow_scope *kept = vow_scope_retain(scope);
    vow_promise *member = pending(&resolver);
    CHECK_INT_EQ(vow_scope_add(scope, vow_promise_retain(member)), 0);
    vow_promise *chain = then_inline(vow_scope_close(scope), add_one, NULL);
    CHECK(vow_cancel(chain));
    CHECK_INT_EQ(code_of(chain), VOW_ECANCELLED);
    CHECK_INT_EQ(code_of(member), VOW_ECANCELLED);
    vow_resolver_release(resolver);
    vow_scope_release(kept);
}

static void note_unhandled(vow_value error, void *context) {
    atomic_store((_Atomic int64_t *)context, vow_error_code(error));
}

TEST("the failure of a member of a scope that is released, not closed, is reported as unhandled") {
    for (int way = 0; way < 2; way++) {
        _Atomic int64_t reported = 0;
        vow_on_unhandled(note_unhandled, &reported);
        vow_resolver *resolver;
        vow_scope *scope = vow_scope_create();
        vow_promise *member =
            way ? catch_inline(pending(&resolver), give_code, NULL) : pending(&resolver);
        CHECK_INT_EQ(vow_scope_add(scope, member), 0);
        CHECK_INT_EQ(vow_scope_add(scope, rejected_code(5)), 0);
        CHECK_INT_EQ(reported, 0);
        vow_scope_release(scope);
        CHECK_INT_EQ(reported, 5);
        vow_resolver_release(resolver);
        vow_on_unhandled(NULL, NULL);
    }
}

TEST("a promise added to a cancelled scope is cancelled, and the end waits for it") {
    vow_resolver *stubborn, *late;
    vow_scope *scope = vow_scope_create();
    vow_promise *member = vow_promise_create_with(&stubborn, VOW_COOPERATIVE);
    CHECK_INT_EQ(vow_scope_add(scope, member), 0);
    vow_scope_cancel(scope);
    member = vow_promise_create_with(&late, VOW_COOPERATIVE);
    CHECK_INT_EQ(vow_scope_add(scope, member), VOW_ECANCELLED);
    vow_promise *end = vow_scope_close(scope);
    settle(stubborn);
    CHECK_INT_EQ(vow_promise_state(end), VOW_PENDING);
    settle(late);
    CHECK_INT_EQ(code_of(end), 0);
}

/* Adds as long as it can, but not for ever: a scope that always has a member never ends. The
 * answers are 0, and then VOW_ESHUTDOWN. */
typedef struct adder {
    vow_scope *scope;
    atomic_int added, settled, refused;
} adder;

static vow_value note_settled(vow_value input, void *context) {
    atomic_fetch_add((atomic_int *)context, 1);
    return vow_value_retain(input);
}

static void *add_until_it_ends(void *context) {
    adder *its = context;
    for (int left = 300; left > 0; left--) {
        vow_promise *member = vow_async(NULL, note_settled, &its->settled);
        int answer = vow_scope_add(its->scope, member);
        if (answer != 0) {
            CHECK_INT_EQ(answer, VOW_ESHUTDOWN);
            atomic_fetch_add(&its->refused, 1);
            break;
        }
        atomic_fetch_add(&its->added, 1);
    }
    vow_scope_release(its->scope);
    return NULL;
}

TEST("members are added on several threads until the scope ends, and the end waits for each") {
    int refused = 0;
    for (int round = 0; round < many_of(200, 2000); round++) {
        adder its = {.scope = vow_scope_create()};
        vow_scope_retain(its.scope);
        vow_scope_retain(its.scope);
        CHECK_INT_EQ(vow_scope_add(its.scope, vow_delay(100000)), 0);
        vow_promise *end = vow_scope_close(its.scope);
        pthread_t threads[2] = {start_thread(add_until_it_ends, &its),
                                start_thread(add_until_it_ends, &its)};
        CHECK_INT_EQ(vow_await(end, LONG_ENOUGH, NULL), VOW_FULFILLED);
        pthread_join(threads[0], NULL);
        pthread_join(threads[1], NULL);
        refused += its.refused;
        CHECK(its.settled >= its.added);
        vow_promise_release(end);
        /* One that came too late may run still. */
        handlers_left(0);
    }
    printf("# %d came too late\n", refused);
}
