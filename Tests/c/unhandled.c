/* Tests chapter 12 (G10): a rejection that nobody observed is reported, once. */
#include "tools.h"

typedef struct reports {
    atomic_int count;
    int64_t code;
    pthread_t thread;
} reports;

static void note(vow_value error, void *context) {
    reports *self = context;
    self->code = vow_error_code(error);
    self->thread = pthread_self();
    atomic_fetch_add(&self->count, 1);
}

/* Watches what is reported while one test runs. */
static reports *watch(reports *seen) {
    memset(seen, 0, sizeof *seen);
    vow_on_unhandled(note, seen);
    return seen;
}

/* Ends watching; how often something was reported. */
static int watched(reports *seen) {
    vow_on_unhandled(NULL, NULL);
    return atomic_load(&seen->count);
}

TEST("G10: a rejection that dies unobserved is reported once, by who released it last") {
    reports seen;
    watch(&seen);
    vow_promise *promise = rejected_code(8);
    vow_promise_release(vow_promise_retain(promise));
    CHECK_INT_EQ(atomic_load(&seen.count), 0);
    CHECK_INT_EQ(vow_promise_state(promise), VOW_REJECTED);
    vow_promise_release(promise);
    CHECK_INT_EQ(watched(&seen), 1);
    CHECK_INT_EQ(seen.code, 8);
    CHECK(pthread_equal(seen.thread, pthread_self()));
}

TEST("G10: a fulfilled or pending promise is never reported") {
    reports seen;
    watch(&seen);
    vow_resolver *resolver;
    vow_promise_release(fulfilled_int(1));
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK(vow_resolve(resolver, vow_int(1)));
    vow_resolver_release(resolver);
    vow_promise_release(promise);
    CHECK_INT_EQ(watched(&seen), 0);
}

TEST("G10: an awaited rejection is not reported") {
    reports seen;
    watch(&seen);
    vow_promise *promise = rejected_code(8);
    CHECK_INT_EQ(vow_await(promise, VOW_FOREVER, NULL), VOW_REJECTED);
    vow_promise_release(promise);
    promise = rejected_code(8);
    CHECK_INT_EQ(vow_await(promise, 0, NULL), VOW_REJECTED);
    vow_promise_release(promise);
    CHECK_INT_EQ(watched(&seen), 0);
}

TEST("G10: a rejection whose error was looked at is not reported") {
    reports seen;
    watch(&seen);
    vow_promise *promise = rejected_code(8);
    vow_value error;
    CHECK(vow_promise_peek(promise, &error));
    vow_promise_release(promise);
    CHECK_INT_EQ(watched(&seen), 0);
}

TEST("G10: a reaction moves the duty to its own promise, and a catch ends it") {
    reports seen;
    counter ran = {0};
    watch(&seen);
    vow_promise_release(catch_inline(rejected_code(8), give_code, NULL));
    CHECK_INT_EQ(atomic_load(&seen.count), 0);
    vow_promise_release(then_inline(rejected_code(9), counter_run, &ran));
    CHECK_INT_EQ(atomic_load(&seen.count), 1);
    CHECK_INT_EQ(seen.code, 9);
    vow_promise_release(catch_inline(rejected_code(8), fail_with_7, NULL));
    CHECK_INT_EQ(watched(&seen), 2);
    CHECK_INT_EQ(seen.code, 7);
}

