/* Tests the checked build: a value that was released once too often, or is read after its end. */
#include "aborts.h"

static void release_string_twice(void) {
    vow_value value = vow_string("text", 4);
    vow_value_release(value);
    vow_value_release(value);
}

static void release_list_twice(void) {
    vow_value item = vow_string("item", 4);
    vow_value value = vow_list(&item, 1);
    vow_value_release(value);
    vow_value_release(value);
}

static void release_error_twice(void) {
    vow_value value = vow_error("test", 1, "one");
    vow_value_release(value);
    vow_value_release(value);
}

static counter object;

static void release_object_twice(void) {
    vow_value value = vow_object(&object, &counter_class);
    vow_value_release(value);
    vow_value_release(value);
}

TEST("a value that is released twice is caught, whatever its kind") {
    check_aborts(release_string_twice, "vow_value_release");
    check_aborts(release_list_twice, "vow_value_release");
    check_aborts(release_error_twice, "vow_value_release");
    check_aborts(release_object_twice, "vow_value_release");
}

static void retain_released(void) {
    vow_value value = vow_string("text", 4);
    vow_value_release(value);
    vow_value_retain(value);
}

static void resolve_with_released(void) {
    vow_value value = vow_string("text", 4);
    vow_value_release(value);
    vow_detach(vow_promise_with(value));
}

static void list_of_released(void) {
    vow_value value = vow_string("text", 4);
    vow_value_release(value);
    vow_value_release(vow_list(&value, 1));
}

static void read_released(void) {
    vow_value value = vow_string("text", 4);
    vow_value_release(value);
    vow_string_bytes(value, NULL);
}

TEST("a released value is caught where it is used again") {
    check_aborts(retain_released, "vow_value_retain");
    check_aborts(resolve_with_released, "vow_promise_with");
    check_aborts(list_of_released, "vow_list");
    check_aborts(read_released, "vow_string_bytes");
}

/* The fault that is made most easily: a handler that gives away what it only borrowed. */
static vow_value return_borrowed(vow_value input, void *context) {
    (void)context;
    return input;
}

static void settle_and_free(vow_promise *promise) {
    vow_resolver *resolver;
    vow_promise *start = promise != NULL ? promise : vow_promise_create(&resolver);
    vow_promise *kept = vow_promise_retain(start);
    vow_promise *end = then_inline(start, return_borrowed, NULL);
    if (promise == NULL) {
        vow_resolve(resolver, vow_string("borrowed", 8));
        vow_resolver_release(resolver);
    }
    vow_promise_release(end);
    vow_promise_release(kept);
}

static void return_input_of_settled(void) {
    settle_and_free(vow_promise_with(vow_string("borrowed", 8)));
}

static void return_input_of_pending(void) {
    settle_and_free(NULL);
}

TEST("a handler that returns its input without retaining it is caught") {
    check_aborts(return_input_of_settled, "vow_");
    check_aborts(return_input_of_pending, "vow_");
}
