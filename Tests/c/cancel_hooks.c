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
} entangled;

static void look_and_release(void *context) {
    entangled *self = context;
    self->state = (int)vow_promise_state(self->promise);
    vow_promise_release(then_inline(vow_promise_retain(self->promise), add_one, NULL));
    vow_resolver_release(self->resolver);
}

TEST("a hook may do anything to the promise and its resolver") {
    entangled self = {0};
    self.promise = vow_promise_create(&self.resolver);
    CHECK_INT_EQ(vow_resolver_on_cancel(self.resolver, look_and_release, &self, NULL), 0);
    CHECK(vow_cancel(self.promise));
    CHECK_INT_EQ(self.state, VOW_REJECTED);
    vow_promise_release(self.promise);
}