TEST("G10: of a chain of five without a catch, one rejection is reported") {
    reports seen;
    counter ran = {0};
    watch(&seen);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    for (int i = 0; i < 5; i++) {
        promise = then_inline(promise, counter_run, &ran);
    }
    vow_promise_release(promise);
    CHECK(vow_reject(resolver, vow_error("test", 11, NULL)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(watched(&seen), 1);
    CHECK_INT_EQ(seen.code, 11);
}

TEST("G10: of two branches without a catch, each is reported") {
    reports seen;
    counter ran = {0};
    watch(&seen);
    vow_promise *promise = rejected_code(8);
    vow_promise_release(then_inline(vow_promise_retain(promise), counter_run, &ran));
    vow_promise_release(then_inline(promise, counter_run, &ran));
    CHECK_INT_EQ(watched(&seen), 2);
}

TEST("G10: an adopted rejection is the adopter's to observe") {
    for (int pending = 0; pending < 2; pending++) {
        reports seen;
        watch(&seen);
        vow_resolver *outer_resolver;
        vow_resolver *inner_resolver;
        vow_promise *outer = vow_promise_create(&outer_resolver);
        vow_promise *inner = vow_promise_create(&inner_resolver);
        if (!pending) {
            CHECK(vow_reject(inner_resolver, vow_error("test", 12, NULL)));
        }
        CHECK(vow_resolve(outer_resolver, vow_from_promise(inner)));
        if (pending) {
            CHECK(vow_reject(inner_resolver, vow_error("test", 12, NULL)));
        }
        vow_resolver_release(outer_resolver);
        vow_resolver_release(inner_resolver);
        CHECK_INT_EQ(atomic_load(&seen.count), 0);
        CHECK_INT_EQ(code_of(outer), 12);
        CHECK_INT_EQ(watched(&seen), 0);
    }
}

TEST("G10: an adopter that dies unobserved is reported once, not twice") {
    reports seen;
    watch(&seen);
    vow_resolver *resolver;
    vow_promise *outer = vow_promise_create(&resolver);
    CHECK(vow_resolve(resolver, vow_from_promise(rejected_code(13))));
    vow_resolver_release(resolver);
    vow_promise_release(outer);
    CHECK_INT_EQ(watched(&seen), 1);
    CHECK_INT_EQ(seen.code, 13);
}

TEST("G10: a rejection that comes after the last promise handle is reported") {
    reports seen;
    watch(&seen);
    vow_resolver *resolver;
    vow_promise_release(vow_promise_create(&resolver));
    CHECK(vow_reject(resolver, vow_error("test", 14, NULL)));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(watched(&seen), 1);
    CHECK_INT_EQ(seen.code, 14);
}

TEST("G10: a handler's rejection on the pool is reported too") {
    reports seen;
    watch(&seen);
    vow_promise_release(vow_async(vow_executor_pool(), fail_with_7, NULL));
    CHECK(reaches(&seen.count, 1));
    CHECK_INT_EQ(watched(&seen), 1);
    CHECK_INT_EQ(seen.code, 7);
}

/* What the default hook writes to standard error while a promise (consumed) is released. */
static size_t standard_error_of(vow_promise *promise, char *text, size_t size) {
    int ends[2];
    int saved = dup(2);
    if (saved < 0 || pipe(ends) != 0 || dup2(ends[1], 2) < 0) {
        abort();
    }
    vow_promise_release(promise);
    dup2(saved, 2);
    close(saved);
    close(ends[1]);
    size_t length = 0;
    ssize_t got;
    while (length < size - 1 && (got = read(ends[0], text + length, size - 1 - length)) > 0) {
        length += (size_t)got;
    }
    text[length] = 0;
    close(ends[0]);
    return length;
}

TEST("G10: by default one line on standard error says what was lost") {
    char text[512];
    vow_promise *promise = vow_promise_with(vow_error("disk", 28, "no space left"));
    size_t length = standard_error_of(promise, text, sizeof text);
    CHECK(length > 0 && strchr(text, '\n') == text + length - 1);
    CHECK_STR_HAS(text, "no space left");
    CHECK_STR_HAS(text, "disk");
    CHECK_STR_HAS(text, "28");
}

TEST("G10: a long message with line breaks is still one line") {
    char text[8192];
    char message[2000];
    memset(message, 'm', sizeof message);
    message[sizeof message - 1] = 0;
    message[10] = '\n';
    vow_promise *promise = vow_promise_with(vow_error("test", 1, message));
    size_t length = standard_error_of(promise, text, sizeof text);
    CHECK(length > 0 && strchr(text, '\n') == text + length - 1);
}

TEST("G10: by default an observed rejection writes nothing") {
    char text[64];
    vow_promise *promise = rejected_code(3);
    CHECK_INT_EQ(vow_await(promise, 0, NULL), VOW_REJECTED);
    CHECK_INT_EQ(standard_error_of(promise, text, sizeof text), 0);
}

TEST("G10: NULL brings the default back") {
    char text[512];
    reports seen;
    watch(&seen);
    CHECK_INT_EQ(watched(&seen), 0);
    CHECK(standard_error_of(rejected_code(3), text, sizeof text) > 0);
    CHECK_INT_EQ(atomic_load(&seen.count), 0);
}
