/* Tests chapter 2, errors: codes, names, and how they travel. */
#include "tools.h"

TEST("every code has its name and every other number is unknown") {
    static const char *const names[] = {"VOW_EINVAL",    "VOW_ENOMEM",    "VOW_EFORKED",
                                        "VOW_EBROKEN",   "VOW_ECYCLE",    "VOW_ECANCELLED",
                                        "VOW_ETIMEDOUT", "VOW_EDEADLOCK", "VOW_EAGGREGATE",
                                        "VOW_ESHUTDOWN", "VOW_EREASON"};
    for (int i = 0; i < 11; i++) {
        CHECK_STR_EQ(vow_error_name(-1 - i), names[i]);
    }
    CHECK_INT_EQ(VOW_EREASON, -11);
    CHECK_STR_EQ(vow_error_name(0), "unknown");
    CHECK_STR_EQ(vow_error_name(1), "unknown");
    CHECK_STR_EQ(vow_error_name(-12), "unknown");
    CHECK_STR_EQ(vow_error_name(INT64_MIN), "unknown");
}

TEST("an error keeps copies of its domain and message") {
    char domain[] = "disk";
    char message[] = "no space left";
    vow_value error = vow_error(domain, -28, message);
    memset(domain, 'x', 4);
    memset(message, 'x', 4);
    CHECK_INT_EQ(error.kind, VOW_ERROR);
    CHECK_STR_EQ(vow_error_domain(error), "disk");
    CHECK_STR_EQ(vow_error_message(error), "no space left");
    CHECK_INT_EQ(vow_error_code(error), -28);
    CHECK_INT_EQ(vow_error_payload(error).kind, VOW_NONE);
    vow_value_release(error);
}

TEST("an error without a message has an empty or a made one, never NULL") {
    vow_value error = vow_error("test", INT64_MAX, NULL);
    CHECK(vow_error_message(error) != NULL);
    CHECK_INT_EQ(vow_error_code(error), INT64_MAX);
    vow_value_release(error);
}

TEST("an error owns its payload, of any kind") {
    counter object = {0};
    vow_value cause = vow_error_wrap("low", 1, "cause", vow_object(&object, &counter_class));
    vow_value error = vow_error_wrap("high", 2, "effect", cause);
    CHECK_STR_EQ(vow_error_domain(vow_error_payload(error)), "low");
    CHECK(vow_object_pointer(vow_error_payload(vow_error_payload(error)), &counter_class) ==
          &object);
    vow_value_release(error);
    CHECK_INT_EQ(atomic_load(&object.ends), 1);
}

TEST("rejecting with a value that is no error makes it the payload of VOW_EREASON") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(vow_reject(resolver, vow_string("because", 7)));
    vow_resolver_release(resolver);
    vow_value error;
    CHECK_INT_EQ(vow_promise_state(promise), VOW_REJECTED);
    CHECK(vow_promise_peek(promise, &error));
    CHECK_INT_EQ(error.kind, VOW_ERROR);
    CHECK_INT_EQ(vow_error_code(error), VOW_EREASON);
    CHECK_STR_EQ(vow_error_domain(error), "vow");
    CHECK_STR_EQ(vow_string_bytes(vow_error_payload(error), NULL), "because");
    vow_promise_release(promise);
}

TEST("rejecting with a promise does not adopt it") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(vow_reject(resolver, vow_from_promise(fulfilled_int(1))));
    vow_resolver_release(resolver);
    vow_value error;
    CHECK(vow_promise_peek(promise, &error));
    CHECK_INT_EQ(vow_error_code(error), VOW_EREASON);
    CHECK_INT_EQ(vow_error_payload(error).kind, VOW_PROMISE);
    vow_promise_release(promise);
}

TEST("resolving with an error rejects, and a list of errors does not") {
    vow_value error = vow_error("test", 5, "five");
    vow_promise *promise = vow_promise_with(vow_value_retain(error));
    CHECK_INT_EQ(code_of(promise), 5);
    promise = vow_promise_with(vow_list(&error, 1));
    CHECK_INT_EQ(vow_promise_state(promise), VOW_FULFILLED);
    vow_promise_release(promise);
}

TEST("an error reaches the end of a chain as it was") {
    counter passed = {0};
    vow_promise *promise =
        vow_promise_with(vow_error_wrap("net", 110, "timed out", vow_string("host", 4)));
    for (int i = 0; i < 5; i++) {
        promise = then_inline(promise, counter_run, &passed);
    }
    vow_value error;
    CHECK(vow_promise_peek(promise, &error));
    CHECK_STR_EQ(vow_error_domain(error), "net");
    CHECK_INT_EQ(vow_error_code(error), 110);
    CHECK_STR_EQ(vow_error_message(error), "timed out");
    CHECK_STR_EQ(vow_string_bytes(vow_error_payload(error), NULL), "host");
    CHECK_INT_EQ(atomic_load(&passed.runs), 0);
    vow_promise_release(promise);
}

