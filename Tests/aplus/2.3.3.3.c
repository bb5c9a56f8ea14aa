/* Promises/A+ 2.3.3.3: how an object is asked: with itself, a resolver of its own, and once. */
#include "asked.h"

/* Names its promise and answers itself, so that the caller can tell one object from another. */
static bool act_self(asked *self, vow_resolver *resolver) {
    CHECK(vow_resolve(resolver, vow_pointer(self)));
    vow_resolver_release(resolver);
    return true;
}

static void is_its_own(asked *self, vow_promise *promise) {
    FULFILLED_WITH(promise, vow_pointer(self));
}

TEST("2.3.3.3: subscribe gets the pointer of its object") {
    in_each_place(act_self, vow_none(), is_its_own);
}

static bool act_keep(asked *self, vow_resolver *resolver) {
    self->kept = resolver;
    return true;
}

TEST("2.3.3.3: each subscribe gets a resolver of its own, for its promise only") {
    asked thenables[2] = {{.act = act_keep}, {.act = act_keep}};
    vow_promise *promises[2];
    for (int i = 0; i < 2; i++) {
        promises[i] = asked_in(1, &thenables[i]);
        CHECK(reaches(&thenables[i].calls, 1));
    }
    CHECK(thenables[0].kept != thenables[1].kept);
    CHECK(vow_resolve(thenables[1].kept, vow_int(1)));
    CHECK_INT_EQ(vow_promise_state(promises[0]), VOW_PENDING);
    CHECK_INT_EQ(vow_promise_state(promises[1]), VOW_FULFILLED);
    CHECK(vow_reject(thenables[0].kept, vow_error("test", 2, NULL)));
    CHECK_INT_EQ(int_of(promises[1]), 1);
    CHECK_INT_EQ(code_of(promises[0]), 2);
    for (int i = 0; i < 2; i++) {
        vow_resolver_release(thenables[i].kept);
        asked_end(&thenables[i]);
    }
}

static void is_not_kept(asked *self, vow_promise *promise) {
    CHECK(reaches(&self->ends, 1));
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    CHECK(vow_resolve(self->kept, vow_int(3)));
    vow_resolver_release(self->kept);
    FULFILLED_WITH(promise, vow_int(3));
}

TEST("2.3.3.3: an object that answered true is let go, and may settle all the same") {
    in_each_place(act_keep, vow_none(), is_not_kept);
}

TEST("2.3.3.3: an object is asked although nobody holds the promise any more") {
    asked thenable = {.act = act_self};
    vow_promise_release(asked_in(4, &thenable));
    CHECK(reaches(&thenable.ends, 1));
    asked_end(&thenable);
}

TEST("2.3.3.3: an object that came too late, or inside a list or an error, is not asked") {
    asked thenable = {.act = act_self};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK(!vow_resolve(resolver, vow_object(&thenable, &asked_class)));
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&thenable.ends), 1);
    vow_value item = vow_object(&thenable, &asked_class);
    vow_promise_release(vow_promise_with(vow_list(&item, 1)));
    CHECK_INT_EQ(atomic_load(&thenable.ends), 2);
    item = vow_object(&thenable, &asked_class);
    CHECK_INT_EQ(code_of(vow_promise_with(vow_error_wrap("test", 4, NULL, item))), 4);
    CHECK_INT_EQ(atomic_load(&thenable.ends), 3);
    CHECK_INT_EQ(atomic_load(&thenable.calls), 0);
}
