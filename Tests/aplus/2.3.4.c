/* Promises/A+ 2.3.4: what is neither promise, error nor object fulfils, as it is. */
#include "aplus.h"

static vow_value give_value(vow_value input, void *context) {
    (void)input;
    return vow_value_retain(*(vow_value *)context);
}

static bool subscribe_value(void *pointer, vow_resolver *resolver) {
    CHECK(vow_resolve(resolver, vow_value_retain(*(vow_value *)pointer)));
    vow_resolver_release(resolver);
    return true;
}

static const vow_class value_giver = {sizeof(vow_class), "giver", NULL, subscribe_value};

/* A value (consumed) in each place where a promise is resolved by its kind. */
static void fulfils_everywhere(vow_value value) {
    vow_executor *executors[2] = {vow_executor_inline(), vow_executor_pool()};
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(vow_resolve(resolver, vow_value_retain(value)));
    vow_resolver_release(resolver);
    ENDS_AS(promise, VOW_FULFILLED, value);
    ENDS_AS(vow_promise_with(vow_value_retain(value)), VOW_FULFILLED, value);
    ENDS_AS(vow_promise_with(vow_object(&value, &value_giver)), VOW_FULFILLED, value);
    for (int i = 0; i < 2; i++) {
        ENDS_AS(vow_async(executors[i], give_value, &value), VOW_FULFILLED, value);
        promise = link_full(executors[i], rejected_code(1), NULL, give_value, &value, NULL);
        ENDS_AS(promise, VOW_FULFILLED, value);
    }
    vow_value_release(value);
}

TEST("2.3.4: a value without content fulfils") {
    fulfils_everywhere(vow_none());
}

TEST("2.3.4: truth values and numbers fulfil, also those that are 0") {
    fulfils_everywhere(vow_bool(false));
    fulfils_everywhere(vow_bool(true));
    fulfils_everywhere(vow_int(0));
    fulfils_everywhere(vow_int(INT64_MIN));
    fulfils_everywhere(vow_double(0.0));
    fulfils_everywhere(vow_double(-1.5));
}

TEST("2.3.4: plain pointers fulfil, also to things that the library could follow") {
    vow_promise *promise = fulfilled_int(1);
    fulfils_everywhere(vow_pointer(NULL));
    fulfils_everywhere(vow_pointer(promise));
    fulfils_everywhere(vow_pointer((void *)&value_giver));
    vow_promise_release(promise);
}

TEST("2.3.4: strings fulfil") {
    fulfils_everywhere(vow_string(NULL, 0));
    fulfils_everywhere(vow_string("text", 4));
}

TEST("2.3.4: lists fulfil, whatever is inside: promises, errors, thenables are left alone") {
    vow_value number = vow_int(1);
    vow_resolver *resolver;
    vow_value items[3] = {
        vow_from_promise(vow_promise_create(&resolver)),
        vow_error("test", 1, "inside"),
        vow_object(&number, &value_giver),
    };
    fulfils_everywhere(vow_list(NULL, 0));
    fulfils_everywhere(vow_list(items, 3));
    vow_resolver_release(resolver);
}

/* A fulfilled promise passes it on to handlers, on each executor and however it settles. */
static void passes_plain_values(trial *self) {
    static const vow_kind kinds[] = {VOW_NONE, VOW_BOOL, VOW_INT, VOW_DOUBLE, VOW_POINTER};
    trial_settle(self);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        vow_value value = vow_none();
        value.kind = kinds[i];
        vow_promise *link =
            either_on(self->executor, vow_promise_retain(self->promise), give_value, &value);
        ENDS_AS(link, VOW_FULFILLED, value);
    }
}

TEST("2.3.4: what a handler returns fulfils, also the handler for an error") {
    for_each(passes_plain_values, FULFILS | REJECTS, EVERY_WAY);
}
