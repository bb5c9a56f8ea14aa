/* Tests progress: who hears of it, what, where, and until when. */
#include "ear.h"

/* NULL in a way that compilers do not refuse as an argument that must not be NULL. */
static vow_promise *no_promise;
static vow_resolver *no_resolver;
static vow_progress_handler no_listener;

TEST("a listener hears fraction and note of promise and resolver") {
    ear self = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK_INT_EQ(listen_inline(promise, 0, &self), 0);
    CHECK_INT_EQ(vow_resolver_set_progress(resolver, 0.25, "reading"), 0);
    CHECK_INT_EQ(atomic_load(&self.calls), 1);
    CHECK(self.fractions[0] == 0.25);
    CHECK_STR_EQ(self.note, "reading");
    CHECK_INT_EQ(vow_promise_set_progress(promise, 0.5, NULL), 0);
    CHECK_INT_EQ(atomic_load(&self.calls), 2);
    CHECK(self.fractions[1] == 0.5);
    CHECK(!self.had_note);
    CHECK_INT_EQ(vow_promise_set_progress(promise, 0.125, ""), 0);
    CHECK(self.fractions[2] == 0.125);
    CHECK_INT_EQ(atomic_load(&self.ends), 0);
    give_up(promise, resolver);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
    CHECK_INT_EQ(atomic_load(&self.calls), 3);
}

TEST("fractions are cut to 0 and 1, notes to 127 bytes, and what is no number is refused") {
    ear self = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    char note[300];
    memset(note, 'n', sizeof note - 1);
    note[sizeof note - 1] = 0;
    listen_inline(promise, 0, &self);
    CHECK_INT_EQ(vow_promise_set_progress(promise, -3, note), 0);
    CHECK(self.fractions[0] == 0);
    CHECK_INT_EQ(strlen(self.note), 127);
    CHECK_INT_EQ(vow_promise_set_progress(promise, HUGE_VAL, NULL), 0);
    CHECK(self.fractions[1] == 1);
    CHECK_INT_EQ(vow_promise_set_progress(promise, NAN, NULL), VOW_EINVAL);
    CHECK_INT_EQ(vow_promise_set_progress(no_promise, 0.5, NULL), VOW_EINVAL);
    CHECK_INT_EQ(vow_resolver_set_progress(no_resolver, 0.5, NULL), VOW_EINVAL);
    CHECK_INT_EQ(atomic_load(&self.calls), 2);
    give_up(promise, resolver);
}

TEST("listening that is refused destroys its context") {
    ear self = {0};
    vow_promise *promise = fulfilled_int(1);
    CHECK_INT_EQ(vow_on_progress(no_promise, 0, hear, &self, ear_end), VOW_EINVAL);
    CHECK_INT_EQ(vow_on_progress(promise, -1, hear, &self, ear_end), VOW_EINVAL);
    CHECK_INT_EQ(vow_on_progress(promise, 0, no_listener, &self, ear_end), VOW_EINVAL);
    CHECK_INT_EQ(atomic_load(&self.ends), 3);
    CHECK_INT_EQ(vow_on_progress(promise, 0, hear, &self, NULL), 0);
    CHECK_INT_EQ(vow_on_progress(promise, 0, hear, &self, ear_end), 0);
    CHECK_INT_EQ(vow_promise_set_progress(promise, 0.5, NULL), 0);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&self.ends), 4);
    CHECK_INT_EQ(atomic_load(&self.calls), 0);
}

TEST("nobody hears of progress after settling, and destroy comes with the promise's end") {
    ear self = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    listen_inline(promise, 0, &self);
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK_INT_EQ(vow_resolver_set_progress(resolver, 0.5, NULL), 0);
    CHECK_INT_EQ(vow_promise_set_progress(promise, 0.5, NULL), 0);
    CHECK_INT_EQ(atomic_load(&self.calls), 0);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(atomic_load(&self.ends), 0);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
}

