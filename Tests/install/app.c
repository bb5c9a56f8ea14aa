/* app.c: a program of somebody else: a chain that runs on the pool, and a wait for it. */
#include <inttypes.h>
#include <stdio.h>
#include <vow.h>

/* A function of the library by its address: what the linker says to that depends on how the
 * program is built, and on how the library exports it. */
static void (*const give_back)(vow_promise *) = vow_promise_release;

static vow_value twice(vow_value input, void *context) {
    (void)context;
    return vow_int(2 * input.as.integer);
}

int main(void) {
    vow_resolver *resolver;
    vow_value result;
    vow_promise *promise = vow_then(vow_promise_create(&resolver), twice, NULL);
    vow_resolve(resolver, vow_int(21));
    vow_resolver_release(resolver);
    if (vow_await(promise, VOW_FOREVER, &result) != VOW_FULFILLED) {
        return 1;
    }
    give_back(promise);
    printf("%" PRId64 ", vow %s\n", result.as.integer, VOW_VERSION_STRING);
    return vow_version() == VOW_VERSION ? 0 : 1;
}
