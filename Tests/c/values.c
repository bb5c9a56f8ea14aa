/* Tests chapter 1, values: what they carry, who owns them, what readers answer. */
#include "tools.h"

TEST("a value is 16 bytes") {
    CHECK_INT_EQ(sizeof(vow_value), 16);
}

TEST("scalars carry their content and allocate nothing") {
    vow_statistics before = harness_stats();
    int place = 0;
    CHECK_INT_EQ(vow_none().kind, VOW_NONE);
    CHECK(vow_bool(true).kind == VOW_BOOL && vow_bool(true).as.boolean);
    CHECK(!vow_bool(false).as.boolean);
    CHECK_INT_EQ(vow_int(INT64_MIN).as.integer, INT64_MIN);
    CHECK(vow_double(0.5).kind == VOW_DOUBLE && vow_double(0.5).as.real == 0.5);
    CHECK(vow_pointer(&place).as.pointer == &place);
    CHECK(vow_pointer(NULL).kind == VOW_POINTER);
    CHECK_INT_EQ(harness_stats().bytes, before.bytes);
}

TEST("a string is a copy with a NUL byte that is not counted") {
    char text[] = "hello, world";
    vow_value value = vow_string(text, 5);
    memset(text, 'x', sizeof text - 1);
    size_t length = 99;
    CHECK_INT_EQ(value.kind, VOW_STRING);
    CHECK_STR_EQ(vow_string_bytes(value, &length), "hello");
    CHECK_INT_EQ(length, 5);
    CHECK_STR_EQ(vow_string_bytes(value, NULL), "hello");
    vow_value_release(value);
}

TEST("a string may end at its first NUL byte or hold some") {
    size_t length = 0;
    vow_value value = vow_string("six-ty", VOW_NUL_TERMINATED);
    CHECK_STR_EQ(vow_string_bytes(value, &length), "six-ty");
    CHECK_INT_EQ(length, 6);
    vow_value_release(value);
    value = vow_string("a\0b", 3);
    const char *bytes = vow_string_bytes(value, &length);
    CHECK(length == 3 && bytes != NULL && memcmp(bytes, "a\0b", 4) == 0);
    vow_value_release(value);
}

TEST("an empty string is a string") {
    size_t length = 99;
    vow_value value = vow_string(NULL, 0);
    CHECK_INT_EQ(value.kind, VOW_STRING);
    CHECK_STR_EQ(vow_string_bytes(value, &length), "");
    CHECK_INT_EQ(length, 0);
    vow_value_release(value);
}

TEST("a string of a megabyte keeps every byte") {
    size_t size = 1 << 20;
    char *text = malloc(size);
    if (text == NULL) {
        abort();
    }
    for (size_t i = 0; i < size; i++) {
        text[i] = (char)(i * 7);
    }
    size_t length = 0;
    vow_value value = vow_string(text, size);
    const char *bytes = vow_string_bytes(value, &length);
    CHECK(length == size && bytes != NULL && memcmp(bytes, text, size) == 0);
    vow_value_release(value);
    free(text);
}

TEST("an object is destroyed once, at its last release") {
    counter object = {0};
    vow_value value = vow_object(&object, &counter_class);
    CHECK_INT_EQ(value.kind, VOW_OBJECT);
    vow_value again = vow_value_retain(value);
    CHECK(again.as.pointer == value.as.pointer && again.kind == value.kind);
    vow_value_release(value);
    CHECK_INT_EQ(atomic_load(&object.ends), 0);
    vow_value_release(again);
    CHECK_INT_EQ(atomic_load(&object.ends), 1);
}

TEST("an object is read by its class, or by any") {
    static const vow_class other = {sizeof(vow_class), "other", NULL, NULL};
    counter object = {0};
    vow_value value = vow_object(&object, &counter_class);
    CHECK(vow_object_pointer(value, &counter_class) == &object);
    CHECK(vow_object_pointer(value, NULL) == &object);
    CHECK(vow_object_pointer(value, &other) == NULL);
    vow_value_release(value);
    value = vow_object(NULL, &other);
    CHECK(value.kind == VOW_OBJECT && vow_object_pointer(value, &other) == NULL);
    vow_value_release(value);
}

TEST("a list owns its items and gives them in order") {
    counter object = {0};
    vow_value items[3] = {vow_int(1), vow_string("two", 3), vow_object(&object, &counter_class)};
    vow_value list = vow_list(items, 3);
    CHECK_INT_EQ(list.kind, VOW_LIST);
    CHECK_INT_EQ(vow_list_count(list), 3);
    CHECK_INT_EQ(vow_list_at(list, 0).as.integer, 1);
    CHECK_STR_EQ(vow_string_bytes(vow_list_at(list, 1), NULL), "two");
    CHECK_INT_EQ(vow_list_at(list, 3).kind, VOW_NONE);
    CHECK_INT_EQ(vow_list_at(list, SIZE_MAX).kind, VOW_NONE);
    vow_value_release(list);
    CHECK_INT_EQ(atomic_load(&object.ends), 1);
}

