/* Promises/A+ 2.3.3.3.4: subscribe fails, before or after it has settled something.
 *
 * To fail, as a thrown error does, is here: to return false, or to let go of the resolver.
 */
#include "asked.h"
#include "offer.h"

static void *resolve_kept(void *context) {
    asked *self = context;
    CHECK(vow_resolve(self->kept, vow_value_retain(self->gives)));
    return NULL;
}

static bool act_resolve_and_fail(asked *self, vow_resolver *resolver) {
    CHECK(vow_resolve(resolver, vow_value_retain(self->gives)));
    vow_resolver_release(resolver);
    return false;
}

static bool act_reject_and_fail(asked *self, vow_resolver *resolver) {
    CHECK(vow_reject(resolver, vow_value_retain(self->gives)));
    vow_resolver_release(resolver);
    return false;
}

static bool act_let_thread_and_fail(asked *self, vow_resolver *resolver) {
    self->kept = resolver;
    pthread_join(start_thread(resolve_kept, self), NULL);
    vow_resolver_release(resolver);
    return false;
}

static void has_what_was_given(asked *self, vow_promise *promise) {
    vow_state state = self->gives.kind == VOW_ERROR ? VOW_REJECTED : VOW_FULFILLED;
    ENDS_AS(vow_promise_retain(promise), state, self->gives);
}

TEST("2.3.3.3.4.1: false after resolving is ignored") {
    vow_value value = vow_string("value", 5);
    vow_value error = vow_error("test", 1, "reason");
    in_each_place(act_resolve_and_fail, value, has_what_was_given);
    in_each_place(act_resolve_and_fail, error, has_what_was_given);
    in_each_place(act_let_thread_and_fail, value, has_what_was_given);
    vow_value_release(value);
    vow_value_release(error);
}

TEST("2.3.3.3.4.1: false after rejecting is ignored") {
    vow_value error = vow_error("test", 1, "reason");
    in_each_place(act_reject_and_fail, error, has_what_was_given);
    vow_value_release(error);
}

/* Resolves with an offer, some of which have no outcome yet, and fails. */
static bool give_and_fail(void *pointer, vow_resolver *resolver) {
    CHECK(vow_resolve(resolver, offer_value(pointer)));
    vow_resolver_release(resolver);
    return false;
}

static const vow_class failing = {sizeof(vow_class), "failing", NULL, give_and_fail};

static void follows_the_offer(offer *self, void *context) {
    (void)context;
    offer_expect(self, vow_promise_with(vow_object(self, &failing)));
}

TEST("2.3.3.3.4.1: false is ignored after resolving with a promise or thenable, settled or not") {
    for_each_offer(follows_the_offer, NULL);
}

static bool act_resolve_and_drop_twice(asked *self, vow_resolver *resolver) {
    vow_resolver_retain(resolver);
    CHECK(vow_resolve(resolver, vow_value_retain(self->gives)));
    vow_resolver_release(resolver);
    vow_resolver_release(resolver);
    return true;
}

TEST("2.3.3.3.4.1: to let go of the resolver after resolving is no failure") {
    vow_value value = vow_string("value", 5);
    in_each_place(act_resolve_and_drop_twice, value, has_what_was_given);
    vow_value_release(value);
}

static bool act_drop(asked *self, vow_resolver *resolver) {
    (void)self;
    vow_resolver_release(vow_resolver_retain(resolver));
    vow_resolver_release(resolver);
    return true;
}

static void is_broken(asked *self, vow_promise *promise) {
    vow_value out = vow_none();
    (void)self;
    CHECK_INT_EQ(vow_await(promise, LONG_ENOUGH, &out), VOW_REJECTED);
    CHECK_STR_EQ(vow_error_domain(out), "vow");
    CHECK_INT_EQ(vow_error_code(out), VOW_EBROKEN);
    vow_value_release(out);
}

TEST("2.3.3.3.4.2: to let go of the resolver before resolving rejects") {
    in_each_place(act_drop, vow_none(), is_broken);
}

static bool act_keep(asked *self, vow_resolver *resolver) {
    self->kept = resolver;
    return true;
}

static void *drop_kept(void *resolver) {
    usleep(300);
    vow_resolver_release(resolver);
    return NULL;
}

static void breaks_later(asked *self, vow_promise *promise) {
    CHECK(reaches(&self->calls, 1));
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    pthread_t thread = start_thread(drop_kept, self->kept);
    is_broken(self, promise);
    pthread_join(thread, NULL);
}

TEST("2.3.3.3.4.2: to let go of it later, on another thread, rejects then") {
    in_each_place(act_keep, vow_none(), breaks_later);
}
