/* Tests where contexts are destroyed: on the executor that the function would have run on, before
 * the promise settles. */
#include "worker.h"

enum { LOOP, SERIAL, CUSTOM, PLACES };
static const char *const place_names[] = {"a loop", "a serial executor", "a custom executor"};

/* An executor that is not this thread's. */
typedef struct place {
    vow_executor *executor;
    vow_loop *loop;
    worker thread;
    pthread_t runner;
    atomic_int ended;
} place;

static void *run_loop(void *context) {
    place *self = context;
    self->loop = vow_loop_create();
    self->executor = vow_executor_retain(vow_loop_executor(self->loop));
    atomic_store(&self->ended, -1);
    while (atomic_load(&self->ended) < 0) {
        CHECK(vow_loop_run_once(self->loop, SECOND) >= 0);
    }
    vow_loop_destroy(self->loop);
    return NULL;
}

static void place_begin(place *self, int which) {
    *self = (place){0};
    if (which == LOOP) {
        self->runner = start_thread(run_loop, self);
        while (atomic_load(&self->ended) == 0) {
            usleep(100);
        }
    } else if (which == SERIAL) {
        self->executor = vow_executor_serial("place");
    } else {
        worker_start(&self->thread);
        self->executor = vow_executor_custom(&worker_class, &self->thread);
    }
}

static void place_end(place *self, int which) {
    if (which == LOOP) {
        atomic_store(&self->ended, 1);
        vow_loop_wake(self->loop);
        pthread_join(self->runner, NULL);
    }
    vow_executor_release(self->executor);
    if (which == CUSTOM) {
        worker_stop(&self->thread);
    }
}

/* A context that looks where it ends. */
typedef struct watched {
    place *at;
    vow_promise *promise; /* whose it is, once that is known */
    atomic_int runs, ends, elsewhere, late;
    vow_promise *returned;
} watched;

static void watched_end(void *context) {
    watched *self = context;
    if (vow_executor_current() != self->at->executor) {
        atomic_fetch_add(&self->elsewhere, 1);
    }
    if (self->promise != NULL && vow_promise_state(self->promise) != VOW_PENDING) {
        atomic_fetch_add(&self->late, 1);
    }
    atomic_fetch_add(&self->ends, 1);
}

static vow_value watched_run(vow_value input, void *context) {
    watched *self = context;
    (void)input;
    atomic_fetch_add(&self->runs, 1);
    return self->returned != NULL ? vow_from_promise(vow_promise_retain(self->returned))
                                  : vow_none();
}

static void watched_hear(double fraction, const char *note, void *context) {
    (void)fraction;
    (void)note;
    atomic_fetch_add(&((watched *)context)->runs, 1);
}

static vow_value watched_reduce(vow_value accumulated, vow_value item, void *context) {
    (void)accumulated;
    return watched_run(item, context);
}

/* One of the ways in which a context comes to its end without that its function returns last. What
 * is not settled yet, this thread settles or cancels in `end`. */
struct play;

typedef struct way {
    const char *name;
    void (*begin)(struct play *self);
    void (*end)(struct play *self);
    int runs; /* of its function */
} way;

typedef struct play {
    watched of;
    vow_reaction reaction;
    vow_call call;
    vow_cancel_source *cancel;
    vow_promise *first, *second, *promise;
    vow_resolver *settles_first, *settles_second;
} play;

static void then_runs(play *self) {
    self->reaction.on_fulfilled = watched_run;
    self->promise = vow_then_with(vow_promise_retain(self->first), &self->reaction);
}

static void catch_runs(play *self) {
    self->reaction.on_rejected = watched_run;
    self->promise = vow_then_with(vow_promise_retain(self->first), &self->reaction);
}

static void then_waits(play *self) {
    self->of.returned = self->second;
    then_runs(self);
    CHECK(vow_resolve(self->settles_first, vow_int(1)));
    CHECK(reaches(&self->of.runs, 1));
}

static void finally_waits(play *self) {
    self->reaction.flags = VOW_FINALLY;
    self->reaction.on_rejected = watched_run;
    then_waits(self);
}

static void then_of_a_token(play *self) {
    self->reaction.token = vow_cancel_source_token(self->cancel);
    then_runs(self);
}

static void then_of_an_error(play *self) {
    CHECK(vow_resolve(self->settles_first, vow_error("test", 1, NULL)));
    then_runs(self);
}

static void catch_if_runs(play *self) {
    self->promise = vow_catch_if_with(vow_promise_retain(self->first), "test", VOW_ANY_CODE,
                                      watched_run, &self->call);
}

static void reduces(play *self) {
    vow_promise *const read[1] = {vow_promise_retain(self->first)};
    self->promise = vow_reduce_with(read, 1, vow_none(), watched_reduce, &self->call);
}

