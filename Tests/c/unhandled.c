/* Tests chapter 12 (G10): a rejection that nobody observed is reported, once. */
#include "tools.h"
#include <sys/wait.h>

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

/* What is written to standard error while something happens, as much as the text has room for. */
static size_t standard_error_of(void (*happen)(void *context), void *context, char *text,
                                size_t size) {
    FILE *file = tmpfile();
    int saved = dup(2);
    if (saved < 0 || file == NULL || dup2(fileno(file), 2) < 0) {
        abort();
    }
    happen(context);
    dup2(saved, 2);
    close(saved);
    rewind(file);
    size_t length = fread(text, 1, size - 1, file);
    text[length] = 0;
    fclose(file);
    return length;
}

static void release(void *promise) {
    vow_promise_release(promise);
}

/* The same while a promise (consumed) is released. */
static size_t report_of(vow_promise *promise, char *text, size_t size) {
    return standard_error_of(release, promise, text, size);
}

TEST("G10: by default one line on standard error says what was lost") {
    char text[512];
    vow_promise *promise = vow_promise_with(vow_error("disk", 28, "no space left"));
    size_t length = report_of(promise, text, sizeof text);
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
    size_t length = report_of(promise, text, sizeof text);
    CHECK(length > 0 && strchr(text, '\n') == text + length - 1);
}

TEST("G10: by default an observed rejection writes nothing") {
    char text[64];
    vow_promise *promise = rejected_code(3);
    CHECK_INT_EQ(vow_await(promise, 0, NULL), VOW_REJECTED);
    CHECK_INT_EQ(report_of(promise, text, sizeof text), 0);
}

TEST("G10: NULL brings the default back") {
    char text[512];
    reports seen;
    watch(&seen);
    CHECK_INT_EQ(watched(&seen), 0);
    CHECK(report_of(rejected_code(3), text, sizeof text) > 0);
    CHECK_INT_EQ(atomic_load(&seen.count), 0);
}

TEST("G10: control characters in a message do not reach the terminal, other text does") {
    char text[512];
    vow_promise *promise =
        vow_promise_with(vow_error("t\x1b[2J", 1,
                                   "bell \a, \xc2\x9bm, \xff and gr\xc3\xb6\xc3\x9f"
                                   "er"));
    size_t length = report_of(promise, text, sizeof text);
    CHECK_STR_HAS(text, "t\\x1b[2J");
    CHECK_STR_HAS(text, "bell \\x07, \\xc2\\x9bm, \\xff and gr\xc3\xb6\xc3\x9f"
                        "er");
    for (size_t i = 0; i + 1 < length; i++) {
        CHECK((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
    }
}

TEST("G10: control characters in a label do not reach the terminal") {
    char text[512];
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_rejected = fail_with_7;
    reaction.executor = vow_executor_inline();
    reaction.label = "\x1b]0;title\a\n";
    report_of(vow_then_with(rejected_code(1), &reaction), text, sizeof text);
    CHECK_STR_HAS(text, "of '\\x1b]0;title\\x07\\x0a'");
}

/* In a child, whose number begins anew. */
static void lose_many(void *context) {
    int count = *(int *)context;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < count; i++) {
            vow_promise_release(rejected_code(i));
        }
        /* At a proper end LeakSanitizer would miss the parent's threads. */
        if (slowness() > 1) {
            vow_shutdown(0);
            _exit(0);
        }
        exit(0);
    }
    int status = 1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static int lines_of(const char *text) {
    int lines = 0;
    for (; *text != 0; text++) {
        lines += *text == '\n';
    }
    return lines;
}

TEST("G10: many rejections are ten lines, one each time their number has doubled, and their sum") {
    static const struct {
        int count, lines;
        const char *last;
    } cases[] = {{10, 10, NULL},
                 {11, 11, "vow: 11 unhandled rejections"},
                 {20, 11, "(20 by now"},
                 {21, 12, "vow: 21 unhandled rejections"},
                 {70000, 23, "vow: 70000 unhandled rejections"}};
    static char text[16384];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int count = cases[i].count;
        standard_error_of(lose_many, &count, text, sizeof text);
        CHECK_INT_EQ(lines_of(text), cases[i].lines);
        if (cases[i].last != NULL) {
            char *end = strrchr(text, '\n');
            *end = 0;
            char *line = strrchr(text, '\n');
            CHECK_STR_HAS(line, cases[i].last);
        }
    }
}

static void lose_and_shut_down(void *context) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 15; i++) {
            vow_promise_release(rejected_code(i));
        }
        vow_shutdown(0);
        _exit(0);
    }
    int status = 1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    (void)context;
}

static vow_value fail_later(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(then_inline(vow_promise_retain(context), fail_with_7, NULL));
}

