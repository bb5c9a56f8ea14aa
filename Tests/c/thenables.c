/* Tests objects that were asked whether they are thenables, and are not. */
#include "tools.h"

typedef struct source {
    atomic_int calls;
    atomic_int ends;
} source;

static void source_end(void *pointer) {
    atomic_fetch_add(&((source *)pointer)->ends, 1);
}

static bool source_subscribe(void *pointer, vow_resolver *resolver) {
    source *self = pointer;
    atomic_fetch_add(&self->calls, 1);
    vow_resolver_release(resolver);
    return false;
}

static const vow_class source_class = {sizeof(vow_class), "source", source_end, source_subscribe};

static vow_value source_value(source *self) {
    return vow_object(self, &source_class);
}

static vow_value give_thenable(vow_value input, void *context) {
    (void)input;
    return source_value(context);
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
    source thenable = {0};
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
    source thenable = {0};
    vow_value out = vow_none();
    vow_promise *loop = vow_repeat(vow_int(1), only_at_first, give_thenable, &thenable);
    CHECK_INT_EQ(vow_await(loop, LONG_ENOUGH, &out), VOW_FULFILLED);
    CHECK(vow_object_pointer(out, &source_class) == &thenable);
    vow_value_release(out);
    vow_promise_release(loop);
    CHECK(reaches(&thenable.ends, 1));
    CHECK_INT_EQ(atomic_load(&thenable.calls), 1);
}
