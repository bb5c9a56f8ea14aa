/* Tests what producers hear: hooks, thenables. */
#include "cancel_tools.h"

TEST("a hook that comes too late is called at once; one for a resolved promise is not") {
    vow_resolver *resolver;
    hook told = {0};
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(vow_cancel(promise));
    CHECK_INT_EQ(vow_resolver_on_cancel(resolver, hook_called, &told, counter_end), 0);
    hook_is(&told, 1, 1);
    vow_promise_release(promise);
    vow_resolver_release(resolver);

    hook unread = {0};
    promise = vow_promise_create(&resolver);
    vow_promise_release(promise);
    CHECK_INT_EQ(vow_resolver_on_cancel(resolver, hook_called, &unread, counter_end), 0);
    hook_is(&unread, 1, 1);
    vow_resolver_release(resolver);

    hook settled = {0};
    promise = vow_promise_create(&resolver);
    CHECK(vow_resolve(resolver, vow_none()));
    CHECK_INT_EQ(vow_resolver_on_cancel(resolver, hook_called, &settled, counter_end), 0);
    hook_is(&settled, 0, 1);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}

static void write_entry(void *context) {
    entry *self = context;
    journal_add(self->in, self->number);
}

TEST("hooks are called in the order in which they were given") {
    vow_resolver *resolver;
    journal in = {0};
    entry entries[3] = {{&in, 0}, {&in, 1}, {&in, 2}};
    vow_promise *promise = vow_promise_create(&resolver);
    for (int i = 0; i < 3; i++) {
        CHECK_INT_EQ(vow_resolver_on_cancel(resolver, write_entry, &entries[i], NULL), 0);
    }
    CHECK(vow_cancel(promise));
    journal_counts_to(&in, 3);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}

/* What a destructor does with a promise: a thread calls no hook before the destructor has returned.
 */
typedef struct in_destructor {
    vow_promise *promise;
    vow_resolver *resolver;
    hook *late; /* given after the last reader has gone */
    bool resolves;
} in_destructor;

static void lose_and_resolve(void *context) {
    in_destructor *self = context;
    vow_promise_release(self->promise);
    if (self->late != NULL) {
        CHECK_INT_EQ(vow_resolver_on_cancel(self->resolver, hook_called, self->late, counter_end),
                     0);
    }
    if (self->resolves) {
        CHECK(vow_resolve(self->resolver, vow_int(1)));
    }
    vow_resolver_release(self->resolver);
}

static const vow_class losing_class = {sizeof(vow_class), "losing", lose_and_resolve, NULL};

TEST("a hook that waits for the end of a destructor is not called once the promise is resolved") {
    for (int way = 0; way < 4; way++) {
        hook told = {0}, late = {0};
        in_destructor self = {.late = way / 2 == 0 ? NULL : &late, .resolves = way % 2 == 0};
        self.promise = hooked(&self.resolver, &told);
        vow_value_release(vow_object(&self, &losing_class));
        hook_is(&told, !self.resolves, 1);
        hook_is(&late, self.late != NULL && !self.resolves, self.late != NULL);
    }
}

typedef struct resolving {
    vow_resolver *resolver;
    bool resolved;
} resolving;

static void resolve_in_hook(void *context) {
    resolving *self = context;
    self->resolved = vow_resolve(self->resolver, vow_int(1));
}

TEST("a hook that resolves a promise is the last to be called: only one that nobody reads can be") {
    for (int way = 0; way < 2; way++) {
        resolving first = {0};
        hook second = {0};
        vow_promise *promise = vow_promise_create(&first.resolver);
        CHECK_INT_EQ(vow_resolver_on_cancel(first.resolver, resolve_in_hook, &first, NULL), 0);
        CHECK_INT_EQ(vow_resolver_on_cancel(first.resolver, hook_called, &second, counter_end), 0);
        if (way == 1) {
            CHECK(vow_cancel(promise));
        }
        vow_promise_release(promise);
        CHECK(first.resolved == (way == 0));
        hook_is(&second, way, 1);
        vow_resolver_release(first.resolver);
    }
}

/* A thenable that keeps its resolver and asks to be told. */
typedef struct thenable {
    counter asked;
    hook told;
    vow_resolver *resolver;
} thenable;

static bool keep_resolver(void *pointer, vow_resolver *resolver) {
    thenable *self = pointer;
    atomic_fetch_add(&self->asked.runs, 1);
    self->resolver = resolver;
    return CHECK_INT_EQ(vow_resolver_on_cancel(resolver, hook_called, &self->told, counter_end), 0);
}

static const vow_class thenable_class = {sizeof(vow_class), "thenable", NULL, keep_resolver};

