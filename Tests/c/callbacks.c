/* The table of callbacks at the head of vow.h, a test a row: on which thread, with whose context,
 * when and how often. Everything is given here, under the context 7; the other thread, which
 * settles, cancels, reports and releases, has the context 9. */
#include "tools.h"

enum { GIVEN = 7, OTHERS = 9, ITEMS = 5 };

/* The calls of one function: how they are to be, and how many were otherwise. */
typedef struct calls {
    vow_executor *executor; /* where; NULL: on the other thread */
    vow_promise *promise;   /* that settles afterwards; NULL: none */
    int64_t context;        /* that each sees; 0: not the giver's */
    atomic_int count, misplaced, late, strange, running, overlapping;
} calls;

static pthread_t other;

static void note(calls *self) {
    int64_t context = 0;
    vow_as_int(vow_context_get(), &context);
    bool is_here = self->executor != NULL ? vow_executor_current() == self->executor
                                          : pthread_equal(pthread_self(), other) != 0;
    bool is_given = self->context != 0 ? context == self->context : context != GIVEN;
    bool is_late = self->promise != NULL && vow_promise_state(self->promise) != VOW_PENDING;
    atomic_fetch_add(&self->overlapping, atomic_fetch_add(&self->running, 1));
    atomic_fetch_add(&self->misplaced, !is_here);
    atomic_fetch_add(&self->strange, !is_given);
    atomic_fetch_add(&self->late, is_late);
    atomic_fetch_add(&self->count, 1);
    atomic_fetch_sub(&self->running, 1);
}

static void were(const char *what, calls *self, int count) {
    bool right = CHECK_INT_EQ(atomic_load(&self->count), count) &&
                 CHECK_INT_EQ(atomic_load(&self->misplaced), 0) &&
                 CHECK_INT_EQ(atomic_load(&self->strange), 0) &&
                 CHECK_INT_EQ(atomic_load(&self->late), 0) &&
                 CHECK_INT_EQ(atomic_load(&self->overlapping), 0);
    if (!right) {
        printf("# these were the calls of %s\n", what);
    }
}

/* A function with its context's end. */
typedef struct pair {
    calls calls, ends;
} pair;

static void note_end(void *context) {
    note(&((pair *)context)->ends);
}

static void note_told(void *context) {
    note(&((pair *)context)->calls);
}

static void note_progress(double fraction, const char *text, void *context) {
    (void)fraction;
    (void)text;
    note(&((pair *)context)->calls);
}

static vow_value note_input(vow_value input, void *context) {
    note(&((pair *)context)->calls);
    return vow_value_retain(input);
}

static vow_value note_failure(vow_value input, void *context) {
    (void)input;
    note(&((pair *)context)->calls);
    return vow_error("test", 1, "again");
}

static vow_value note_both(vow_value accumulated, vow_value item, void *context) {
    (void)accumulated;
    return note_input(item, context);
}

static bool is_below_five(vow_value state, void *context) {
    (void)context;
    return state.as.integer < ITEMS;
}

static vow_value one_more(vow_value state, void *context) {
    note(&((pair *)context)->calls);
    return vow_int(state.as.integer + 1);
}

/* A row that is played: what it gives, and what the other thread is to do. */
typedef struct row {
    vow_loop *loop;
    vow_executor *executor;
    pair of;
    vow_call call;
    vow_promise *promise, *source;
    vow_resolver *resolver;
    vow_cancel_source *cancel;
    void (*act)(struct row *self);
} row;

static void row_begin(row *self) {
    *self = (row){.loop = vow_loop_create()};
    self->executor = vow_loop_executor(self->loop);
    self->source = vow_promise_create(&self->resolver);
    self->cancel = vow_cancel_source_create();
    self->of.calls = self->of.ends = (calls){.executor = self->executor, .context = GIVEN};
    self->call = (vow_call){.size = sizeof self->call,
                            .context = &self->of,
                            .destroy = note_end,
                            .executor = self->executor};
    vow_context_set(vow_int(GIVEN));
}

/* From here on the promise is watched, and no context is given any more. */
static void row_given(row *self, vow_promise *promise) {
    vow_context_set(vow_none());
    self->promise = self->of.calls.promise = self->of.ends.promise = promise;
}

static void *act(void *context) {
    row *self = context;
    vow_context_set(vow_int(OTHERS));
    other = pthread_self();
    self->act(self);
    vow_context_set(vow_none());
    return NULL;
}

static void row_act(row *self, void (*act_of)(row *)) {
    self->act = act_of;
    pthread_join(start_thread(act, self), NULL);
}