TEST("errors of the library are in its domain and say what has happened") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_resolver_release(resolver);
    vow_value error;
    CHECK(vow_promise_peek(promise, &error));
    CHECK_STR_EQ(vow_error_domain(error), "vow");
    CHECK_INT_EQ(vow_error_code(error), VOW_EBROKEN);
    CHECK_STR_EQ(vow_error_message(error),
                 "the last resolver was released without resolving the promise");
    vow_promise_release(promise);
}

TEST("a plain error has the same words and causes, and no object or promise") {
    counter object = {0};
    vow_resolver *resolver;
    vow_value items[4] = {vow_int(7), vow_object(&object, &counter_class),
                          vow_from_promise(vow_promise_create(&resolver)),
                          vow_string("text", VOW_NUL_TERMINATED)};
    vow_value error =
        vow_error_wrap("high", 2, "effect", vow_error_wrap("low", 1, "cause", vow_list(items, 4)));
    vow_value plain = vow_error_plain(error);
    vow_value_release(error);
    vow_resolver_release(resolver);
    CHECK_INT_EQ(atomic_load(&object.ends), 1);
    CHECK_STR_EQ(vow_error_domain(plain), "high");
    CHECK_STR_EQ(vow_error_message(plain), "effect");
    CHECK_INT_EQ(vow_error_code(plain), 2);
    vow_value cause = vow_error_payload(plain);
    CHECK_STR_EQ(vow_error_message(cause), "cause");
    CHECK_INT_EQ(vow_error_code(cause), 1);
    char text[64];
    vow_value_describe(vow_error_payload(cause), text, sizeof text);
    CHECK_STR_EQ(text, "[7, none, none, \"text\"]");
    vow_value_release(plain);
}

TEST("it says the member and the attempts of the error") {
    vow_promise *members[2] = {vow_promise_with(vow_int(1)),
                               vow_promise_with(vow_error("test", 5, "five"))};
    vow_promise *all = vow_all(members, 2);
    vow_value error;
    CHECK(vow_promise_peek(all, &error));
    vow_value plain = vow_error_plain(error);
    CHECK_INT_EQ(vow_error_index(plain), 1);
    vow_value_release(plain);
    vow_promise_release(all);

    vow_promise *retried = vow_retry(NULL, fail_with_7, NULL);
    CHECK_INT_EQ(vow_await(retried, VOW_FOREVER, &error), VOW_REJECTED);
    plain = vow_error_plain(error);
    CHECK_INT_EQ(vow_error_attempts(plain), 3);
    vow_value_release(plain);
    vow_value_release(error);
    vow_promise_release(retried);
}

TEST("causes without end, and lists that share lists, are cut") {
    vow_value error = vow_error("test", 0, NULL);
    for (int code = 1; code <= 100000; code++) {
        error = vow_error_wrap("test", code, NULL, error);
    }
    vow_value list = vow_list(NULL, 0);
    for (int i = 0; i < 60; i++) {
        vow_value twice[2] = {vow_value_retain(list), list};
        list = vow_list(twice, 2);
    }
    vow_value plain = vow_error_plain(error);
    vow_value deepest = plain;
    while (vow_error_payload(deepest).kind == VOW_ERROR) {
        deepest = vow_error_payload(deepest);
    }
    CHECK_INT_EQ(vow_error_code(deepest), 100000 - 64);
    CHECK_INT_EQ(vow_error_payload(deepest).kind, VOW_NONE);
    vow_value_release(plain);
    vow_value_release(error);
    error = vow_error_wrap("test", 1, NULL, list);
    plain = vow_error_plain(error);
    CHECK_INT_EQ(vow_list_count(vow_error_payload(plain)), 2);
    vow_value_release(plain);
    vow_value_release(error);
}

TEST("of what is no error there is no plain error") {
    vow_value list = vow_list(NULL, 0);
    vow_value const wrong[] = {vow_none(), vow_pointer(NULL), vow_int(1), list};
    for (int i = 0; i < 4; i++) {
        vow_value plain = vow_error_plain(wrong[i]);
        CHECK_INT_EQ(vow_error_code(plain), VOW_EINVAL);
        CHECK_STR_EQ(vow_error_message(plain), "vow_error_plain: the value is no error");
        vow_value_release(plain);
    }
    vow_value_release(list);
}
