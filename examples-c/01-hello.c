/* 01-hello.c: one thread makes a promise and waits for it, another thread resolves it. */
#include <pthread.h>
#include <stdio.h>

#include "vow.h"

/* The thread owns the resolver: the right to settle the promise. It keeps it for as long as it
 * may still need it, and then gives it back. */
static void *greet(void *context) {
    vow_resolver *resolver = context;
    vow_resolve(resolver, vow_string("hello, world", VOW_NUL_TERMINATED));
    vow_resolver_release(resolver);
    return NULL;
}

int main(void) {
    /* Two handles on one thing: whoever has the promise can read the result, whoever has the
     * resolver can provide it. */
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    printf("pending: %s\n", vow_promise_state(promise) == VOW_PENDING ? "yes" : "no");

    pthread_t thread;
    if (pthread_create(&thread, NULL, greet, resolver) != 0) {
        vow_resolver_release(resolver);
        vow_promise_release(promise);
        return 1;
    }

    /* Blocks until the other thread has resolved. The value belongs to us now. */
    vow_value value;
    int state = vow_await(promise, VOW_FOREVER, &value);
    if (state == VOW_FULFILLED) {
        printf("fulfilled: %s\n", vow_string_bytes(value, NULL));
    }

    vow_value_release(value);
    vow_promise_release(promise);
    pthread_join(thread, NULL);
    return state == VOW_FULFILLED ? 0 : 1;
}