static void row_end(row *self) {
    if (self->promise != NULL) {
        CHECK(vow_loop_run_until(self->loop, self->promise, LONG_ENOUGH) > 0);
    }
    vow_promise_release(self->promise);
    vow_promise_release(self->source);
    vow_resolver_release(self->resolver);
    vow_cancel_source_release(self->cancel);
    vow_loop_destroy(self->loop);
}

static void do_resolve(row *self) {
    CHECK(vow_resolve(self->resolver, vow_int(1)));
}

static void do_reject(row *self) {
    CHECK(vow_reject(self->resolver, vow_error("test", 1, "rejected")));
}

static void do_cancel(row *self) {
    CHECK(vow_cancel(self->promise));
}

static void do_nothing(row *self) {
    (void)self;
}

/* A reaction of these handlers: how often they run, and whatever that is, the context ends once. */
static void play_reaction(vow_reaction reaction, void (*act_of)(row *), int count) {
    row self;
    row_begin(&self);
    reaction.size = sizeof reaction;
    reaction.context = &self.of;
    reaction.destroy = note_end;
    reaction.executor = self.executor;
    row_given(&self, vow_then_with(vow_promise_retain(self.source), &reaction));
    row_act(&self, act_of);
    row_end(&self);
    were("a handler", &self.of.calls, count);
    were("its destroy", &self.of.ends, 1);
}

TEST("row 1: a handler runs on its executor, at most once, before its promise settles") {
    play_reaction((vow_reaction){.on_fulfilled = note_input}, do_resolve, 1);
    play_reaction((vow_reaction){.on_rejected = note_input}, do_reject, 1);
    play_reaction((vow_reaction){.on_rejected = note_input}, do_cancel, 1);
    vow_reaction clean_up = {.on_fulfilled = note_input, .flags = VOW_FINALLY};
    clean_up.on_rejected = note_input;
    play_reaction(clean_up, do_resolve, 1);
    play_reaction(clean_up, do_reject, 1);
    play_reaction(clean_up, do_cancel, 1);
}

TEST("row 1: and so does the function of vow_async") {
    row self;
    row_begin(&self);
    row_given(&self, vow_async_with(note_input, &self.call));
    row_end(&self);
    were("a function", &self.of.calls, 1);
    were("its destroy", &self.of.ends, 1);
}

static vow_promise *give_map(row *self) {
    vow_value items[ITEMS] = {vow_int(1), vow_int(2), vow_int(3), vow_int(4), vow_int(5)};
    return vow_map_with(vow_list(items, ITEMS), note_input, 1, &self->call);
}

static vow_promise *give_reduce(row *self) {
    vow_promise *promises[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        promises[i] = vow_promise_retain(self->source);
    }
    return vow_reduce_with(promises, ITEMS, vow_none(), note_both, &self->call);
}

static vow_promise *give_repeat(row *self) {
    return vow_repeat_with(vow_int(0), is_below_five, one_more, &self->call);
}

static vow_promise *give_retry(row *self) {
    vow_retry_policy policy = {.size = sizeof policy, .attempts = ITEMS, .first_delay_ns = 1};
    return vow_retry_with(&policy, note_failure, &self->call);
}

static vow_promise *give_using(row *self) {
    return vow_using_with(vow_promise_retain(self->source), note_input, note_input, &self->call);
}

TEST("row 2: the functions of calls run on their executor, one after the other on a lane") {
    static const struct {
        const char *name;
        vow_promise *(*give)(row *);
        int count;
    } ways[] = {{"vow_map", give_map, ITEMS},
                {"vow_reduce", give_reduce, ITEMS},
                {"vow_repeat", give_repeat, ITEMS},
                {"vow_retry", give_retry, ITEMS},
                {"vow_using", give_using, 2}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        row self;
        row_begin(&self);
        row_given(&self, ways[i].give(&self));
        row_act(&self, do_resolve);
        row_end(&self);
        were(ways[i].name, &self.of.calls, ways[i].count);
        were(ways[i].name, &self.of.ends, 1);
    }
}

TEST("row 3: a destroy runs there, too, once, also where no handler ran") {
    play_reaction((vow_reaction){.on_rejected = note_input}, do_resolve, 0);
    play_reaction((vow_reaction){.on_fulfilled = note_input}, do_reject, 0);
    play_reaction((vow_reaction){.on_fulfilled = note_input}, do_cancel, 0);
    vow_promise *(*const gives[])(row *) = {give_reduce, give_using};
    for (size_t i = 0; i < sizeof gives / sizeof *gives; i++) {
        row self;
        row_begin(&self);
        row_given(&self, gives[i](&self));
        row_act(&self, do_reject);
        row_end(&self);
        were("a call", &self.of.calls, 0);
        were("its destroy", &self.of.ends, 1);
    }
}

static void do_cancel_source(row *self) {
    CHECK(vow_cancel_source_cancel(self->cancel));
    CHECK(!vow_cancel_source_cancel(self->cancel));
}