static void reduce_waits(play *self) {
    self->of.returned = self->second;
    reduces(self);
    CHECK(vow_resolve(self->settles_first, vow_int(1)));
    CHECK(reaches(&self->of.runs, 1));
}

static void uses(play *self) {
    self->promise =
        vow_using_with(vow_promise_retain(self->first), watched_run, watched_run, &self->call);
}

static void listens(play *self) {
    CHECK_INT_EQ(vow_on_progress_with(self->first, 0, watched_hear, &self->call), 0);
}

static void listens_for_a_while(play *self) {
    self->call.token = vow_cancel_source_token(self->cancel);
    listens(self);
}

static void is_fulfilled(play *self) {
    CHECK(vow_resolve(self->settles_first, vow_int(1)));
}

static void is_rejected(play *self) {
    CHECK(vow_resolve(self->settles_first, vow_error("test", 1, NULL)));
}

static void is_cancelled(play *self) {
    CHECK(vow_cancel(self->promise));
}

/* Nobody else reads its resource. */
static void using_is_cancelled(play *self) {
    vow_promise_release(self->first);
    self->first = NULL;
    CHECK(vow_cancel(self->promise));
}

static void source_is_cancelled(play *self) {
    CHECK(vow_cancel_source_cancel(self->cancel));
}

static void returned_is_through(play *self) {
    CHECK(vow_resolve(self->settles_second, vow_int(2)));
}

static void returned_is_cancelled(play *self) {
    vow_promise_release(self->second);
    self->second = self->of.returned = NULL;
    CHECK(vow_cancel(self->promise));
}

static void is_freed(play *self) {
    vow_resolver_release(self->settles_first);
    self->settles_first = NULL;
    vow_promise_release(self->first);
    self->first = NULL;
}

static void nothing_more(play *self) {
    (void)self;
}

static const way ways[] = {
    {"then, passed by an error", then_runs, is_rejected, 0},
    {"catch, passed by a value", catch_runs, is_fulfilled, 0},
    {"then of an error", then_of_an_error, nothing_more, 0},
    {"then, cancelled", then_runs, is_cancelled, 0},
    {"then, cancelled by its token", then_of_a_token, source_is_cancelled, 0},
    {"then, what it returned is through", then_waits, returned_is_through, 1},
    {"then, what it returned is cancelled with it", then_waits, returned_is_cancelled, 1},
    {"finally, what it returned is through", finally_waits, returned_is_through, 1},
    {"catch_if, passed by a value", catch_if_runs, is_fulfilled, 0},
    {"reduce of an error", reduces, is_rejected, 0},
    {"reduce, cancelled", reduces, is_cancelled, 0},
    {"reduce, what it returned is through", reduce_waits, returned_is_through, 1},
    {"reduce, what it returned is cancelled with it", reduce_waits, returned_is_cancelled, 1},
    {"using of an error", uses, is_rejected, 0},
    {"using, cancelled", uses, using_is_cancelled, 0},
    {"a listener whose promise is freed", listens, is_freed, 0},
    {"a listener whose token is cancelled", listens_for_a_while, source_is_cancelled, 0},
};

static void play_on(place *at, int place, const way *which) {
    play self = {.of = {.at = at},
                 .reaction = {.size = sizeof self.reaction,
                              .context = &self.of,
                              .destroy = watched_end,
                              .executor = at->executor},
                 .call = {.size = sizeof self.call,
                          .context = &self.of,
                          .destroy = watched_end,
                          .executor = at->executor},
                 .cancel = vow_cancel_source_create()};
    self.first = vow_promise_create(&self.settles_first);
    self.second = vow_promise_create(&self.settles_second);
    which->begin(&self);
    self.of.promise = self.promise;
    which->end(&self);
    if (self.promise != NULL) {
        vow_value out = vow_none();
        CHECK(vow_await(self.promise, LONG_ENOUGH, &out) > 0);
        vow_value_release(out);
        CHECK_INT_EQ(atomic_load(&self.of.ends), 1);
    }
    CHECK(reaches(&self.of.ends, 1));
    CHECK_INT_EQ(atomic_load(&self.of.runs), which->runs);
    CHECK_INT_EQ(atomic_load(&self.of.elsewhere), 0);
    CHECK_INT_EQ(atomic_load(&self.of.late), 0);
    if (atomic_load(&self.of.ends) != 1 || atomic_load(&self.of.elsewhere) != 0) {
        printf("    # %s, on %s\n", which->name, place_names[place]);
    }
    vow_promise_release(self.promise);
    vow_promise_release(self.first);
    vow_promise_release(self.second);
    vow_resolver_release(self.settles_first);
    vow_resolver_release(self.settles_second);
    vow_cancel_source_release(self.cancel);
}

