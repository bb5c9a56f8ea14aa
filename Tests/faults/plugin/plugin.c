/* A plug-in with the library inside, or linked with it: what it offers its host. */
#include <stdlib.h>
#include <vow.h>

__attribute__((visibility("default"))) int plugin_work(void);
__attribute__((visibility("default"))) int plugin_inline(void);
__attribute__((visibility("default"))) void *plugin_promise(void);

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

/* A promise, owned by the host. */
void *plugin_promise(void) {
    return vow_promise_with(vow_int(1));
}