static vow_value wrap(vow_value input, void *context) {
    (void)context;
    return vow_error_wrap("test", 7, "seven", vow_value_retain(input));
}

static vow_value pass(vow_value input, void *context) {
    (void)context;
    return vow_value_retain(input);
}

TEST("G10: an error that the failing handler of a finally has replaced is reported") {
    reports seen;
    watch(&seen);
    CHECK_INT_EQ(code_of(finally_inline(rejected_code(5), fail_with_7, NULL)), 7);
    CHECK_INT_EQ(atomic_load(&seen.count), 1);
    CHECK_INT_EQ(seen.code, 5);
    vow_resolver *resolver;
    vow_promise *later = vow_promise_create(&resolver);
    vow_promise *end = finally_inline(rejected_code(6), fail_later, later);
    CHECK_INT_EQ(atomic_load(&seen.count), 1);
    vow_resolve(resolver, vow_none());
    vow_resolver_release(resolver);
    vow_promise_release(later);
    CHECK_INT_EQ(code_of(end), 7);
    CHECK_INT_EQ(watched(&seen), 2);
    CHECK_INT_EQ(seen.code, 6);
}

TEST("G10: but not where somebody else observes it, or the handler says it again, as it is or as a "
     "cause") {
    reports seen;
    watch(&seen);
    vow_promise *first = rejected_code(5);
    CHECK_INT_EQ(code_of(finally_inline(vow_promise_retain(first), fail_with_7, NULL)), 7);
    CHECK_INT_EQ(code_of(first), 5);
    vow_promise *second = rejected_code(5);
    vow_promise_release(catch_inline(vow_promise_retain(second), give_code, NULL));
    CHECK_INT_EQ(code_of(finally_inline(second, fail_with_7, NULL)), 7);
    CHECK_INT_EQ(code_of(finally_inline(rejected_code(5), pass, NULL)), 5);
    CHECK_INT_EQ(code_of(finally_inline(rejected_code(5), wrap, NULL)), 7);
    CHECK_INT_EQ(code_of(finally_inline(fulfilled_int(5), fail_with_7, NULL)), 7);
    CHECK_INT_EQ(watched(&seen), 0);
}

TEST("G10: that a loop ends before a delay or a descriptor is not reported, but what it does not "
     "run") {
    reports seen;
    watch(&seen);
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    vow_loop *loop = vow_loop_create();
    vow_detach(vow_then(vow_delay(SECOND), pass, NULL));
    vow_promise *both[2] = {vow_delay(SECOND), vow_fd_ready(ends[0], VOW_READ)};
    vow_detach(vow_all(both, 2));
    vow_detach(vow_fd_ready(ends[0], VOW_READ));
    CHECK_INT_EQ(atomic_load(&seen.count), 0);
    vow_detach(vow_async(NULL, pass, NULL));
    vow_loop_destroy(loop);
    CHECK_INT_EQ(watched(&seen), 1);
    CHECK_INT_EQ(seen.code, VOW_ESHUTDOWN);
    close(ends[0]);
    close(ends[1]);
}

/* In a child, whose number begins anew. */
static void hold_up_many(void *context) {
    (void)context;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        vow_loop *loop = vow_loop_create_virtual();
        vow_resolver *resolver;
        vow_scope_options options = {
            .size = sizeof options, .grace_ns = 50 * VOW_MS, .label = "requests"};
        vow_scope *scope = vow_scope_create_with(&options);
        for (int i = 0; i < 20; i++) {
            vow_scope_add(scope, vow_promise_create_with(&resolver, VOW_COOPERATIVE));
        }
        vow_scope_cancel(scope);
        vow_loop_advance(loop, 50 * VOW_MS);
        _exit(0);
    }
    int status = 1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

TEST("a member that holds up its scope is a sentence, also the twentieth") {
    static char text[8192];
    standard_error_of(hold_up_many, NULL, text, sizeof text);
    CHECK_STR_HAS(text, "vow: late member: the promise has not settled 50 ms after its scope "
                        "'requests' was cancelled\n");
    CHECK_STR_HAS(text, "vow: late member (20 by now, not all written): the promise has not ");
}

TEST("G10: the sum is told when the library's work ends, too") {
    char text[4096];
    standard_error_of(lose_and_shut_down, NULL, text, sizeof text);
    CHECK_INT_EQ(lines_of(text), 11);
    CHECK_STR_HAS(text, "vow: 15 unhandled rejections");
}

static void count_only(vow_value error, void *context) {
    (void)error;
    ++*(int *)context;
}

TEST("G10: a hook of the program hears of each, however many") {
    int heard = 0;
    vow_on_unhandled(count_only, &heard);
    for (int i = 0; i < 1000; i++) {
        vow_promise_release(rejected_code(i));
    }
    vow_on_unhandled(NULL, NULL);
    CHECK_INT_EQ(heard, 1000);
}
