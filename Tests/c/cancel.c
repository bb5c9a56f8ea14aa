/* Tests cancelling: what it reaches, and where it stops. */
#include "cancel_tools.h"

TEST("cancelling rejects a pending promise at once, and tells its producer once") {
    vow_resolver *resolver;
    hook told = {0};
    vow_promise *promise = hooked(&resolver, &told);
    CHECK(vow_cancel(promise));
    is_cancelled(promise);
    hook_is(&told, 1, 1);
    CHECK(!vow_cancel(promise));
    CHECK(!vow_resolve(resolver, vow_int(1)));
    vow_promise_release(promise);
    vow_resolver_release(resolver);
    hook_is(&told, 1, 1);
}

TEST("a settled promise cannot be cancelled, and its hooks are only destroyed") {
    vow_resolver *resolver;
    hook told = {0};
    vow_promise *promise = hooked(&resolver, &told);
    CHECK(vow_resolve(resolver, vow_int(1)));
    hook_is(&told, 0, 1);
    CHECK(!vow_cancel(promise));
    CHECK_INT_EQ(vow_promise_state(promise), VOW_FULFILLED);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}

TEST("releasing the last handle of a pending promise tells its producer, and settles nothing") {
    vow_resolver *resolver;
    hook told = {0};
    vow_promise *promise = hooked(&resolver, &told);
    vow_promise_retain(promise);
    vow_promise_release(promise);
    hook_is(&told, 0, 0);
    vow_promise_release(promise);
    hook_is(&told, 1, 1);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
}

TEST("a reaction keeps the interest alive, whoever holds it") {
    vow_resolver *resolver;
    hook told = {0};
    counter ran = {0};
    vow_promise *promise = hooked(&resolver, &told);
    vow_promise_release(counted(vow_executor_inline(), promise, &ran));
    hook_is(&told, 0, 0);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    hook_is(&told, 0, 1);
    hook_is(&ran, 1, 1);
}

TEST("cancelling the end of a chain cancels all of it, up to the producer") {
    vow_resolver *resolver;
    hook told = {0};
    counter ran = {0};
    vow_promise *promise = hooked(&resolver, &told);
    for (int i = 0; i < 5; i++) {
        promise = counted(vow_executor_inline(), promise, &ran);
    }
    CHECK(vow_cancel(promise));
    is_cancelled(promise);
    hook_is(&told, 1, 1);
    hook_is(&ran, 0, 5);
    CHECK(!vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    hook_is(&ran, 0, 5);
}

TEST("what somebody else holds or reads is not cancelled") {
    vow_resolver *resolver;
    hook told = {0};
    counter one = {0};
    counter other = {0};
    vow_promise *shared = counted(vow_executor_inline(), hooked(&resolver, &told), &one);
    vow_promise *left = then_inline(vow_promise_retain(shared), add_one, NULL);
    vow_promise *right = counted(vow_executor_inline(), shared, &other);
    CHECK(vow_cancel(left));
    is_cancelled(left);
    hook_is(&told, 0, 0);
    CHECK_INT_EQ(vow_promise_state(right), VOW_PENDING);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    hook_is(&one, 1, 1);
    hook_is(&other, 1, 1);
    CHECK_INT_EQ(int_of(right), 1);
    vow_promise_release(left);
}

TEST("the last of several readers to be cancelled cancels what they share") {
    vow_resolver *resolver;
    hook told = {0};
    vow_promise *shared = hooked(&resolver, &told);
    vow_promise *left = then_inline(vow_promise_retain(shared), add_one, NULL);
    vow_promise *right = then_inline(shared, add_one, NULL);
    CHECK(vow_cancel(left));
    hook_is(&told, 0, 0);
    CHECK(vow_cancel(right));
    hook_is(&told, 1, 1);
    vow_resolver_release(resolver);
    vow_promise_release(left);
    vow_promise_release(right);
}

TEST("rejection handlers downstream get VOW_ECANCELLED, with the reason") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise *after = catch_inline(vow_promise_retain(promise), give_code, NULL);
    CHECK(vow_cancel_with(promise, vow_string("enough", VOW_NUL_TERMINATED)));
    CHECK_INT_EQ(int_of(after), VOW_ECANCELLED);
    vow_value error;
    CHECK(vow_promise_peek(promise, &error));
    CHECK_STR_EQ(vow_string_bytes(vow_error_payload(error), NULL), "enough");
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}

