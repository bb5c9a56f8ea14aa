/* Tests adoption: a promise resolved with a promise follows it, in turn and without cycles. */
#include "tools.h"

typedef struct pair {
    vow_promise *promise;
    vow_resolver *resolver;
} pair;

static pair pair_new(void) {
    pair made;
    made.promise = vow_promise_create(&made.resolver);
    return made;
}

/* Resolves a pair with another promise (borrowed) and lets its resolver go. */
static void pair_follow(pair *self, vow_promise *target) {
    CHECK(vow_resolve(self->resolver, vow_from_promise(vow_promise_retain(target))));
    vow_resolver_release(self->resolver);
}

static void pair_finish(pair *self, vow_value value) {
    CHECK(vow_resolve(self->resolver, value));
    vow_resolver_release(self->resolver);
}

TEST("handlers registered before and after an adoption all run, in order") {
    journal seen = {0};
    entry entries[6];
    pair outer = pair_new();
    pair inner = pair_new();
    for (int i = 0; i < 6; i++) {
        entries[i].in = &seen;
        entries[i].number = i;
        if (i == 3) {
            pair_follow(&outer, inner.promise);
        }
        if (i == 5) {
            pair_finish(&inner, vow_int(1));
        }
        vow_promise_release(
            then_inline(vow_promise_retain(outer.promise), entry_write, &entries[i]));
    }
    journal_counts_to(&seen, 6);
    vow_promise_release(outer.promise);
    vow_promise_release(inner.promise);
}

TEST("promises adopted in turn settle together, whichever way they were linked") {
    for (int way = 0; way < 2; way++) {
        pair row[20];
        for (int i = 0; i < 20; i++) {
            row[i] = pair_new();
        }
        for (int i = 0; i < 19; i++) {
            int at = way == 0 ? i : 18 - i;
            pair_follow(&row[at], row[at + 1].promise);
        }
        CHECK_INT_EQ(vow_promise_state(row[0].promise), VOW_PENDING);
        pair_finish(&row[19], vow_int(77));
        for (int i = 0; i < 20; i++) {
            CHECK_INT_EQ(int_of(row[i].promise), 77);
        }
    }
}

TEST("the value of an adopted promise outlives the adopted promise") {
    pair outer = pair_new();
    pair inner = pair_new();
    pair_follow(&outer, inner.promise);
    vow_promise_release(inner.promise);
    pair_finish(&inner, vow_string("kept", 4));
    vow_value out;
    CHECK(vow_promise_peek(outer.promise, &out));
    CHECK_STR_EQ(vow_string_bytes(out, NULL), "kept");
    vow_promise_release(outer.promise);
}

TEST("an adopting promise may be released before the adopted one settles") {
    pair outer = pair_new();
    pair inner = pair_new();
    pair_follow(&outer, inner.promise);
    vow_promise_release(outer.promise);
    pair_finish(&inner, vow_int(3));
    CHECK_INT_EQ(int_of(inner.promise), 3);
}

static void *settle_later(void *context) {
    usleep(20000);
    pair_finish(context, vow_int(12));
    return NULL;
}

TEST("a wait on an adopting promise wakes when the adopted one settles") {
    pair outer = pair_new();
    pair inner = pair_new();
    pair_follow(&outer, inner.promise);
    pthread_t thread = start_thread(settle_later, &inner);
    CHECK_INT_EQ(int_of(outer.promise), 12);
    pthread_join(thread, NULL);
    vow_promise_release(inner.promise);
}

TEST("a wait that began before the adoption wakes too") {
    pair outer = pair_new();
    pair inner = pair_new();
    vow_promise *through = then_inline(vow_promise_retain(outer.promise), add_one, NULL);
    pthread_t thread = start_thread(settle_later, &outer);
    CHECK_INT_EQ(int_of(through), 13);
    pthread_join(thread, NULL);
    vow_promise_release(outer.promise);
    pair_finish(&inner, vow_int(1));
    vow_promise_release(inner.promise);
}

static void *follow_then_settle(void *context) {
    pair *pairs = context;
    usleep(20000);
    pair_follow(&pairs[0], pairs[1].promise);
    usleep(20000);
    pair_finish(&pairs[1], vow_int(14));
    return NULL;
}

TEST("a thread that waits is not lost when the promise adopts meanwhile") {
    pair pairs[2] = {pair_new(), pair_new()};
    pthread_t thread = start_thread(follow_then_settle, pairs);
    vow_value out;
    CHECK_INT_EQ(vow_await(pairs[0].promise, LONG_ENOUGH, &out), VOW_FULFILLED);
    CHECK_INT_EQ(out.as.integer, 14);
    pthread_join(thread, NULL);
    vow_promise_release(pairs[0].promise);
    vow_promise_release(pairs[1].promise);
}

TEST("a ring of promises is rejected with VOW_ECYCLE, in whatever order it is closed") {
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int order = 0; order < 6; order++) {
        pair ring[3] = {pair_new(), pair_new(), pair_new()};
        counter seen = {0};
        vow_promise *watch = either_on(vow_executor_inline(), vow_promise_retain(ring[1].promise),
                                       counter_run, &seen);
        for (int i = 0; i < 3; i++) {
            int at = orders[order][i];
            pair_follow(&ring[at], ring[(at + 1) % 3].promise);
        }
        for (int i = 0; i < 3; i++) {
            CHECK_INT_EQ(code_of(ring[i].promise), VOW_ECYCLE);
        }
        CHECK_INT_EQ(atomic_load(&seen.runs), 1);
        CHECK_INT_EQ(code_of(watch), VOW_ECYCLE);
    }
}
