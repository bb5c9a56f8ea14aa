/* Compares a value of the library with the model's, through the functions that read values. */
#include "texts.h"
#include "world.h"

#include <string.h>

static void compare_string(vow_value real, const model_value *model) {
    size_t length = 77;
    const char *bytes = vow_string_bytes(real, &length);
    if (model->kind != VOW_STRING) {
        EXPECT(bytes == NULL && length == 0, "bytes of what is no string");
        return;
    }
    EXPECT(length == texts[model->number].length, "a string of %zu bytes", length);
    EXPECT(memcmp(bytes, texts[model->number].bytes, length + 1) == 0, "other bytes in a string");
}

static void compare_object(vow_value real, const model_value *model) {
    void *pointer = vow_object_pointer(real, NULL);
    if (model->kind != VOW_OBJECT) {
        EXPECT(pointer == NULL, "the pointer of what is no object");
        return;
    }
    object *self = &w.objects[model->number];
    const vow_class *own = model->thenable ? &thenable_class : &plain_class;
    const vow_class *other = model->thenable ? &plain_class : &thenable_class;
    EXPECT(pointer == self, "another object");
    EXPECT(vow_object_pointer(real, own) == self, "an object that denies its class");
    EXPECT(vow_object_pointer(real, other) == NULL, "an object of two classes");
    EXPECT(self->destroyed == 0, "an object that is destroyed");
}

static void compare_list(vow_value real, const model_value *model) {
    size_t count = model->kind == VOW_LIST ? (size_t)model->count : 0;
    EXPECT(vow_list_count(real) == count, "a list of %zu items", vow_list_count(real));
    for (size_t i = 0; i < count; i++) {
        compare(vow_list_at(real, i), model->items[i]);
    }
    EXPECT(vow_list_at(real, count).kind == VOW_NONE, "something behind the end of a list");
}

static void compare_error(vow_value real, const model_value *model) {
    const char *message = vow_error_message(real);
    int place = model->kind == VOW_ERROR ? model->index : -1;
    EXPECT(vow_error_index(real) == place, "the place %d instead of %d, in error %d",
           (int)vow_error_index(real), place, (int)vow_error_code(real));
    if (model->kind != VOW_ERROR) {
        EXPECT(vow_error_domain(real) == NULL && message == NULL, "words of what is no error");
        EXPECT(vow_error_code(real) == 0, "the code of what is no error");
        return;
    }
    EXPECT(vow_error_code(real) == model->number, "error %lld instead of %lld",
           (long long)vow_error_code(real), (long long)model->number);
    EXPECT(strcmp(vow_error_domain(real), domains[model->domain]) == 0, "another domain");
    EXPECT(message != NULL, "an error without a message");
    if (model->message != TEXT_ANY) {
        const char *expected = model->message == TEXT_NULL ? "" : messages[model->message];
        EXPECT(strcmp(message, expected) == 0, "the message '%s'", message);
    }
    vow_value payload = vow_error_payload(real);
    if (model->payload >= 0) {
        compare(payload, model->payload);
    } else {
        EXPECT(payload.kind == VOW_NONE, "a payload that nobody gave");
    }
}

static void compare_promise(vow_value real, const model_value *model) {
    vow_promise *promise = vow_promise_with(vow_value_retain(real));
    EXPECT(promise == w.real[model->number], "another promise as a value");
    vow_promise_release(promise);
}

void compare(vow_value real, int number) {
    const model_value *model = &m.values[number];
    EXPECT(real.kind == model->kind, "kind %u instead of %u", real.kind, model->kind);
    EXPECT(real.reserved == 0, "reserved is not 0");
    compare_string(real, model);
    compare_object(real, model);
    compare_list(real, model);
    compare_error(real, model);
    switch (model->kind) {
    case VOW_BOOL:
        EXPECT(real.as.boolean == (model->number != 0), "another truth");
        break;
    case VOW_INT:
        EXPECT(real.as.integer == model->number, "%lld instead of %lld", (long long)real.as.integer,
               (long long)model->number);
        break;
    case VOW_DOUBLE:
        EXPECT(real.as.real == (double)model->number, "another real");
        break;
    case VOW_POINTER:
        EXPECT(real.as.pointer == &w.contexts[model->number], "another pointer");
        break;
    case VOW_PROMISE:
        compare_promise(real, model);
        break;
    }
}

void check_describe(vow_value real) {
    char text[40];
    memset(text, 'x', sizeof text);
    size_t size = 1 + next_below(sizeof text - 1);
    int length = vow_value_describe(real, NULL, 0);
    EXPECT(length >= 0, "no description: %d", length);
    EXPECT(vow_value_describe(real, text, size) == length, "two lengths of one description");
    size_t expected = (size_t)length < size ? (size_t)length : size - 1;
    /* A string's own NUL bytes are part of the text. */
    EXPECT(text[expected] == '\0', "a description of %d bytes in %zu does not end", length, size);
    for (size_t i = size; i < sizeof text; i++) {
        EXPECT(text[i] == 'x', "a description beyond its buffer");
    }
}