static void do_cancel_given(row *self) {
    CHECK(vow_cancel(self->source));
}

static void do_release_given(row *self) {
    vow_promise_release(self->source);
    self->source = NULL;
}

static void do_release_source(row *self) {
    vow_cancel_source_release(self->cancel);
    self->cancel = NULL;
}

static void play_told(bool is_token, void (*act_of)(row *), int count) {
    row self;
    row_begin(&self);
    self.of.calls.executor = self.of.ends.executor = NULL;
    int answer = is_token ? vow_token_on_cancel(vow_cancel_source_token(self.cancel), note_told,
                                                &self.of, note_end)
                          : vow_resolver_on_cancel(self.resolver, note_told, &self.of, note_end);
    CHECK_INT_EQ(answer, 0);
    row_given(&self, NULL);
    bool is_read = act_of == do_cancel_given || act_of == do_resolve;
    self.of.calls.promise = self.of.ends.promise = !is_token && is_read ? self.source : NULL;
    self.of.ends.promise = act_of == do_resolve ? NULL : self.of.ends.promise;
    row_act(&self, act_of);
    were("who is told", &self.of.calls, count);
    were("its destroy", &self.of.ends, 1);
    row_end(&self);
}

TEST("row 4: who is told of a cancellation is called by who cancels, before the promise settles") {
    play_told(true, do_cancel_source, 1);
    play_told(true, do_release_source, 0);
    play_told(false, do_cancel_given, 1);
    play_told(false, do_release_given, 1);
    play_told(false, do_resolve, 0);
}

static void do_report(row *self) {
    for (int i = 1; i <= ITEMS; i++) {
        CHECK_INT_EQ(vow_promise_set_progress(self->source, 0.1 * i, NULL), 0);
    }
}

static void do_release_all(row *self) {
    vow_resolver_release(self->resolver);
    self->resolver = NULL;
    do_release_given(self);
}

static void do_free(row *self) {
    do_resolve(self);
    do_release_all(self);
}

TEST("rows 5 and 6: progress is told on the listener's executor, one at a time; its destroy, too") {
    for (int leaves = 0; leaves < 2; leaves++) {
        row self;
        row_begin(&self);
        self.call.token = vow_cancel_source_token(self.cancel);
        CHECK_INT_EQ(vow_on_progress_with(self.source, 0, note_progress, &self.call), 0);
        row_given(&self, NULL);
        row_act(&self, do_report);
        while (atomic_load(&self.of.calls.count) == 0) {
            CHECK(vow_loop_run_once(self.loop, SECOND) >= 0);
        }
        were("who hears of progress", &self.of.calls, atomic_load(&self.of.calls.count));
        were("its destroy", &self.of.ends, 0);
        row_act(&self, leaves ? do_cancel_source : do_free);
        while (atomic_load(&self.of.ends.count) == 0) {
            CHECK(vow_loop_run_once(self.loop, SECOND) >= 0);
        }
        int count = atomic_load(&self.of.calls.count);
        row_act(&self, leaves ? do_report : do_nothing);
        CHECK(vow_loop_run_once(self.loop, 0) >= 0);
        were("who hears of progress", &self.of.calls, count);
        were("its destroy", &self.of.ends, 1);
        row_end(&self);
    }
}

static void note_report(vow_value error, void *context) {
    CHECK_INT_EQ(vow_error_code(error), 1);
    note(&((pair *)context)->calls);
}

static void do_lose(row *self) {
    do_reject(self);
    CHECK_INT_EQ(atomic_load(&self->of.calls.count), 0);
    do_release_all(self);
}

TEST("row 7: the hook of unhandled rejections is called by who released last, once for each") {
    row self;
    row_begin(&self);
    self.of.calls.executor = NULL;
    self.of.calls.context = 0;
    vow_on_unhandled(note_report, &self.of);
    row_given(&self, NULL);
    row_act(&self, do_lose);
    were("the hook", &self.of.calls, 1);
    vow_on_unhandled(NULL, NULL);
    row_end(&self);
}

static void note_object(void *pointer) {
    note(&((pair *)pointer)->ends);
}

static const vow_class noted = {.size = sizeof noted, .name = "noted", .destroy = note_object};

static void do_let_go(row *self) {
    CHECK_INT_EQ(atomic_load(&self->of.ends.count), 0);
    do_release_all(self);
}

TEST("row 8: an object is destroyed by who released last, once") {
    row self;
    row_begin(&self);
    self.of.ends.executor = NULL;
    self.of.ends.context = 0;
    CHECK(vow_resolve(self.resolver, vow_object(&self.of, &noted)));
    row_given(&self, NULL);
    row_act(&self, do_let_go);
    were("an object's destroy", &self.of.ends, 1);
    row_end(&self);
}
