/* Tests thenables: objects whose class has subscribe, and every way to answer it. */
#include "tools.h"

/* A thenable: what it does when it is subscribed to, and what became of it. */
typedef struct source {
    atomic_int calls;
    atomic_int ends;
    vow_resolver *kept;
    vow_promise *target;
    struct source *next;
    bool (*act)(struct source *self, vow_resolver *resolver);
} source;

static void source_end(void *pointer) {
    atomic_fetch_add(&((source *)pointer)->ends, 1);
}

static bool source_subscribe(void *pointer, vow_resolver *resolver) {
    source *self = pointer;
    atomic_fetch_add(&self->calls, 1);
    return self->act(self, resolver);
}

static const vow_class source_class = {sizeof(vow_class), "source", source_end, source_subscribe};

static vow_value source_value(source *self) {
    return vow_object(self, &source_class);
}

static bool act_at_once(source *self, vow_resolver *resolver) {
    (void)self;
    CHECK(vow_resolve(resolver, vow_int(21)));
    vow_resolver_release(resolver);
    return true;
}

TEST("a promise resolved with a thenable follows what it gives") {
    source thenable = {.act = act_at_once};
    CHECK_INT_EQ(int_of(vow_promise_with(source_value(&thenable))), 21);
    CHECK_INT_EQ(atomic_load(&thenable.calls), 1);
    CHECK(reaches(&thenable.ends, 1));
}

static vow_value give_thenable(vow_value input, void *context) {
    (void)input;
    return source_value(context);
}

TEST("a thenable that a handler returns is subscribed to once") {
    source thenable = {.act = act_at_once};
    CHECK_INT_EQ(int_of(vow_then(fulfilled_int(1), give_thenable, &thenable)), 21);
    CHECK(reaches(&thenable.ends, 1));
    CHECK_INT_EQ(atomic_load(&thenable.calls), 1);
    CHECK_INT_EQ(atomic_load(&thenable.ends), 1);
}

static bool act_reject(source *self, vow_resolver *resolver) {
    (void)self;
    CHECK(vow_reject(resolver, vow_error("test", 22, "from a thenable")));
    vow_resolver_release(resolver);
    return true;
}

TEST("a thenable may reject") {
    source thenable = {.act = act_reject};
    CHECK_INT_EQ(code_of(vow_promise_with(source_value(&thenable))), 22);
    CHECK(reaches(&thenable.ends, 1));
}

static bool act_twice(source *self, vow_resolver *resolver) {
    (void)self;
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK(!vow_resolve(resolver, vow_int(2)));
    CHECK(!vow_reject(resolver, vow_error("test", 3, NULL)));
    vow_resolver_release(resolver);
    return true;
}

TEST("G1: of a thenable's answers the first counts") {
    source thenable = {.act = act_twice};
    CHECK_INT_EQ(int_of(vow_promise_with(source_value(&thenable))), 1);
    CHECK(reaches(&thenable.ends, 1));
}

static bool act_keep(source *self, vow_resolver *resolver) {
    self->kept = resolver;
    return true;
}

static void *answer_later(void *context) {
    source *self = context;
    usleep(20000);
    CHECK(vow_resolve(self->kept, vow_int(23)));
    vow_resolver_release(self->kept);
    return NULL;
}

