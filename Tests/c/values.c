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

/* One value of each kind (owned), in the order of their numbers. */
static void one_of_each(vow_value values[10], counter *object) {
    vow_value item = vow_int(3);
    values[VOW_NONE] = vow_none();
    values[VOW_BOOL] = vow_bool(true);
    values[VOW_INT] = vow_int(-42);
    values[VOW_DOUBLE] = vow_double(2.5);
    values[VOW_POINTER] = vow_pointer(object);
    values[VOW_STRING] = vow_string("a\0b", 3);
    values[VOW_OBJECT] = vow_object(object, &counter_class);
    values[VOW_LIST] = vow_list(&item, 1);
    values[VOW_ERROR] = vow_error("test", -7, "message");
    values[VOW_PROMISE] = vow_from_promise(fulfilled_int(1));
}

static const vow_class other_class = {sizeof(vow_class), "other", NULL, NULL};

/* Which kinds a reader says yes to without an output: bit by bit. */
static unsigned readers_of(vow_value value) {
    return (unsigned)vow_as_bool(value, NULL) << VOW_BOOL |
           (unsigned)vow_as_int(value, NULL) << VOW_INT |
           (unsigned)vow_as_double(value, NULL) << VOW_DOUBLE |
           (unsigned)vow_as_pointer(value, NULL) << VOW_POINTER |
           (unsigned)vow_as_string(value, NULL, NULL) << VOW_STRING |
           (unsigned)vow_as_object(value, NULL, NULL) << VOW_OBJECT |
           (unsigned)vow_as_list(value, NULL) << VOW_LIST |
           (unsigned)vow_as_error(value, NULL, NULL) << VOW_ERROR |
           (unsigned)vow_as_promise(value, NULL) << VOW_PROMISE;
}

TEST("a checked reader says yes to its own kind and to no other, and needs no output") {
    counter object = {0};
    vow_value values[10];
    one_of_each(values, &object);
    for (unsigned kind = 0; kind < 10; kind++) {
        CHECK_INT_EQ(readers_of(values[kind]), kind == VOW_NONE ? 0u : 1u << kind);
        vow_value_release(values[kind]);
    }
    vow_value unknown = vow_none();
    unknown.kind = 77;
    CHECK_INT_EQ(readers_of(unknown), 0);
}

TEST("a checked reader gives the content of its own kind") {
    counter object = {0};
    vow_value values[10];
    one_of_each(values, &object);
    bool boolean = false;
    CHECK(vow_as_bool(values[VOW_BOOL], &boolean) && boolean);
    int64_t integer = 0;
    CHECK(vow_as_int(values[VOW_INT], &integer) && integer == -42);
    double real = 0;
    CHECK(vow_as_double(values[VOW_DOUBLE], &real) && real == 2.5);
    void *pointer = NULL;
    CHECK(vow_as_pointer(values[VOW_POINTER], &pointer) && pointer == &object);
    const char *bytes = NULL;
    size_t length = 0;
    CHECK(vow_as_string(values[VOW_STRING], &bytes, &length) && length == 3);
    CHECK(bytes != NULL && memcmp(bytes, "a\0b", 4) == 0);
    CHECK(vow_as_string(values[VOW_STRING], NULL, &length) && length == 3);
    pointer = NULL;
    CHECK(vow_as_object(values[VOW_OBJECT], &counter_class, &pointer) && pointer == &object);
    size_t count = 0;
    CHECK(vow_as_list(values[VOW_LIST], &count) && count == 1);
    const char *domain = NULL;
    int64_t code = 0;
    CHECK(vow_as_error(values[VOW_ERROR], &domain, &code) && code == -7);
    CHECK_STR_EQ(domain, "test");
    vow_promise *promise = NULL;
    CHECK(vow_as_promise(values[VOW_PROMISE], &promise));
    CHECK_INT_EQ(int_of(vow_promise_retain(promise)), 1);
    for (unsigned kind = 0; kind < 10; kind++) {
        vow_value_release(values[kind]);
    }
}

TEST("a checked reader that says no leaves its output alone") {
    counter object = {0};
    vow_value values[10];
    one_of_each(values, &object);
    for (unsigned kind = 0; kind < 10; kind++) {
        vow_value value = values[kind];
        bool boolean = true;
        int64_t integer = 11, code = 12;
        double real = 0.25;
        size_t length = 13, count = 14;
        void *pointer = values, *other = values;
        const char *bytes = "bytes", *domain = "domain";
        vow_promise *promise = (vow_promise *)values;
        CHECK(kind == VOW_BOOL || (!vow_as_bool(value, &boolean) && boolean));
        CHECK(kind == VOW_INT || (!vow_as_int(value, &integer) && integer == 11));
        CHECK(kind == VOW_DOUBLE || (!vow_as_double(value, &real) && real == 0.25));
        CHECK(kind == VOW_POINTER || (!vow_as_pointer(value, &pointer) && pointer == values));
        CHECK(!vow_as_object(value, &other_class, &other) && other == values);
        CHECK(kind == VOW_STRING || !vow_as_string(value, &bytes, &length));
        CHECK(kind == VOW_LIST || (!vow_as_list(value, &count) && count == 14));
        CHECK(kind == VOW_ERROR || (!vow_as_error(value, &domain, &code) && code == 12));
        CHECK(kind == VOW_PROMISE || (!vow_as_promise(value, &promise)));
        if (kind != VOW_STRING) {
            CHECK_STR_EQ(bytes, "bytes");
            CHECK_INT_EQ(length, 13);
        }
        if (kind != VOW_ERROR) {
            CHECK_STR_EQ(domain, "domain");
        }
        if (kind != VOW_PROMISE) {
            CHECK(promise == (vow_promise *)values);
        }
        vow_value_release(value);
    }
}

TEST("the units of time are nanoseconds, 64 bits wide") {
    CHECK_INT_EQ(VOW_US, 1000 * VOW_NS);
    CHECK_INT_EQ(VOW_MS, 1000 * VOW_US);
    CHECK_INT_EQ(VOW_SECOND, 1000 * VOW_MS);
    CHECK_INT_EQ(sizeof(VOW_NS) + sizeof(VOW_US) + sizeof(VOW_MS) + sizeof(VOW_SECOND), 32);
    CHECK_INT_EQ(365 * 24 * 3600 * VOW_SECOND, INT64_C(31536000000000000));
}