TEST("a thenable's producer hears of cancellation, and of lost interest") {
    for (int is_release = 0; is_release < 2; is_release++) {
        thenable source = {{0}, {0}, NULL};
        vow_promise *promise = vow_promise_with(vow_object(&source, &thenable_class));
        CHECK_INT_EQ(atomic_load(&source.asked.runs), 1);
        hook_is(&source.told, 0, 0);
        if (is_release) {
            vow_promise_release(promise);
            hook_is(&source.told, 1, 1);
        } else {
            CHECK(vow_cancel(promise));
            is_cancelled(promise);
            hook_is(&source.told, 1, 1);
            vow_promise_release(promise);
        }
        vow_resolver_release(source.resolver);
    }
}

static vow_value cancel_before_asked(vow_value input, void *context) {
    vow_promise *promise = vow_promise_with(vow_object(context, &thenable_class));
    (void)input;
    CHECK(vow_cancel(promise));
    is_cancelled(promise);
    vow_promise_release(promise);
    return vow_none();
}

TEST("a thenable that is not wanted before it is asked is never asked") {
    thenable source = {{0}, {0}, NULL};
    CHECK_INT_EQ(code_of(then_inline(fulfilled_int(1), cancel_before_asked, &source)), 0);
    CHECK_INT_EQ(atomic_load(&source.asked.runs), 0);
}

/* A hook that uses the promise it is about. */
typedef struct entangled {
    vow_promise *promise;
    vow_resolver *resolver;
    int state;
    int awaited;
} entangled;

static void look_and_release(void *context) {
    entangled *self = context;
    self->state = (int)vow_promise_state(self->promise);
    self->awaited = vow_await(self->promise, VOW_FOREVER, NULL);
    vow_promise_release(then_inline(vow_promise_retain(self->promise), add_one, NULL));
    vow_resolver_release(self->resolver);
}

TEST("a hook may do anything to the promise and its resolver") {
    entangled self = {0};
    self.promise = vow_promise_create(&self.resolver);
    CHECK_INT_EQ(vow_resolver_on_cancel(self.resolver, look_and_release, &self, NULL), 0);
    CHECK(vow_cancel(self.promise));
    /* It settles when the hook has returned. */
    CHECK_INT_EQ(self.state, VOW_PENDING);
    CHECK_INT_EQ(self.awaited, VOW_EDEADLOCK);
    CHECK_INT_EQ(vow_promise_state(self.promise), VOW_REJECTED);
    vow_promise_release(self.promise);
}

static void hear(void *context) {
    atomic_fetch_add(&((counter *)context)->runs, 1);
}

/* A function that takes its time, and says how far it is. */
typedef struct slow {
    vow_resolver *resolver;
    atomic_int stage; /* 1: it runs, 2: it has returned, 3: its context is destroyed */
    atomic_int may_return;
    bool releases;
} slow;

static void tell_slowly(void *context) {
    slow *self = context;
    atomic_store(&self->stage, 1);
    CHECK(reaches(&self->may_return, 1));
    if (self->releases) {
        vow_resolver_release(self->resolver);
    }
    atomic_store(&self->stage, 2);
}

static void end_slowly(void *context) {
    usleep(1000);
    atomic_store(&((slow *)context)->stage, 3);
}

static void *cancel_elsewhere(void *promise) {
    CHECK(vow_cancel(promise));
    vow_promise_release(promise);
    return NULL;
}

static void check_told_first(uint32_t flags, bool releases, bool resolves) {
    slow self = {.releases = releases};
    counter late = {0};
    vow_scope *scope = vow_scope_create();
    vow_promise *member = vow_promise_create_with(&self.resolver, flags);
    CHECK_INT_EQ(vow_resolver_on_cancel(self.resolver, tell_slowly, &self, end_slowly), 0);
    CHECK_INT_EQ(vow_scope_add(scope, vow_promise_retain(member)), 0);
    pthread_t thread = start_thread(cancel_elsewhere, vow_promise_retain(member));
    CHECK(reaches(&self.stage, 1));
    if (resolves) {
        /* By another thread, while the function runs. */
        CHECK(!vow_resolve(self.resolver, vow_int(1)));
        CHECK(!vow_reject(self.resolver, vow_error("test", 1, NULL)));
    }
    CHECK_INT_EQ(vow_promise_state(member), VOW_PENDING);
    CHECK(!vow_cancel(member));
    if (!releases) {
        CHECK_INT_EQ(vow_resolver_on_cancel(self.resolver, hear, &late, counter_end), 0);
        CHECK_INT_EQ(atomic_load(&late.runs), 1);
        CHECK_INT_EQ(atomic_load(&late.ends), 1);
    }
    atomic_store(&self.may_return, 1);
    CHECK_INT_EQ(code_of(member), VOW_ECANCELLED);
    CHECK_INT_EQ(atomic_load(&self.stage), 3);
    CHECK_INT_EQ(code_of(vow_scope_close(scope)), VOW_ECANCELLED);
    pthread_join(thread, NULL);
    if (!releases) {
        vow_resolver_release(self.resolver);
    }
}

