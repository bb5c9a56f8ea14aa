/* Tests the checked build: a handle of another type than the function takes is caught, and what it
 * is is said. A context, which is a void *, loses the type for the compiler. */
#include "aborts.h"

/* Something of each type, as a context carries it; all of them live. */
static vow_resolver *resolver;
static void *promise, *executor, *source, *token, *loop, *scope, *list;

static void make_all(void) {
    promise = vow_promise_create(&resolver);
    executor = vow_executor_serial("letters");
    source = vow_cancel_source_create();
    token = vow_cancel_source_token(source);
    loop = vow_loop_create();
    scope = vow_scope_create();
    vow_value item = vow_int(1);
    list = vow_list(&item, 1).as.pointer;
}

static void resolver_as_promise(void) {
    make_all();
    void *context = resolver;
    vow_promise_state(context);
}

static void resolver_as_consumed(void) {
    make_all();
    void *context = resolver;
    vow_detach(vow_then(context, add_one, NULL));
}

static void resolver_in_all(void) {
    make_all();
    void *context = resolver;
    vow_promise *members[2] = {promise, context};
    vow_detach(vow_all(members, 2));
}

static void promise_as_resolver(void) {
    make_all();
    vow_resolve(promise, vow_int(1));
}

static void promise_as_resolver_released(void) {
    make_all();
    vow_resolver_release(promise);
}

static void executor_as_promise(void) {
    make_all();
    vow_promise_release(executor);
}

static void loop_as_promise(void) {
    make_all();
    vow_await(loop, 0, NULL);
}

static void list_as_promise(void) {
    make_all();
    vow_promise_state(list);
}

TEST("where a promise or a resolver is taken, what is none of them is named") {
    check_aborts(resolver_as_promise, "vow_promise_state: the handle is a resolver's\n");
    check_aborts(resolver_as_consumed, "vow_then: the handle is a resolver's\n");
    check_aborts(resolver_in_all, "vow_all: the handle is a resolver's\n");
    check_aborts(promise_as_resolver, "vow_resolve: the handle is a promise's\n");
    check_aborts(promise_as_resolver_released, "vow_resolver_release: the handle is a promise's\n");
    check_aborts(executor_as_promise, "vow_promise_release: the handle is an executor's\n");
    check_aborts(loop_as_promise, "vow_await: the handle is a loop's\n");
    check_aborts(list_as_promise, "vow_promise_state: the handle is the content of a value\n");
}

static void source_as_token(void) {
    make_all();
    vow_token_is_cancelled(source);
}

static void token_as_source(void) {
    make_all();
    vow_cancel_source_cancel(token);
}

static void promise_as_token(void) {
    make_all();
    vow_reaction reaction = {.size = sizeof reaction, .on_fulfilled = add_one, .token = promise};
    vow_detach(vow_then_with(fulfilled_int(1), &reaction));
}

static void scope_as_source(void) {
    make_all();
    vow_cancel_source_release(scope);
}

TEST("where a source or a token is taken, what is none of them is named") {
    check_aborts(source_as_token, "vow_token_is_cancelled: the handle is a cancel source's\n");
    check_aborts(token_as_source, "vow_cancel_source_cancel_with: the handle is a token's\n");
    check_aborts(promise_as_token, "vow_then_with: the handle is a promise's\n");
    check_aborts(scope_as_source, "vow_cancel_source_release: the handle is a scope's\n");
}

static void loop_as_executor(void) {
    make_all();
    vow_detach(vow_async(loop, add_one, NULL));
}

static void promise_as_executor(void) {
    make_all();
    vow_executor_release(promise);
}

static void executor_as_loop(void) {
    make_all();
    vow_loop_fd(executor);
}

static void executor_as_loop_woken(void) {
    make_all();
    vow_loop_wake(executor);
}

static void promise_as_scope(void) {
    make_all();
    vow_scope_cancel(promise);
}

static void nothing_as_promise(void) {
    static char bytes[256];
    void *context = bytes;
    vow_promise_state(context);
}

TEST("where an executor, a loop or a scope is taken, what is none of them is named") {
    check_aborts(loop_as_executor, "vow_async: the handle is a loop's\n");
    check_aborts(promise_as_executor, "vow_executor_release: the handle is a promise's\n");
    check_aborts(executor_as_loop, "vow_loop_fd: the handle is an executor's\n");
    check_aborts(executor_as_loop_woken,
                 "vow_loop_wake: the loop was destroyed before (or is none)");
    check_aborts(promise_as_scope, "vow_scope_cancel: the handle is a promise's\n");
    check_aborts(nothing_as_promise,
                 "vow_promise_state: the handle was released before (or is none)");
}

static bool keep(void *context, vow_resolver *given) {
    *(vow_resolver **)context = given;
    return true;
}

static const vow_class keeper = {sizeof(vow_class), "keeper", NULL, keep};

TEST("a thenable's resolver and a linked source's tokens are what they should be") {
    vow_resolver *given = NULL;
    vow_promise *asked = vow_promise_with(vow_object(&given, &keeper));
    CHECK(vow_resolve(given, vow_int(4)));
    vow_resolver_release(given);
    CHECK_INT_EQ(int_of(asked), 4);

    vow_cancel_source *parent = vow_cancel_source_create();
    vow_token *parents[2] = {vow_cancel_source_token(parent), NULL};
    vow_cancel_source *child = vow_cancel_source_create_linked(parents, 2);
    CHECK(vow_cancel_source_cancel(parent));
    CHECK(vow_token_is_cancelled(vow_cancel_source_token(child)));
    vow_cancel_source_release(child);
    vow_cancel_source_release(parent);
}