TEST("a thenable may answer later, from another thread") {
    source thenable = {.act = act_keep};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(vow_resolve(resolver, source_value(&thenable)));
    CHECK(!vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    pthread_t thread = start_thread(answer_later, &thenable);
    CHECK_INT_EQ(int_of(promise), 23);
    pthread_join(thread, NULL);
    CHECK(reaches(&thenable.ends, 1));
}

static bool act_refuse(source *self, vow_resolver *resolver) {
    (void)self;
    vow_resolver_release(resolver);
    return false;
}

TEST("a thenable that returns false is itself the value") {
    source thenable = {.act = act_refuse};
    vow_promise *promise = vow_promise_with(source_value(&thenable));
    vow_value out = vow_none();
    CHECK_INT_EQ(vow_await(promise, LONG_ENOUGH, &out), VOW_FULFILLED);
    CHECK(vow_object_pointer(out, &source_class) == &thenable);
    vow_value_release(out);
    CHECK_INT_EQ(atomic_load(&thenable.ends), 0);
    vow_promise_release(promise);
    CHECK_INT_EQ(atomic_load(&thenable.ends), 1);
    CHECK_INT_EQ(atomic_load(&thenable.calls), 1);
}

typedef struct passing {
    vow_promise *passed;
    int ends;
} passing;

static void cancel_what_passes(void *pointer) {
    passing *self = pointer;
    self->ends++;
    CHECK(vow_cancel(self->passed));
}

static vow_value not_called(vow_value input, void *context) {
    (void)input;
    (void)context;
    CHECK(false);
    return vow_none();
}

TEST("as a value that is passed on it is not asked again, though the promise is cancelled "
     "meanwhile") {
    source thenable = {.act = act_refuse};
    passing self = {0};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_reaction reaction = {.size = sizeof reaction, .executor = vow_executor_inline()};
    reaction.on_rejected = not_called;
    reaction.context = &self;
    reaction.destroy = cancel_what_passes;
    self.passed = vow_then_with(promise, &reaction);
    CHECK(vow_resolve(resolver, source_value(&thenable)));
    CHECK_INT_EQ(self.ends, 1);
    CHECK_INT_EQ(code_of(self.passed), VOW_ECANCELLED);
    CHECK_INT_EQ(self.ends, 1);
    CHECK_INT_EQ(atomic_load(&thenable.calls), 1);
    vow_resolver_release(resolver);
    CHECK(reaches(&thenable.ends, 1));
}

static bool only_at_first(vow_value state, void *context) {
    (void)context;
    return state.kind == VOW_INT;
}

TEST("vow_repeat is fulfilled with an object that was asked already, and does not ask it again") {
    source thenable = {.act = act_refuse};
    vow_value out = vow_none();
    vow_promise *loop = vow_repeat(vow_int(1), only_at_first, give_thenable, &thenable);
    CHECK_INT_EQ(vow_await(loop, LONG_ENOUGH, &out), VOW_FULFILLED);
    CHECK(vow_object_pointer(out, &source_class) == &thenable);
    vow_value_release(out);
    vow_promise_release(loop);
    CHECK(reaches(&thenable.ends, 1));
    CHECK_INT_EQ(atomic_load(&thenable.calls), 1);
}

static bool act_drop(source *self, vow_resolver *resolver) {
    (void)self;
    vow_resolver_release(resolver);
    return true;
}

TEST("G9: a thenable that drops its resolver breaks the promise") {
    source thenable = {.act = act_drop};
    CHECK_INT_EQ(code_of(vow_promise_with(source_value(&thenable))), VOW_EBROKEN);
    CHECK(reaches(&thenable.ends, 1));
}

static bool act_pass_on(source *self, vow_resolver *resolver) {
    CHECK(vow_resolve(resolver, source_value(self->next)));
    vow_resolver_release(resolver);
    return true;
}

TEST("a thenable may give another thenable") {
    source row[5];
    memset(row, 0, sizeof row);
    for (int i = 0; i < 5; i++) {
        row[i].act = i < 4 ? act_pass_on : act_at_once;
        row[i].next = i < 4 ? &row[i + 1] : NULL;
    }
    CHECK_INT_EQ(int_of(vow_promise_with(source_value(&row[0]))), 21);
    for (int i = 0; i < 5; i++) {
        CHECK(reaches(&row[i].ends, 1));
        CHECK_INT_EQ(atomic_load(&row[i].calls), 1);
    }
}

static bool act_give_promise(source *self, vow_resolver *resolver) {
    CHECK(vow_resolve(resolver, vow_from_promise(vow_promise_retain(self->target))));
    vow_resolver_release(resolver);
    return true;
}

TEST("a thenable may give a promise, which is adopted") {
    vow_resolver *resolver;
    source thenable = {.act = act_give_promise};
    thenable.target = vow_promise_create(&resolver);
    vow_promise *promise = vow_promise_with(source_value(&thenable));
    CHECK_INT_EQ(vow_promise_state(promise), VOW_PENDING);
    CHECK(vow_resolve(resolver, vow_int(31)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), 31);
    vow_promise_release(thenable.target);
    CHECK(reaches(&thenable.ends, 1));
}

TEST("a thenable that gives the promise that follows it ends in VOW_ECYCLE") {
    vow_resolver *resolver;
    source thenable = {.act = act_give_promise};
    thenable.target = vow_promise_create(&resolver);
    CHECK(vow_resolve(resolver, source_value(&thenable)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(code_of(thenable.target), VOW_ECYCLE);
    CHECK(reaches(&thenable.ends, 1));
}

TEST("a thenable inside a list or an error is left alone") {
    source thenable = {.act = act_at_once};
    vow_value item = source_value(&thenable);
    vow_promise *promise = vow_promise_with(vow_list(&item, 1));
    CHECK_INT_EQ(vow_promise_state(promise), VOW_FULFILLED);
    vow_promise_release(promise);
    promise = vow_promise_with(vow_error_wrap("test", 1, NULL, source_value(&thenable)));
    CHECK_INT_EQ(code_of(promise), 1);
    CHECK_INT_EQ(atomic_load(&thenable.calls), 0);
    CHECK_INT_EQ(atomic_load(&thenable.ends), 2);
}

TEST("a thenable given to a promise that is resolved already is only destroyed") {
    source thenable = {.act = act_at_once};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(vow_resolve(resolver, vow_int(1)));
    CHECK(!vow_resolve(resolver, source_value(&thenable)));
    CHECK_INT_EQ(atomic_load(&thenable.calls), 0);
    CHECK_INT_EQ(atomic_load(&thenable.ends), 1);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}
