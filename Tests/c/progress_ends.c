/* Tests the end of progress: all of the work is told, though its promise has settled meanwhile. */
#include "tools.h"

typedef struct bar {
    journal *in; /* a handler of the promise writes there, too */
    atomic_int calls;
    atomic_int ends;
    double last;
    bool ended_before;
} bar;

enum { A_PART = 1, ALL_OF_IT = 2, A_HANDLER = 3 };

static void bar_hear(double fraction, const char *note, void *context) {
    bar *self = context;
    (void)note;
    self->last = fraction;
    self->ended_before |= atomic_load(&self->ends) != 0;
    if (self->in != NULL) {
        journal_add(self->in, fraction < 1 ? A_PART : ALL_OF_IT);
    }
    atomic_fetch_add(&self->calls, 1);
}

static void bar_end(void *context) {
    atomic_fetch_add(&((bar *)context)->ends, 1);
}

static void listen_on(vow_promise *promise, vow_executor *executor, int64_t interval, bar *self) {
    vow_call call = {
        .size = sizeof call, .context = self, .destroy = bar_end, .executor = executor};
    CHECK_INT_EQ(vow_on_progress_with(promise, interval, bar_hear, &call), 0);
}

enum { MEMBERS = 20 };

typedef struct crowd_of {
    vow_promise *all[MEMBERS];
    vow_resolver *resolvers[MEMBERS];
} crowd_of;

static void crowd_begin(crowd_of *self) {
    for (int i = 0; i < MEMBERS; i++) {
        self->all[i] = vow_promise_create(&self->resolvers[i]);
    }
}

static void crowd_settle(crowd_of *self, int rejected) {
    for (int i = 0; i < MEMBERS; i++) {
        /* False where the first failure has cancelled it. */
        (void)vow_resolve(self->resolvers[i],
                          i < rejected ? vow_error("test", i, NULL) : vow_int(i));
        vow_resolver_release(self->resolvers[i]);
    }
}

/* Every one of the members is told, the last one before a handler of the promise runs. */
static void hears_all(vow_promise *(*combine)(vow_promise *const *, size_t), int rejected,
                      vow_executor *executor, vow_loop *loop) {
    crowd_of members;
    journal in = {0};
    bar self = {.in = &in};
    entry after = {&in, A_HANDLER};
    crowd_begin(&members);
    vow_promise *promise = combine(members.all, MEMBERS);
    listen_on(promise, executor, 0, &self);
    vow_reaction reaction = {.size = sizeof reaction,
                             .on_fulfilled = entry_write,
                             .context = &after,
                             .executor = executor};
    vow_promise *then = vow_then_with(promise, &reaction);
    crowd_settle(&members, rejected);
    if (loop != NULL) {
        CHECK(vow_loop_run_once(loop, 0) >= 0);
    }
    CHECK_INT_EQ(code_of(then), 0);
    CHECK(self.last == 1);
    int written = atomic_load(&in.count);
    CHECK(written >= 2);
    CHECK_INT_EQ(in.entries[written - 2], ALL_OF_IT);
    CHECK_INT_EQ(in.entries[written - 1], A_HANDLER);
    CHECK(reaches(&self.ends, 1));
    CHECK(!self.ended_before);
}

TEST("the last member of an all is progress, told inline before its handlers run") {
    hears_all(vow_all, 0, vow_executor_inline(), NULL);
    hears_all(vow_all_settled, MEMBERS / 2, vow_executor_inline(), NULL);
}

TEST("the last member of an all is progress on a loop, before its handlers run") {
    vow_loop *loop = vow_loop_create();
    hears_all(vow_all, 0, vow_loop_executor(loop), loop);
    hears_all(vow_all_settled, MEMBERS / 2, vow_loop_executor(loop), loop);
    vow_loop_destroy(loop);
}

static vow_value keep_item(vow_value item, void *context) {
    (void)context;
    return vow_value_retain(item);
}

static vow_value add(vow_value sum, vow_value item, void *context) {
    int64_t sum_of = 0;
    int64_t added = 0;
    (void)context;
    CHECK(vow_as_int(sum, &sum_of) && vow_as_int(item, &added));
    return vow_int(sum_of + added);
}

TEST("the last item of a map, and of a reduce, is progress") {
    vow_loop *loop = vow_loop_create();
    vow_value items[3] = {vow_int(1), vow_int(2), vow_int(3)};
    bar mapped = {0};
    bar reduced = {0};
    vow_executor_set_default(vow_loop_executor(loop));
    vow_promise *map = vow_map(vow_list(items, 3), keep_item, NULL, 2);
    vow_promise *members[3] = {fulfilled_int(1), fulfilled_int(2), fulfilled_int(3)};
    vow_promise *reduce = vow_reduce(members, 3, vow_int(0), add, NULL);
    vow_executor_set_default(NULL);
    listen_on(map, vow_loop_executor(loop), 0, &mapped);
    listen_on(reduce, vow_executor_inline(), 0, &reduced);
    while (vow_promise_state(map) == VOW_PENDING || vow_promise_state(reduce) == VOW_PENDING) {
        CHECK(vow_loop_run_once(loop, LONG_ENOUGH) >= 0);
    }
    CHECK(vow_loop_run_once(loop, 0) >= 0);
    CHECK(mapped.last == 1);
    CHECK(reduced.last == 1);
    vow_promise_release(map);
    vow_promise_release(reduce);
    CHECK_INT_EQ(atomic_load(&mapped.ends) + atomic_load(&reduced.ends), 2);
    vow_loop_destroy(loop);
}

