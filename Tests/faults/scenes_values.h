/* Scenes of values: strings, objects, lists of lists, errors with payload, promises in lists. */
#ifndef VOW_TEST_SCENES_VALUES_H
#define VOW_TEST_SCENES_VALUES_H

#include "cast.h"

static void scene_strings(cast *self) {
    char text[64];
    size_t length = 99;
    vow_value value = vow_string("some bytes", 4);
    (void)self;
    if (is_kind(value, VOW_STRING)) {
        CHECK_STR_EQ(vow_string_bytes(value, &length), "some");
        CHECK_INT_EQ(length, 4);
    }
    CHECK(vow_value_describe(value, text, sizeof text) > 0);
    vow_promise *promise = vow_promise_with(vow_value_retain(value));
    vow_value_release(value);
    settles(promise, 0);
}

static void scene_objects(cast *self) {
    vow_value value = cast_object(self);
    if (is_kind(value, VOW_OBJECT)) {
        CHECK(vow_object_pointer(value, &counter_class) == &self->objects[0]);
    }
    vow_value_release(vow_value_retain(value));
    vow_value_release(value);
}

/* A list of a string, an object and what is inside (consumed), `depth` deep. */
static vow_value nested(cast *self, int depth) {
    vow_value inside = vow_none();
    for (int i = 0; i < depth; i++) {
        vow_value items[3] = {vow_string("item", VOW_NUL_TERMINATED), cast_object(self), inside};
        inside = vow_list(items, 3);
    }
    return inside;
}

static void scene_lists(cast *self) {
    char text[256];
    vow_value list = nested(self, 6);
    if (is_kind(list, VOW_LIST)) {
        CHECK_INT_EQ(vow_list_count(list), 3);
        is_kind(vow_list_at(list, 0), VOW_STRING);
        is_kind(vow_list_at(list, 1), VOW_OBJECT);
        is_kind(vow_list_at(list, 2), VOW_LIST);
        CHECK_INT_EQ(vow_list_at(list, 3).kind, VOW_NONE);
    }
    CHECK(vow_value_describe(list, text, sizeof text) > 0);
    settles(cast_inline(self, vow_promise_with(list), pass_on, pass_on), 0);
}

static void scene_errors(cast *self) {
    vow_value error = vow_error("test", 1, NULL);
    for (int code = 2; code < 7; code++) {
        vow_value items[2] = {error, cast_object(self)};
        error = vow_error_wrap("test", code, "one more", vow_list(items, 2));
    }
    CHECK_INT_EQ(error.kind, VOW_ERROR);
    if (is_code(vow_error_code(error), 6) && vow_error_code(error) == 6) {
        CHECK_STR_EQ(vow_error_domain(error), "test");
        CHECK_STR_EQ(vow_error_message(error), "one more");
        is_kind(vow_error_payload(error), VOW_LIST);
    }
    CHECK_STR_EQ(vow_error_name(VOW_ENOMEM), "VOW_ENOMEM");
    vow_value plain = vow_error_plain(error);
    is_code(vow_error_code(plain), 6);
    vow_value_release(plain);
    settles(vow_promise_with(error), 6);
}

/* NULL where it is wrong; a variable, as compilers refuse the plain word. */
static const char *no_text;
static vow_promise *no_promise;
static vow_resolver **no_resolver;
static const vow_reaction *no_reaction;

static void scene_wrong_arguments(cast *self) {
    vow_value item = cast_object(self);
    vow_value values[4] = {vow_string(no_text, 1), vow_error(no_text, 1, NULL), vow_list(NULL, 1),
                           vow_error_wrap(no_text, 1, "no domain", item)};
    for (int i = 0; i < 4; i++) {
        CHECK_INT_EQ(values[i].kind, VOW_ERROR);
        is_code(vow_error_code(values[i]), VOW_EINVAL);
        vow_value_release(values[i]);
    }
    settles(cast_inline(self, no_promise, pass_on, NULL), VOW_EINVAL);
    settles(vow_then_with(fulfilled_int(1), no_reaction), VOW_EINVAL);
    settles(vow_promise_create(no_resolver), VOW_EINVAL);
    CHECK_INT_EQ(vow_set_allocator(NULL), VOW_EINVAL);
    CHECK_INT_EQ(vow_version(), VOW_VERSION);
}

static void scene_promises_in_lists(cast *self) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_value items[2] = {vow_from_promise(promise), cast_object(self)};
    vow_promise *list = vow_promise_with(vow_list(items, 2));
    list = cast_inline(self, list, pass_on, NULL);
    resolve_last(resolver, cast_object(self));
    settles(list, 0);
}

static void scene_readers(cast *self) {
    vow_value values[5] = {vow_string("text", 4), cast_object(self), vow_list(NULL, 0),
                           vow_error("test", 5, NULL),
                           vow_from_promise(vow_promise_with(vow_int(1)))};
    size_t length = 99;
    int64_t number = 99;
    vow_promise *promise = NULL;
    for (int i = 0; i < 5; i++) {
        CHECK_INT_EQ(vow_as_string(values[i], NULL, &length), values[i].kind == VOW_STRING);
        CHECK_INT_EQ(vow_as_object(values[i], NULL, NULL), values[i].kind == VOW_OBJECT);
        CHECK_INT_EQ(vow_as_list(values[i], &length), values[i].kind == VOW_LIST);
        CHECK_INT_EQ(vow_as_error(values[i], NULL, &number), values[i].kind == VOW_ERROR);
        CHECK_INT_EQ(vow_as_promise(values[i], &promise), values[i].kind == VOW_PROMISE);
        CHECK(!vow_as_bool(values[i], NULL) && !vow_as_int(values[i], NULL));
        CHECK(!vow_as_double(values[i], NULL) && !vow_as_pointer(values[i], NULL));
    }
    if (promise != NULL) {
        vow_promise_release(vow_promise_retain(promise));
    }
    for (int i = 0; i < 5; i++) {
        vow_value_release(values[i]);
    }
}

#define SCENES_VALUES                                                                              \
    {"strings", scene_strings}, {"objects", scene_objects}, {"lists of lists", scene_lists},       \
        {"errors with payload", scene_errors}, {"wrong arguments", scene_wrong_arguments},         \
        {"readers", scene_readers}, {                                                              \
        "promises in lists", scene_promises_in_lists                                               \
    }

#endif
