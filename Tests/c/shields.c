/* vow_shield: who gives shields up leaves nothing, and the promise goes on. */
#include "tools.h"

enum { SHIELDS = 1000 };

typedef struct story {
    vow_promise *promise;
    vow_resolver *resolver;
    uint64_t bytes;
    atomic_int told;
    atomic_int reports;
} story;

static uint64_t bytes_now(void) {
    vow_statistics now = {.size = sizeof now};
    CHECK_INT_EQ(vow_stats(&now), 0);
    return now.bytes;
}

static void tell(void *context) {
    atomic_fetch_add((atomic_int *)context, 1);
}

static void hear(vow_value error, void *context) {
    (void)error;
    atomic_fetch_add(&((story *)context)->reports, 1);
}

static void begin(story *self) {
    *self = (story){0};
    vow_on_unhandled(hear, self);
    self->promise = vow_promise_create(&self->resolver);
    vow_resolver_on_cancel(self->resolver, tell, &self->told, NULL);
}

static vow_promise *shielded(story *self) {
    return vow_shield(vow_promise_retain(self->promise));
}

static vow_value give_shield(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(shielded(context));
}

/* Only those shields have it any more. */
static void end(story *self, int reports) {
    vow_promise_release(self->promise);
    CHECK_INT_EQ(atomic_load(&self->told), 0);
    vow_reject(self->resolver, vow_error("test", 7, "seven"));
    vow_resolver_release(self->resolver);
    CHECK_INT_EQ(atomic_load(&self->reports), reports);
    vow_on_unhandled(NULL, NULL);
}

static void abandon_many(story *self) {
    vow_promise *shields[SHIELDS];
    for (int i = 0; i < SHIELDS; i++) {
        shields[i] = shielded(self);
    }
    self->bytes = bytes_now();
    for (int i = 0; i < SHIELDS; i++) {
        if (i % 2 == 0) {
            vow_cancel(shields[i]);
        }
        vow_promise_release(shields[i]);
    }
}

TEST("a promise keeps one of the shields that were given up, goes on, and is reported once") {
    story self;
    begin(&self);
    uint64_t before = bytes_now();
    vow_promise_release(shielded(&self));
    uint64_t one = bytes_now() - before;
    abandon_many(&self);
    CHECK(bytes_now() - before <= 2 * one);
    end(&self, 1);
}

TEST("shields that are cancelled and given up keep their promise wanted") {
    story self;
    begin(&self);
    for (int i = 0; i < 2; i++) {
        vow_promise *shield = shielded(&self);
        CHECK(vow_cancel(shield));
        vow_promise_release(shield);
    }
    end(&self, 1);
}

static vow_value hear_seven(vow_value input, void *context) {
    CHECK_INT_EQ(vow_error_code(input), 7);
    atomic_fetch_add((atomic_int *)context, 1);
    return vow_none();
}

TEST("a shield that is read stays beside one that was given up") {
    story self;
    atomic_int heard = 0;
    begin(&self);
    vow_promise_release(shielded(&self));
    vow_promise_release(catch_inline(shielded(&self), hear_seven, &heard));
    vow_promise *outer = vow_async(vow_executor_inline(), give_shield, &self);
    vow_promise_release(catch_inline(outer, hear_seven, &heard));
    end(&self, 1);
    CHECK_INT_EQ(heard, 2);
}

TEST("of many who detach a promise one is enough") {
    story self;
    begin(&self);
    uint64_t before = bytes_now();
    vow_detach(vow_promise_retain(self.promise));
    uint64_t one = bytes_now() - before;
    for (int i = 0; i < SHIELDS; i++) {
        vow_detach(vow_promise_retain(self.promise));
    }
    CHECK_INT_EQ(bytes_now() - before, one);
    end(&self, 1);
}
