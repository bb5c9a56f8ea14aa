/* G8: a promise that adopts the end of a long chain closes a ring or not, whoever waits for it. */
#include "tools.h"

enum { LONG = 1000, MOST = 100 };

static vow_promise *chain_behind(vow_promise *promise, int length) {
    for (int i = 0; i < length; i++) {
        promise = then_inline(promise, add_one, NULL);
    }
    return promise;
}

static void check_ring(int readers, int length) {
    vow_promise *read[MOST];
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise *tail = chain_behind(vow_promise_retain(promise), length);
    for (int i = 0; i < readers; i++) {
        read[i] = then_inline(vow_promise_retain(promise), add_one, NULL);
    }
    CHECK(vow_resolve(resolver, vow_from_promise(vow_promise_retain(tail))));
    CHECK_INT_EQ(code_of(promise), VOW_ECYCLE);
    CHECK_INT_EQ(code_of(tail), VOW_ECYCLE);
    for (int i = 0; i < readers; i++) {
        CHECK_INT_EQ(code_of(read[i]), VOW_ECYCLE);
    }
    vow_resolver_release(resolver);
}

TEST("G8: a ring of a thousand links is found, be there a hundred others that wait for who closes "
     "it") {
    for (int readers = 0; readers <= MOST; readers++) {
        check_ring(readers, 1 + readers % 7);
        check_ring(readers, LONG);
    }
}

static void check_no_ring(int readers) {
    vow_promise *read[MOST];
    vow_resolver *first, *resolver;
    vow_promise *tail = chain_behind(vow_promise_create(&first), LONG);
    vow_promise *promise = vow_promise_create(&resolver);
    for (int i = 0; i < readers; i++) {
        read[i] = chain_behind(vow_promise_retain(promise), 1 + i % 3);
    }
    CHECK(vow_resolve(resolver, vow_from_promise(tail)));
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    CHECK(vow_resolve(first, vow_int(0)));
    CHECK_INT_EQ(int_of(promise), LONG);
    for (int i = 0; i < readers; i++) {
        CHECK_INT_EQ(int_of(read[i]), LONG + 1 + i % 3);
    }
    vow_resolver_release(first);
    vow_resolver_release(resolver);
}

TEST("G8: whoever follows a chain of a thousand and is waited for gets its outcome") {
    for (int readers = 0; readers <= MOST; readers++) {
        check_no_ring(readers);
    }
}

/* The ring goes through a combined promise below the one that closes it. */
TEST("G8: a ring through vow_all of who closes it and of the chain is found") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise *members[] = {vow_promise_retain(promise), fulfilled_int(1)};
    vow_promise *tail = chain_behind(vow_all(members, 2), LONG);
    CHECK(vow_resolve(resolver, vow_from_promise(vow_promise_retain(tail))));
    CHECK_INT_EQ(code_of(promise), VOW_ECYCLE);
    CHECK_INT_EQ(code_of(tail), VOW_ECYCLE);
    vow_resolver_release(resolver);
}