TEST("listening keeps no promise alive and observes no rejection") {
    ear self = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    listen_inline(promise, 0, &self);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&self.ends), 0);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
}

TEST("listeners of the same promise hear each piece of news once") {
    enum { ears = 5, news = 100 };
    ear all[ears];
    memset(all, 0, sizeof all);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    for (int i = 0; i < ears; i++) {
        if (i % 2 == 0) {
            listen_inline(promise, 0, &all[i]);
        } else {
            vow_on_progress(promise, 0, hear, &all[i], ear_end);
        }
    }
    for (int i = 1; i <= news; i++) {
        vow_promise_set_progress(promise, (double)i / (news + 1), NULL);
        for (int j = 0; j < ears; j++) {
            CHECK(reaches(&all[j].calls, i));
        }
    }
    usleep(20000);
    for (int j = 0; j < ears; j++) {
        CHECK_INT_EQ(atomic_load(&all[j].calls), news);
        CHECK_INT_EQ(atomic_load(&all[j].overlaps), 0);
    }
    give_up(promise, resolver);
    for (int j = 0; j < ears; j++) {
        CHECK(reaches(&all[j].ends, 1));
    }
}

static void sets_again(ear *self) {
    if (self->times > 0) {
        self->times--;
        vow_promise_set_progress(self->promise, 1.0 / (self->times + 2), NULL);
    }
}

TEST("a listener may set the progress it listens to") {
    ear self = {.also = sets_again, .times = 1000};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    self.promise = promise;
    listen_inline(promise, 0, &self);
    vow_promise_set_progress(promise, 0, NULL);
    CHECK_INT_EQ(atomic_load(&self.calls), 1001);
    CHECK_INT_EQ(self.late, 0);
    give_up(promise, resolver);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
}

static ear second;

static void listens_again(ear *self) {
    self->also = NULL;
    CHECK_INT_EQ(vow_on_progress(self->promise, 0, hear, &second, ear_end), 0);
}

TEST("a listener may begin to listen, and releases what it was told last of") {
    ear self = {.also = listens_again};
    memset(&second, 0, sizeof second);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    self.promise = promise;
    listen_inline(promise, 0, &self);
    vow_promise_set_progress(promise, 0.5, NULL);
    CHECK_INT_EQ(atomic_load(&second.calls), 0);
    vow_promise_set_progress(promise, 0.75, NULL);
    CHECK_INT_EQ(atomic_load(&self.calls), 2);
    CHECK_INT_EQ(atomic_load(&second.calls), 1);
    give_up(promise, resolver);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
    CHECK_INT_EQ(atomic_load(&second.ends), 1);
}

static vow_resolver *last_resolver;

static void releases_all(ear *self) {
    vow_resolver *resolver = last_resolver;
    vow_promise *promise = self->promise;
    self->promise = NULL;
    self->also = NULL;
    vow_resolve(resolver, vow_none());
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&self->ends), 0);
}

TEST("a listener may settle and release its promise, and its context outlives the call") {
    ear self = {.also = releases_all};
    vow_promise *promise = vow_promise_create(&last_resolver);
    self.promise = promise;
    listen_inline(promise, 0, &self);
    /* Borrowed by this call as long as it lasts. */
    vow_promise_retain(promise);
    vow_promise_set_progress(promise, 0.5, NULL);
    CHECK_INT_EQ(atomic_load(&self.calls), 1);
    CHECK_INT_EQ(atomic_load(&self.ends), 0);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
}

TEST("a promise that was never pending has nothing to tell") {
    ear self = {0};
    vow_promise *promise = vow_delay(-1);
    CHECK_INT_EQ(vow_on_progress(promise, 0, hear, &self, ear_end), 0);
    CHECK_INT_EQ(vow_promise_set_progress(promise, 0.5, NULL), 0);
    vow_promise_release(vow_catch(promise, give_code, NULL));
    CHECK(reaches(&self.ends, 1));
    CHECK_INT_EQ(atomic_load(&self.calls), 0);
}