TEST("G14: a cancelled promise settles when its producer's functions have returned") {
    check_told_first(0, false, false);
    check_told_first(0, false, true);
    check_told_first(0, true, false);
    check_told_first(VOW_COOPERATIVE, false, true);
    check_told_first(VOW_COOPERATIVE, true, false);
}

TEST("G14: so it does where the function itself ends the work of a cooperative producer") {
    for (int kept = 0; kept < 2; kept++) {
        entangled self = {0};
        vow_promise *promise = vow_promise_create_with(&self.resolver, VOW_COOPERATIVE);
        self.promise = vow_promise_retain(promise);
        CHECK_INT_EQ(vow_resolver_on_cancel(self.resolver, look_and_release, &self, NULL), 0);
        CHECK(vow_cancel(promise));
        CHECK_INT_EQ(self.state, VOW_PENDING);
        CHECK_INT_EQ(code_of(promise), VOW_ECANCELLED);
        vow_promise_release(self.promise);
    }
}

/* The producer resolves, the canceller cancels, a third one registers, all at once. */
typedef struct racing {
    vow_resolver *resolver;
    counter told;
    atomic_int may_begin;
} racing;

static void *resolve_in_race(void *context) {
    racing *self = context;
    while (atomic_load(&self->may_begin) == 0) {
    }
    CHECK_INT_EQ(vow_resolver_on_cancel(self->resolver, hear, &self->told, counter_end), 0);
    (void)vow_resolve(self->resolver, vow_int(1));
    vow_resolver_release(self->resolver);
    return NULL;
}

TEST("G14: cancelling races with a producer that registers, resolves and lets go") {
    for (int round = 0; round < many_of(2000, 100000); round++) {
        racing self = {0};
        vow_promise *promise =
            vow_promise_create_with(&self.resolver, round % 2 ? VOW_COOPERATIVE : 0);
        CHECK_INT_EQ(vow_resolver_on_cancel(self.resolver, hear, &self.told, counter_end), 0);
        pthread_t thread = start_thread(resolve_in_race, &self);
        atomic_store(&self.may_begin, 1);
        for (int spin = round % 32; spin > 0; spin--) {
            sched_yield();
        }
        bool is_cancelled = vow_cancel(promise);
        int state = vow_await(promise, LONG_ENOUGH, NULL);
        CHECK_INT_EQ(state, is_cancelled ? VOW_REJECTED : VOW_FULFILLED);
        pthread_join(thread, NULL);
        CHECK_INT_EQ(atomic_load(&self.told.runs), is_cancelled ? 2 : 0);
        CHECK_INT_EQ(atomic_load(&self.told.ends), 2);
        vow_promise_release(promise);
    }
}

typedef struct token_in_hook {
    vow_cancel_source *source;
    vow_promise *link;
    counter context;
    vow_state state;
} token_in_hook;

static void cancel_token(void *context) {
    token_in_hook *self = context;
    CHECK(vow_cancel_source_cancel(self->source));
    self->state = vow_promise_state(self->link);
    CHECK_INT_EQ(atomic_load(&self->context.ends), 1);
}

TEST("a token that a hook cancels has settled its reactions, their contexts destroyed, when the "
     "call returns") {
    vow_resolver *resolver, *shared_resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise *shared = vow_promise_create(&shared_resolver);
    token_in_hook self = {.source = vow_cancel_source_create()};
    vow_token *token = vow_cancel_source_token(self.source);
    vow_reaction reaction = {.size = sizeof reaction,
                             .on_fulfilled = counter_run,
                             .context = &self.context,
                             .destroy = counter_end,
                             .token = token};
    self.link = vow_then_with(vow_promise_retain(shared), &reaction);
    CHECK_INT_EQ(vow_resolver_on_cancel(resolver, cancel_token, &self, NULL), 0);
    CHECK(vow_cancel(promise));
    CHECK_INT_EQ(self.state, VOW_REJECTED);
    CHECK_INT_EQ(code_of(self.link), VOW_ECANCELLED);
    vow_token_release(token);
    vow_cancel_source_release(self.source);
    vow_promise_release(shared);
    vow_resolver_release(shared_resolver);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
}
