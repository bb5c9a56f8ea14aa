/* Promises/A+ 2.3.3.3.2: a thenable rejects: the reason arrives as it is, and nothing follows it.
 */
#include "asked.h"

static bool act_reject(asked *self, vow_resolver *resolver) {
    CHECK(vow_reject(resolver, vow_value_retain(self->gives)));
    vow_resolver_release(resolver);
    return true;
}

static bool act_keep(asked *self, vow_resolver *resolver) {
    self->kept = resolver;
    return true;
}

static void *reject_kept(void *context) {
    asked *self = context;
    usleep(300);
    CHECK(vow_reject(self->kept, vow_value_retain(self->gives)));
    vow_resolver_release(self->kept);
    return NULL;
}

/* The reason arrives: an error as itself, anything else as the payload of one. */
static void has_the_reason(asked *self, vow_promise *promise) {
    vow_value out = vow_none();
    CHECK_INT_EQ(vow_await(promise, LONG_ENOUGH, &out), VOW_REJECTED);
    if (self->gives.kind == VOW_ERROR) {
        CHECK(same(out, self->gives));
    } else {
        CHECK_INT_EQ(vow_error_code(out), VOW_EREASON);
        CHECK(same(vow_error_payload(out), self->gives));
    }
    vow_value_release(out);
}

static void gets_it_later(asked *self, vow_promise *promise) {
    CHECK(reaches(&self->calls, 1));
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    pthread_t thread = start_thread(reject_kept, self);
    has_the_reason(self, promise);
    pthread_join(thread, NULL);
}

static void rejects_with(vow_value reason) {
    in_each_place(act_reject, reason, has_the_reason);
    in_each_place(act_keep, reason, gets_it_later);
    vow_value_release(reason);
}

TEST("2.3.3.3.2: an error that a thenable rejects with is the one that arrives") {
    rejects_with(vow_error("test", 1, "reason"));
    rejects_with(vow_error_wrap("test", 1, NULL, vow_error("test", 2, "inside")));
}

TEST("2.3.3.3.2: a plain value that a thenable rejects with arrives inside an error") {
    rejects_with(vow_none());
    rejects_with(vow_int(0));
    rejects_with(vow_string("reason", 6));
}

TEST("2.3.3.3.2: a promise as a reason is not followed, whether it is settled or not") {
    vow_resolver *resolver;
    rejects_with(vow_from_promise(fulfilled_int(1)));
    vow_promise *pending = vow_promise_create(&resolver);
    rejects_with(vow_from_promise(vow_promise_retain(pending)));
    CHECK(vow_resolve(resolver, vow_int(2)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(pending), 2);
}

static bool act_never(asked *self, vow_resolver *resolver) {
    (void)self;
    CHECK(!"a reason is asked");
    vow_resolver_release(resolver);
    return true;
}

TEST("2.3.3.3.2: a thenable as a reason is not asked") {
    asked reason = {.act = act_never};
    rejects_with(vow_object(&reason, &asked_class));
    CHECK(reaches(&reason.ends, 1));
    CHECK_INT_EQ(atomic_load(&reason.ends), 1);
    CHECK_INT_EQ(atomic_load(&reason.calls), 0);
}
