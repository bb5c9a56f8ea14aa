/* 04-order.c: many handlers on one promise run in the order in which they were registered. */
#include "common.h"

static vow_value say(vow_value input, void *context) {
    (void)input;
    printf("  %s\n", (const char *)context);
    return vow_none();
}

/* Registers one more handler on the promise whose handler it is. That one comes last: it does not
 * run inside this handler, and not before those which were there already. */
static vow_value say_and_register(vow_value input, void *context) {
    vow_promise *source = context;
    (void)input;
    printf("  first, which registers a fourth\n");
    /* Made without naming an executor, inside a handler: it runs where this handler runs. */
    vow_promise *fourth = vow_then(vow_promise_retain(source), say, "fourth");
    return vow_from_promise(fourth); /* so that who waits for "first" waits for "fourth" too */
}

/* A branch: `source` is borrowed, so each call gives vow_then_with a reference of its own. */
static vow_promise *branch(vow_promise *source, vow_handler fn, void *context, vow_executor *on) {
    vow_reaction reaction = {.size = sizeof reaction};
    reaction.on_fulfilled = fn;
    reaction.context = context;
    reaction.executor = on;
    return vow_then_with(vow_promise_retain(source), &reaction);
}

static void run(vow_executor *on) {
    vow_resolver *resolver;
    vow_promise *source = vow_promise_create(&resolver);

    vow_promise *first = branch(source, say_and_register, source, on);
    vow_promise *second = branch(source, say, "second", on);
    vow_promise *third = branch(source, say, "third", on);

    vow_resolve(resolver, vow_none());
    vow_resolver_release(resolver);
    vow_value_release(wait_for(first));

    /* Settled already, and a handler may still come: it runs at its executor's next turn. */
    vow_value_release(wait_for(branch(source, say, "fifth, after settling", on)));

    vow_promise_release(second);
    vow_promise_release(third);
    vow_promise_release(source);
}

int main(void) {
    printf("on the inline executor:\n");
    run(vow_executor_inline());

    printf("on a serial executor:\n");
    vow_executor *serial = vow_executor_serial("order");
    run(serial);
    vow_executor_release(serial);
    return 0;
}