TEST("an all that fails tells nothing of the members that are left") {
    crowd_of members;
    bar self = {0};
    crowd_begin(&members);
    vow_promise *promise = vow_all(members.all, MEMBERS);
    listen_on(promise, vow_executor_inline(), 0, &self);
    crowd_settle(&members, 1);
    CHECK_INT_EQ(atomic_load(&self.calls), 0);
    CHECK_INT_EQ(code_of(promise), 0);
}

TEST(
    "what was said to be all is told once, though its promise has settled, or is gone, meanwhile") {
    vow_loop *loop = vow_loop_create_virtual();
    for (int gone = 0; gone < 2; gone++) {
        bar self = {0};
        vow_resolver *resolver;
        vow_promise *promise = vow_promise_create(&resolver);
        listen_on(promise, vow_loop_executor(loop), SECOND, &self);
        /* The interval has begun: all of it does not wait for its end. */
        CHECK_INT_EQ(vow_resolver_set_progress(resolver, 0.25, NULL), 0);
        CHECK(vow_loop_run_once(loop, 0) >= 0);
        CHECK_INT_EQ(vow_resolver_set_progress(resolver, 0.5, NULL), 0);
        CHECK(vow_loop_run_once(loop, 0) >= 0);
        CHECK_INT_EQ(vow_resolver_set_progress(resolver, 1, NULL), 0);
        CHECK(vow_resolve(resolver, vow_int(1)));
        vow_resolver_release(resolver);
        if (gone) {
            vow_promise_release(promise);
        }
        CHECK_INT_EQ(atomic_load(&self.ends), 0);
        CHECK(vow_loop_run_once(loop, 0) >= 0);
        CHECK(vow_loop_run_once(loop, 0) >= 0);
        CHECK_INT_EQ(atomic_load(&self.calls), 2);
        CHECK(self.last == 1);
        CHECK(!self.ended_before);
        if (!gone) {
            CHECK_INT_EQ(atomic_load(&self.ends), 0);
            vow_promise_release(promise);
        }
        CHECK_INT_EQ(atomic_load(&self.ends), 1);
    }
    vow_loop_destroy(loop);
}

TEST("a part is not told once its promise has settled, nor all that was said afterwards") {
    vow_loop *loop = vow_loop_create_virtual();
    bar self = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    listen_on(promise, vow_loop_executor(loop), 0, &self);
    CHECK_INT_EQ(vow_resolver_set_progress(resolver, 1, NULL), 0);
    CHECK_INT_EQ(vow_resolver_set_progress(resolver, 0.5, NULL), 0);
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK_INT_EQ(vow_resolver_set_progress(resolver, 1, NULL), 0);
    vow_resolver_release(resolver);
    CHECK(vow_loop_run_once(loop, 0) >= 0);
    CHECK_INT_EQ(atomic_load(&self.calls), 0);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
    vow_loop_destroy(loop);
}

TEST("a destroyed loop, and a cancelled token, end the telling of all, too") {
    for (int cancelled = 0; cancelled < 2; cancelled++) {
        vow_loop *loop = vow_loop_create_virtual();
        vow_cancel_source *source = vow_cancel_source_create();
        bar self = {0};
        vow_resolver *resolver;
        vow_promise *promise = vow_promise_create(&resolver);
        vow_call call = {.size = sizeof call,
                         .context = &self,
                         .destroy = bar_end,
                         .executor = vow_loop_executor(loop),
                         .token = vow_cancel_source_token(source)};
        CHECK_INT_EQ(vow_on_progress_with(promise, 0, bar_hear, &call), 0);
        CHECK_INT_EQ(vow_resolver_set_progress(resolver, 1, NULL), 0);
        CHECK(vow_resolve(resolver, vow_int(1)));
        vow_resolver_release(resolver);
        vow_promise_release(promise);
        if (cancelled) {
            CHECK(vow_cancel_source_cancel(source));
            CHECK(vow_loop_run_once(loop, 0) >= 0);
        }
        vow_loop_destroy(loop);
        CHECK_INT_EQ(atomic_load(&self.calls), 0);
        CHECK_INT_EQ(atomic_load(&self.ends), 1);
        vow_cancel_source_release(source);
    }
}

enum { OFTEN = 2000 };