TEST("cancelling goes through adoption: the adopted promise is cancelled if nobody else has it") {
    for (int is_held = 0; is_held < 2; is_held++) {
        vow_resolver *inner, *outer;
        hook told = {0};
        vow_promise *adopted = hooked(&inner, &told);
        vow_promise *promise = vow_promise_create(&outer);
        if (is_held) {
            vow_promise_retain(adopted);
        }
        CHECK(vow_resolve(outer, vow_from_promise(adopted)));
        CHECK(vow_cancel(promise));
        is_cancelled(promise);
        hook_is(&told, is_held ? 0 : 1, is_held ? 0 : 1);
        if (is_held) {
            CHECK_INT_EQ(vow_promise_state(adopted), VOW_PENDING);
            CHECK(vow_resolve(inner, vow_int(2)));
            CHECK_INT_EQ(int_of(adopted), 2);
        }
        vow_resolver_release(inner);
        vow_resolver_release(outer);
        vow_promise_release(promise);
        hook_is(&told, is_held ? 0 : 1, 1);
    }
}

TEST("releasing a promise that adopted another one loses the interest in that") {
    vow_resolver *inner, *outer;
    hook told = {0};
    vow_promise *promise = vow_promise_create(&outer);
    CHECK(vow_resolve(outer, vow_from_promise(hooked(&inner, &told))));
    vow_resolver_release(outer);
    hook_is(&told, 0, 0);
    vow_promise_release(promise);
    hook_is(&told, 1, 1);
    vow_resolver_release(inner);
}

TEST("NULL is cancelled in vain, a hook without a function or a resolver is refused") {
    hook never = {0};
    vow_promise *no_promise = NULL;
    vow_resolver *no_resolver = NULL;
    void (*no_function)(void *) = NULL;
    CHECK(!vow_cancel(no_promise));
    CHECK(!vow_cancel_with(no_promise, vow_string("reason", VOW_NUL_TERMINATED)));
    CHECK_INT_EQ(vow_resolver_on_cancel(no_resolver, hook_called, &never, counter_end), VOW_EINVAL);
    hook_is(&never, 0, 1);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK_INT_EQ(vow_resolver_on_cancel(resolver, no_function, &never, counter_end), VOW_EINVAL);
    hook_is(&never, 0, 2);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}

static atomic_int reports;

static void report(vow_value error, void *context) {
    (void)error;
    (void)context;
    atomic_fetch_add(&reports, 1);
}

TEST("a cancelled promise is nothing to report as unhandled, nor what its producer then rejects") {
    vow_resolver *resolver;
    hook told = {0};
    vow_on_unhandled(report, NULL);
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(vow_cancel(promise));
    vow_promise_release(promise);
    vow_resolver_release(resolver);
    vow_promise_release(hooked(&resolver, &told));
    CHECK(vow_reject(resolver, vow_error("test", 1, "stopped")));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(atomic_load(&reports), 0);
    vow_on_unhandled(NULL, NULL);
}

#define READERS 100000

static void *cancel_long_chain(void *context) {
    hook *told = context;
    vow_resolver *resolver;
    vow_promise *promise = hooked(&resolver, told);
    for (int i = 0; i < depth_of(1000000); i++) {
        promise = then_inline(promise, add_one, NULL);
    }
    CHECK(vow_cancel(promise));
    is_cancelled(promise);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
    return NULL;
}

TEST("G6: a chain of very many links is cancelled on a small stack") {
    hook told = {0};
    on_small_stack(cancel_long_chain, &told);
    hook_is(&told, 1, 1);
}

static void *cancel_readers(void *context) {
    vow_resolver *resolver;
    vow_promise *shared = vow_promise_create(&resolver);
    vow_promise **readers = malloc(READERS * sizeof *readers);
    (void)context;
    for (int i = 0; i < READERS; i++) {
        readers[i] = then_inline(vow_promise_retain(shared), add_one, NULL);
    }
    /* The oldest first: the deepest in the queue. */
    for (int i = 0; i < READERS; i++) {
        CHECK(vow_cancel(readers[i]));
        vow_promise_release(readers[i]);
    }
    free(readers);
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK_INT_EQ(int_of(shared), 1);
    vow_resolver_release(resolver);
    return NULL;
}

TEST("a hundred thousand readers of one promise are cancelled in linear time") {
    on_small_stack(cancel_readers, NULL);
}
