/* A library that has become worse: each vow_then takes memory, time and two atomic steps more, and
 * the more time the more there were before. For the self-test; linked with --wrap=vow_then. */
#include <stdlib.h>
#include <vow.h>

vow_promise *__real_vow_then(vow_promise *promise, vow_handler handler, void *context);
vow_promise *__wrap_vow_then(vow_promise *promise, vow_handler handler, void *context);

vow_promise *__wrap_vow_then(vow_promise *promise, vow_handler handler, void *context) {
    void *volatile taken = malloc(64);
    void *volatile more = malloc(64);
    static size_t before;
    for (volatile size_t i = 0; i < before; i++) {
    }
    before++;
    free(taken);
    free(more);
    vow_promise_release(vow_promise_retain(promise));
    return __real_vow_then(promise, handler, context);
}