TEST("an empty list is a list") {
    vow_value list = vow_list(NULL, 0);
    CHECK_INT_EQ(list.kind, VOW_LIST);
    CHECK_INT_EQ(vow_list_count(list), 0);
    CHECK_INT_EQ(vow_list_at(list, 0).kind, VOW_NONE);
    vow_value_release(list);
}

TEST("an item that is retained outlives its list") {
    vow_value text = vow_string("kept", 4);
    vow_value list = vow_list(&text, 1);
    vow_value kept = vow_value_retain(vow_list_at(list, 0));
    vow_value_release(list);
    CHECK_STR_EQ(vow_string_bytes(kept, NULL), "kept");
    vow_value_release(kept);
}

TEST("a promise as a value is that promise again") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_value value = vow_from_promise(vow_promise_retain(promise));
    CHECK_INT_EQ(value.kind, VOW_PROMISE);
    vow_promise *same = vow_promise_with(value);
    CHECK(same == promise);
    vow_promise_release(same);
    CHECK(vow_resolve(resolver, vow_int(3)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(int_of(promise), 3);
}

TEST("readers answer nothing for other kinds") {
    size_t length = 99;
    vow_value list = vow_list(NULL, 0);
    CHECK(vow_string_bytes(list, &length) == NULL);
    CHECK_INT_EQ(length, 0);
    CHECK(vow_object_pointer(list, NULL) == NULL);
    CHECK(vow_error_domain(list) == NULL && vow_error_message(list) == NULL);
    CHECK_INT_EQ(vow_error_code(list), 0);
    CHECK_INT_EQ(vow_error_payload(list).kind, VOW_NONE);
    CHECK_INT_EQ(vow_list_count(vow_int(5)), 0);
    CHECK_INT_EQ(vow_list_at(vow_pointer(&length), 0).kind, VOW_NONE);
    vow_value_release(list);
}

TEST("a description follows the convention of snprintf") {
    char whole[128];
    char part[4] = "xyz";
    int length = vow_value_describe(vow_int(1234567), whole, sizeof whole);
    CHECK_STR_HAS(whole, "1234567");
    CHECK_INT_EQ(strlen(whole), length);
    CHECK_INT_EQ(vow_value_describe(vow_int(1234567), part, sizeof part), length);
    CHECK(strlen(part) == 3 && strncmp(part, whole, 3) == 0);
    CHECK_INT_EQ(vow_value_describe(vow_int(1234567), NULL, 0), length);
    part[0] = 'x';
    CHECK_INT_EQ(vow_value_describe(vow_int(1234567), part, 1), length);
    CHECK_INT_EQ(part[0], 0);
}

TEST("every kind has a description") {
    counter object = {0};
    vow_value inner[2] = {vow_int(1), vow_string("deep", 4)};
    vow_value values[10] = {vow_none(),
                            vow_bool(true),
                            vow_int(-3),
                            vow_double(2.5),
                            vow_pointer(&object),
                            vow_string("some text", 9),
                            vow_object(&object, &counter_class),
                            vow_list(inner, 2),
                            vow_error("test", 12, "went wrong"),
                            vow_from_promise(fulfilled_int(1))};
    static const char *const parts[10] = {"",          "true",    "-3",   "2.5",        "",
                                          "some text", "counter", "deep", "went wrong", ""};
    for (int i = 0; i < 10; i++) {
        char text[256] = "";
        CHECK(vow_value_describe(values[i], text, sizeof text) > 0);
        CHECK_STR_HAS(text, parts[i]);
        vow_value_release(values[i]);
    }
    CHECK_INT_EQ(atomic_load(&object.ends), 1);
}

static void *retain_often(void *context) {
    vow_value value = *(vow_value *)context;
    for (int i = 0; i < 20000; i++) {
        vow_value_release(vow_value_retain(value));
    }
    return NULL;
}

TEST("values may be retained and released from several threads at once") {
    counter object = {0};
    vow_value value = vow_object(&object, &counter_class);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        threads[i] = start_thread(retain_often, &value);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK_INT_EQ(atomic_load(&object.ends), 0);
    vow_value_release(value);
    CHECK_INT_EQ(atomic_load(&object.ends), 1);
}
