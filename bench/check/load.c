/* A program that only makes a promise, whose cost is mostly loading the library: built twice,
 * as load1 without and as load2 with it, so that what they have in common, a C program's own
 * beginning and end, cancels. */
#include <stdio.h>
#ifdef LOADS
#include <vow.h>
#endif

int main(void) {
#ifdef LOADS
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    int is_resolved = vow_resolve(resolver, vow_int(1));
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    return is_resolved ? puts("items 2") == EOF : 1;
#else
    return puts("items 1") == EOF;
#endif
}
