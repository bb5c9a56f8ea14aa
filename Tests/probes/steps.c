/* Takes each step that has a probe, once at least, in an order that the test knows. */
#include <stdio.h>
#include <vow.h>

#ifdef OWN_PROBE
#include <sys/sdt.h>
#endif

static vow_value add_one(vow_value input, void *context) {
    (void)context;
    return vow_int(input.as.integer + 1);
}

int main(void) {
#ifdef OWN_PROBE
    DTRACE_PROBE(app, start);
#endif
    vow_reaction inline_reaction = {
        .size = sizeof inline_reaction, .on_fulfilled = add_one, .executor = vow_executor_inline()};
    vow_resolver *resolver, *other;
    vow_promise *first = vow_promise_create(&resolver);
    vow_promise *next = vow_then_with(vow_promise_retain(first), &inline_reaction);
    printf("first %p next %p\n", (void *)first, (void *)next);
    fflush(stdout);
    (void)vow_resolve(resolver, vow_int(41)); /* settles, runs */

    vow_promise *unwanted = vow_promise_create(&other);
    printf("unwanted %p\n", (void *)unwanted);
    fflush(stdout);
    (void)vow_cancel(unwanted);

    vow_promise *failed = vow_promise_with(vow_error("kettle", 17, NULL));
    printf("failed %p\n", (void *)failed);
    fflush(stdout);
    (void)vow_await(failed, VOW_FOREVER, NULL);
    vow_promise_release(failed);
    vow_promise_release(unwanted);
    vow_resolver_release(other);
    vow_promise_release(next);
    vow_promise_release(first);
    vow_resolver_release(resolver);
    return 0;
}