TEST("a context ends on its function's executor, before the promise settles, in each way") {
    for (int which = 0; which < PLACES; which++) {
        place at;
        place_begin(&at, which);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            play_on(&at, which, &ways[i]);
        }
        place_end(&at, which);
    }
}

typedef struct source {
    vow_promise *promise;
    vow_resolver *resolver;
} source;

static source source_new(void) {
    source self;
    self.promise = vow_promise_create(&self.resolver);
    return self;
}

static void source_fulfil(source *self) {
    CHECK(vow_resolve(self->resolver, vow_int(2)));
    vow_resolver_release(self->resolver);
}

static void *source_reject(void *context) {
    source *self = context;
    CHECK(vow_resolve(self->resolver, vow_error("test", 7, NULL)));
    vow_resolver_release(self->resolver);
    return NULL;
}

static void *source_cancel(void *promise) {
    CHECK(vow_cancel(promise));
    return NULL;
}

TEST("a loop that is destroyed first ends the context, and the outcome is what it was") {
    counter ended = {0};
    vow_loop *loop = vow_loop_create();
    vow_executor *executor = vow_executor_retain(vow_loop_executor(loop));
    source late = source_new();
    vow_promise *passed = link_full(executor, vow_promise_retain(late.promise), counter_run, NULL,
                                    &ended, counter_end);
    vow_promise *cancelled = link_full(executor, vow_promise_retain(late.promise), counter_run,
                                       NULL, &ended, counter_end);
    pthread_t thread = start_thread(source_cancel, cancelled);
    pthread_join(thread, NULL);
    thread = start_thread(source_reject, &late);
    pthread_join(thread, NULL);
    CHECK_INT_EQ(vow_promise_state(passed), VOW_PENDING);
    CHECK_INT_EQ(vow_promise_state(cancelled), VOW_PENDING);
    vow_loop_destroy(loop);
    CHECK_INT_EQ(atomic_load(&ended.ends), 2);
    CHECK_INT_EQ(atomic_load(&ended.runs), 0);
    CHECK_INT_EQ(code_of(passed), 7);
    CHECK_INT_EQ(code_of(cancelled), VOW_ECANCELLED);
    vow_promise_release(late.promise);
    vow_executor_release(executor);
}

TEST("the loop's own thread ends a context at once") {
    counter ended = {0};
    vow_loop *loop = vow_loop_create();
    source late = source_new();
    vow_promise *passed = link_full(vow_loop_executor(loop), vow_promise_retain(late.promise),
                                    counter_run, NULL, &ended, counter_end);
    vow_promise *cancelled = link_full(vow_loop_executor(loop), vow_promise_retain(late.promise),
                                       counter_run, NULL, &ended, counter_end);
    CHECK(vow_cancel(cancelled));
    CHECK_INT_EQ(vow_promise_state(cancelled), VOW_REJECTED);
    CHECK_INT_EQ(atomic_load(&ended.ends), 1);
    source_reject(&late);
    CHECK_INT_EQ(vow_promise_state(passed), VOW_REJECTED);
    CHECK_INT_EQ(atomic_load(&ended.ends), 2);
    CHECK_INT_EQ(code_of(passed), 7);
    CHECK_INT_EQ(code_of(cancelled), VOW_ECANCELLED);
    vow_promise_release(late.promise);
    vow_loop_destroy(loop);
}

static vow_value awaits(vow_value input, void *context) {
    vow_value out = vow_none();
    (void)input;
    int state = vow_await(context, LONG_ENOUGH, &out);
    vow_value_release(out);
    return vow_int(state);
}

/* The function has run, and what it returned may end; the context is to be destroyed by the thread
 * that would wait. */
TEST("a handler that would hold up the end of a context is not let wait for it") {
    vow_executor *serial = vow_executor_serial("held");
    for (int machine = 0; machine < 2; machine++) {
        place at = {.executor = serial};
        source first = source_new();
        watched of = {.at = &at, .returned = first.promise};
        vow_call call = {
            .size = sizeof call, .context = &of, .destroy = watched_end, .executor = serial};
        vow_promise *const read[1] = {fulfilled_int(1)};
        vow_promise *promise =
            machine ? vow_reduce_with(read, 1, vow_none(), watched_reduce, &call)
                    : link_full(serial, read[0], watched_run, NULL, &of, watched_end);
        CHECK(reaches(&of.runs, 1));
        CHECK_INT_EQ(int_of(then_on(serial, fulfilled_int(1), awaits, promise)), VOW_EDEADLOCK);
        source_fulfil(&first);
        CHECK_INT_EQ(code_of(promise), 0);
        CHECK_INT_EQ(atomic_load(&of.ends), 1);
        CHECK_INT_EQ(atomic_load(&of.elsewhere), 0);
        vow_promise_release(first.promise);
    }
    vow_executor_release(serial);
}