/* Listens with a token of its own, which the caller cancels. */
static vow_cancel_source *listen_until(vow_promise *promise, vow_executor *executor,
                                       int64_t interval, bar *self) {
    vow_cancel_source *source = vow_cancel_source_create();
    vow_call call = {.size = sizeof call,
                     .context = self,
                     .destroy = bar_end,
                     .executor = executor,
                     .token = vow_cancel_source_token(source)};
    CHECK_INT_EQ(vow_on_progress_with(promise, interval, bar_hear, &call), 0);
    return source;
}

static void cancel_and_release(vow_cancel_source *source) {
    CHECK(vow_cancel_source_cancel(source));
    vow_cancel_source_release(source);
}

/* All are listed at once; every second one leaves first, then the others, from the oldest. */
TEST("listeners whose tokens are cancelled leave nothing with a promise that lives on") {
    static bar all[OFTEN];
    vow_resolver *resolver;
    vow_cancel_source *sources[OFTEN];
    vow_promise *promise = vow_promise_create(&resolver);
    vow_statistics before = harness_stats();
    for (int i = 0; i < OFTEN; i++) {
        sources[i] = listen_until(promise, vow_executor_inline(), 0, &all[i]);
    }
    for (int half = 0; half < 2; half++) {
        for (int i = half; i < OFTEN; i += 2) {
            cancel_and_release(sources[i]);
            CHECK_INT_EQ(atomic_load(&all[i].ends), 1);
        }
        CHECK_INT_EQ(vow_resolver_set_progress(resolver, 0.5 + half, NULL), 0);
    }
    for (int i = 0; i < OFTEN; i++) {
        CHECK_INT_EQ(atomic_load(&all[i].calls), i % 2);
        CHECK(!all[i].ended_before);
    }
    vow_statistics after = harness_stats();
    CHECK(after.bytes < before.bytes + OFTEN);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}

typedef struct leaver {
    bar bar;
    vow_cancel_source *source;
} leaver;

static void leave_when_told(double fraction, const char *note, void *context) {
    leaver *self = context;
    bar_hear(fraction, note, &self->bar);
    CHECK(vow_cancel_source_cancel(self->source));
    CHECK_INT_EQ(atomic_load(&self->bar.ends), 0);
}

TEST("a listener that leaves in its own call is destroyed when that has returned") {
    leaver self = {.source = vow_cancel_source_create()};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_call call = {.size = sizeof call,
                     .context = &self,
                     .destroy = bar_end,
                     .executor = vow_executor_inline(),
                     .token = vow_cancel_source_token(self.source)};
    CHECK_INT_EQ(vow_on_progress_with(promise, 0, leave_when_told, &call), 0);
    CHECK_INT_EQ(vow_resolver_set_progress(resolver, 0.5, NULL), 0);
    CHECK_INT_EQ(atomic_load(&self.bar.ends), 1);
    CHECK_INT_EQ(vow_resolver_set_progress(resolver, 0.75, NULL), 0);
    CHECK_INT_EQ(atomic_load(&self.bar.calls), 1);
    vow_cancel_source_release(self.source);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}

TEST("a listener leaves while its next call waits for its time") {
    vow_loop *loop = vow_loop_create_virtual();
    bar self = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_cancel_source *source = listen_until(promise, vow_loop_executor(loop), MILLISECOND, &self);
    for (int i = 1; i <= 2; i++) {
        CHECK_INT_EQ(vow_resolver_set_progress(resolver, i / 10.0, NULL), 0);
        CHECK(vow_loop_run_once(loop, 0) >= 0);
    }
    CHECK_INT_EQ(atomic_load(&self.calls), 1);
    cancel_and_release(source);
    CHECK(vow_loop_run_once(loop, 0) >= 0);
    CHECK_INT_EQ(atomic_load(&self.ends), 1);
    CHECK_INT_EQ(atomic_load(&self.calls), 1);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    vow_loop_destroy(loop);
}

TEST("a token that outlives the promise, one that nobody can cancel, and a cancelled one") {
    bar outlived = {0}, lasting = {0}, late = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_cancel_source *source = listen_until(promise, vow_executor_inline(), 0, &outlived);
    vow_cancel_source_release(listen_until(promise, vow_executor_inline(), 0, &lasting));
    CHECK_INT_EQ(vow_resolver_set_progress(resolver, 0.5, NULL), 0);
    CHECK(vow_resolve(resolver, vow_none()));
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&outlived.ends), 1);
    CHECK_INT_EQ(atomic_load(&lasting.calls), 1);
    CHECK_INT_EQ(atomic_load(&lasting.ends), 1);
    CHECK(vow_cancel_source_cancel(source));

    promise = vow_promise_create(&resolver);
    vow_call call = {.size = sizeof call,
                     .context = &late,
                     .destroy = bar_end,
                     .token = vow_cancel_source_token(source)};
    CHECK_INT_EQ(vow_on_progress_with(promise, 0, bar_hear, &call), 0);
    CHECK_INT_EQ(atomic_load(&late.ends), 1);
    vow_cancel_source_release(source);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&late.calls), 0);
}
