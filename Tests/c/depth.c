/* Tests G6: very many links, adoptions or nested values on a thread with a small stack. */
#include "small_stack.h"

static int links(void) {
    return depth_of(1000000);
}

static vow_promise *long_chain(vow_executor *executor, vow_resolver **resolver) {
    vow_promise *promise = vow_promise_create(resolver);
    for (int i = 0; i < links(); i++) {
        promise = then_on(executor, promise, add_one, NULL);
    }
    return promise;
}

static void *resolve_chain(void *executor) {
    vow_resolver *resolver;
    vow_promise *promise = long_chain(executor, &resolver);
    CHECK(vow_resolve(resolver, vow_int(0)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), links());
    return NULL;
}

static void *reject_chain(void *executor) {
    vow_resolver *resolver;
    vow_promise *promise = long_chain(executor, &resolver);
    CHECK(vow_reject(resolver, vow_error("test", 9, "nine")));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(code_of(promise), 9);
    return NULL;
}

static void *break_chain(void *executor) {
    vow_resolver *resolver;
    vow_promise *promise = long_chain(executor, &resolver);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(code_of(promise), VOW_EBROKEN);
    return NULL;
}

static void ignore(vow_value error, void *context) {
    (void)error;
    (void)context;
}

static void *free_chain(void *executor) {
    vow_resolver *resolver;
    vow_promise_release(long_chain(executor, &resolver));
    vow_resolver_release(resolver);
    return NULL;
}

static void on_both(void *(*part)(void *executor)) {
    vow_executor *serial = vow_executor_serial("depth");
    on_small_stack(part, vow_executor_inline());
    on_small_stack(part, serial);
    vow_executor_release(serial);
}

TEST("G6: a chain of very many links resolves and is freed, inline and serial") {
    on_both(resolve_chain);
}

TEST("G6: a chain of very many links is rejected and freed, inline and serial") {
    on_both(reject_chain);
}

TEST("G6: a chain of very many links breaks and is freed, inline and serial") {
    on_both(break_chain);
}

TEST("G6: a chain of very many links that nobody holds is freed, inline and serial") {
    vow_on_unhandled(ignore, NULL);
    on_both(free_chain);
    vow_on_unhandled(NULL, NULL);
}

