/* A plug-in with the library inside, or linked with it: what it offers its host. */
#include <stdlib.h>
#include <vow.h>

__attribute__((visibility("default"))) int plugin_work(void);
__attribute__((visibility("default"))) int plugin_inline(void);
__attribute__((visibility("default"))) int plugin_scope(void);
__attribute__((visibility("default"))) int plugin_calls(void);
__attribute__((visibility("default"))) int plugin_live(void);
__attribute__((visibility("default"))) void *plugin_pool(void);
__attribute__((visibility("default"))) void *plugin_promise(void);
__attribute__((visibility("default"))) void *plugin_failure(void);

static vow_value add_one(vow_value input, void *context) {
    (void)context;
    return vow_int(input.as.integer + 1);
}

static int result_of(vow_promise *promise) {
    vow_value out = vow_none();
    int state = vow_await(promise, VOW_FOREVER, &out);
    vow_promise_release(promise);
    return state == (int)VOW_FULFILLED ? (int)out.as.integer : -1;
}

static vow_value begin(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_int(40);
}

/* 42, by a delay, the pool and a serial executor; some more work is left running. */
int plugin_work(void) {
    vow_executor *serial = vow_executor_serial("of a plug-in");
    vow_promise *promise = vow_then(vow_delay(1000), begin, NULL);
    vow_reaction reaction = {.size = sizeof reaction, .on_fulfilled = add_one, .executor = serial};
    promise = vow_then_with(promise, &reaction);
    promise = vow_then(promise, add_one, NULL);
    vow_promise_release(vow_then(vow_delay(100000), begin, NULL));
    vow_executor_release(serial);
    return result_of(promise);
}

/* 42, on the calling thread alone. */
int plugin_inline(void) {
    vow_reaction reaction = {
        .size = sizeof reaction, .on_fulfilled = add_one, .executor = vow_executor_inline()};
    return result_of(vow_then_with(vow_promise_with(vow_int(41)), &reaction));
}

/* 42, by members of a scope on the pool and a serial executor; when it is closed, none of them is
 * left. */
int plugin_scope(void) {
    vow_scope *scope = vow_scope_create();
    vow_executor *serial = vow_executor_serial("of a plug-in");
    vow_reaction reaction = {.size = sizeof reaction, .on_fulfilled = add_one, .executor = serial};
    for (int i = 0; i < 20; i++) {
        vow_scope_add(scope, vow_then_with(vow_async(vow_executor_pool(), begin, NULL), &reaction));
    }
    vow_executor_release(serial);
    vow_promise *closed = vow_scope_close(scope);
    int state = vow_await(closed, VOW_FOREVER, NULL);
    vow_promise_release(closed);
    return state == (int)VOW_FULFILLED ? 42 : -1;
}

/* How often this was called in the same copy. */
int plugin_calls(void) {
    static int calls;
    return ++calls;
}

/* How many promises its library counts. */
int plugin_live(void) {
    vow_statistics stats = {.size = sizeof stats};
    vow_stats(&stats);
    return (int)stats.live;
}

void *plugin_pool(void) {
    return vow_executor_pool();
}

/* A promise, owned by the host. */
void *plugin_promise(void) {
    return vow_promise_with(vow_int(1));
}

static void free_detail(void *pointer) {
    free(pointer);
}

static const vow_class detail_class = {sizeof(vow_class), "detail", free_detail, NULL};

static vow_value fail(vow_value input, void *context) {
    (void)input;
    (void)context;
    vow_value detail = vow_object(malloc(1), &detail_class);
    return vow_error_wrap("plug-in", 7, "it failed",
                          vow_error_wrap("plug-in", 8, "its cause", detail));
}

/* The promise, owned by the host, of the end of a scope whose member has failed on its thread. */
void *plugin_failure(void) {
    vow_scope *scope = vow_scope_create();
    vow_promise_release(vow_scope_async(scope, vow_executor_inline(), fail, NULL, NULL));
    return vow_scope_close(scope);
}