/* A row in which each promise adopts the next one. */
static void *adopt_forward(void *context) {
    (void)context;
    vow_resolver *resolver;
    vow_promise *first = vow_promise_create(&resolver);
    for (int i = 0; i < links(); i++) {
        vow_resolver *next;
        CHECK(vow_resolve(resolver, vow_from_promise(vow_promise_create(&next))));
        vow_resolver_release(resolver);
        resolver = next;
    }
    CHECK(vow_resolve(resolver, vow_int(8)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(first), 8);
    return NULL;
}

/* A row in which each new promise adopts the one before it. */
static void *adopt_backward(void *context) {
    (void)context;
    vow_resolver *resolver;
    vow_promise *last = vow_promise_create(&resolver);
    for (int i = 0; i < links(); i++) {
        vow_resolver *outer;
        vow_promise *promise = vow_promise_create(&outer);
        CHECK(vow_resolve(outer, vow_from_promise(last)));
        vow_resolver_release(outer);
        last = promise;
    }
    CHECK(vow_resolve(resolver, vow_int(8)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(last), 8);
    return NULL;
}

/* All promises of the row stay retained until the end, and all of them settle. */
static void adopt_retained(bool forward) {
    int count = links() + 1;
    vow_promise **row = calloc((size_t)count, sizeof *row);
    vow_resolver **resolvers = calloc((size_t)count, sizeof *resolvers);
    if (row == NULL || resolvers == NULL) {
        abort();
    }
    for (int i = 0; i < count; i++) {
        row[i] = vow_promise_create(&resolvers[i]);
    }
    for (int i = 0; i < count - 1; i++) {
        int at = forward ? i : count - 2 - i;
        CHECK(vow_resolve(resolvers[at], vow_from_promise(vow_promise_retain(row[at + 1]))));
        vow_resolver_release(resolvers[at]);
    }
    CHECK_INT_EQ(vow_promise_state(row[0]), VOW_PENDING);
    CHECK(vow_resolve(resolvers[count - 1], vow_string("all", 3)));
    vow_resolver_release(resolvers[count - 1]);
    int settled = 0;
    for (int i = 0; i < count; i++) {
        int at = forward ? i : count - 1 - i;
        settled += vow_promise_state(row[at]) == VOW_FULFILLED;
        vow_promise_release(row[at]);
    }
    CHECK_INT_EQ(settled, count);
    free(row);
    free(resolvers);
}

static void *adopt_retained_forward(void *context) {
    (void)context;
    adopt_retained(true);
    return NULL;
}

static void *adopt_retained_backward(void *context) {
    (void)context;
    adopt_retained(false);
    return NULL;
}

TEST("G6: very many promises adopted in turn settle and are freed, outer ones first") {
    on_small_stack(adopt_forward, NULL);
}

TEST("G6: very many promises adopted in turn settle and are freed, inner ones first") {
    on_small_stack(adopt_backward, NULL);
}

TEST("G6: very many adopted promises that are all retained settle and are freed") {
    on_small_stack(adopt_retained_forward, NULL);
    on_small_stack(adopt_retained_backward, NULL);
}

static void *nest_lists(void *context) {
    vow_value value = vow_object(context, &counter_class);
    for (int i = 0; i < links(); i++) {
        value = vow_list(&value, 1);
    }
    CHECK_INT_EQ(value.kind, VOW_LIST);
    vow_value_release(value);
    return NULL;
}

static void *nest_errors(void *context) {
    vow_value value = vow_object(context, &counter_class);
    for (int i = 0; i < links(); i++) {
        value = vow_error_wrap("test", i, NULL, value);
    }
    CHECK_INT_EQ(vow_error_code(value), links() - 1);
    vow_value_release(value);
    return NULL;
}

/* A list of a promise of an error of a list of ... */
static void *nest_all(void *context) {
    vow_value value = vow_object(context, &counter_class);
    for (int i = 0; i < links() / 3; i++) {
        value = vow_list(&value, 1);
        value = vow_from_promise(vow_promise_with(value));
        value = vow_error_wrap("test", i, NULL, value);
    }
    vow_value_release(value);
    return NULL;
}

static void nest(void *(*part)(void *context)) {
    counter innermost = {0};
    on_small_stack(part, &innermost);
    CHECK_INT_EQ(atomic_load(&innermost.ends), 1);
}

TEST("G6: lists nested very deep are freed") {
    nest(nest_lists);
}

TEST("G6: errors nested very deep are freed") {
    nest(nest_errors);
}

TEST("G6: lists, promises and errors nested very deep are freed") {
    nest(nest_all);
}

TEST("G6: a very deep value as the result of a promise is freed with it") {
    counter innermost = {0};
    vow_value value = vow_object(&innermost, &counter_class);
    for (int i = 0; i < links(); i++) {
        value = vow_list(&value, 1);
    }
    vow_promise_release(vow_promise_with(value));
    CHECK_INT_EQ(atomic_load(&innermost.ends), 1);
}

static vow_value give_promise(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(context);
}

static bool once(vow_value state, void *context) {
    (void)context;
    return state.kind == VOW_BOOL;
}

/* Each operation around a promise (consumed). */
typedef vow_promise *wrapper(vow_promise *promise);

static vow_call inline_call(void *context) {
    return (vow_call){
        .size = sizeof(vow_call), .executor = vow_executor_inline(), .context = context};
}

static vow_promise *mapped(vow_promise *promise) {
    vow_call call = inline_call(promise);
    vow_value item = vow_int(1);
    return vow_map_with(vow_list(&item, 1), give_promise, 0, &call);
}

static vow_promise *reduced(vow_promise *promise) {
    vow_call call = inline_call(NULL);
    return vow_reduce_with(&promise, 1, vow_int(0), fold, &call);
}

static vow_promise *repeated(vow_promise *promise) {
    vow_call call = inline_call(promise);
    return vow_repeat_with(vow_bool(true), once, give_promise, &call);
}

static vow_promise *retried(vow_promise *promise) {
    vow_call call = inline_call(promise);
    vow_retry_policy policy = {.size = sizeof policy, .attempts = 1};
    return vow_retry_with(&policy, give_promise, &call);
}

static vow_promise *acquired(vow_promise *promise) {
    vow_call call = inline_call(NULL);
    return vow_using_with(promise, add_one, add_one, &call);
}

static vow_promise *in_use(vow_promise *promise) {
    vow_call call = inline_call(promise);
    return vow_using_with(fulfilled_int(1), give_promise, add_one, &call);
}

static vow_promise *ended(vow_promise *promise) {
    vow_scope *scope = vow_scope_create();
    CHECK_INT_EQ(vow_scope_add(scope, promise), 0);
    return vow_scope_close(scope);
}

static wrapper *const machines[] = {mapped, reduced, repeated, retried, acquired, in_use, ended};

static void *cancel_nested(void *context) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    for (int i = 0; i < depth_of(100000); i++) {
        promise = (*(wrapper *const *)context)(promise);
    }
    CHECK(vow_cancel(promise));
    CHECK_INT_EQ(vow_promise_state(promise) == VOW_PENDING, false);
    vow_promise_release(promise);
    vow_resolver_release(resolver);
    return NULL;
}

TEST("G6: very many maps, reduces, repeats, retries, usings, scopes in each other are cancelled") {
    vow_on_unhandled(ignore, NULL);
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        on_small_stack(cancel_nested, (void *)(uintptr_t)&machines[i]);
    }
    vow_on_unhandled(NULL, NULL);
}
