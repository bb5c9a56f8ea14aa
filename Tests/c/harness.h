/* Runs the tests of one program in turn and checks that each leaves nothing behind.
 *
 * Include it first in a test program; it has main. Arguments: a part of a sentence, to run
 * only the tests that contain it. TEST_SLOWNESS in the environment stretches every limit of
 * time, for runs under valgrind or a sanitizer. TEST_DEPTH=full makes long what is long: a million
 * where some ten thousand show it.
 */
#ifndef VOW_TEST_HARNESS_H
#define VOW_TEST_HARNESS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <vow.h>

/* How long one test may take before it counts as hanging, in seconds. */
#ifndef HARNESS_LIMIT
#define HARNESS_LIMIT 120
#endif

/* The same for a child process that a test made: alarm's argument. */
#define CHILD_LIMIT ((unsigned)(60 * slowness()))

typedef struct harness_test {
    const char *sentence;
    void (*run)(void);
    int line;
    struct harness_test *next;
} harness_test;

static harness_test *harness_tests;
static const char *harness_running = "";
static atomic_int harness_failures; /* of the running test; checks may be made on any thread */

/* In the order of the lines, whatever order constructors run in. */
static inline void harness_add(harness_test *test) {
    harness_test **place = &harness_tests;
    while (*place != NULL && (*place)->line < test->line) {
        place = &(*place)->next;
    }
    test->next = *place;
    *place = test;
}

#define HARNESS_JOIN_(a, b) a##b
#define HARNESS_JOIN(a, b) HARNESS_JOIN_(a, b)
#define HARNESS_TEST(text, id)                                                                     \
    static void id(void);                                                                          \
    __attribute__((constructor)) static void HARNESS_JOIN(id, _add)(void) {                        \
        static harness_test test = {text, id, __LINE__, NULL};                                     \
        harness_add(&test);                                                                        \
    }                                                                                              \
    static void id(void)

/* TEST("G1: a sentence that is true") { ... } */
#define TEST(text) HARNESS_TEST(text, HARNESS_JOIN(test_, __LINE__))

#define CHECK(condition) harness_check((condition), #condition, __FILE__, __LINE__)
#define CHECK_INT_EQ(actual, expected)                                                             \
    harness_check_int((int64_t)(actual), (int64_t)(expected), #actual, __FILE__, __LINE__)
#define CHECK_STR_EQ(actual, expected)                                                             \
    harness_check_text((actual), (expected), #actual, __FILE__, __LINE__)
/* Whether the text contains the part. */
#define CHECK_STR_HAS(actual, part)                                                                \
    harness_check_part((actual), (part), #actual, __FILE__, __LINE__)

static inline bool harness_check(bool good, const char *text, const char *file, int line) {
    if (!good) {
        atomic_fetch_add(&harness_failures, 1);
        printf("# %s:%d: not true: %s\n", file, line, text);
    }
    return good;
}

static inline bool harness_check_int(int64_t actual, int64_t expected, const char *text,
                                     const char *file, int line) {
    if (actual != expected) {
        atomic_fetch_add(&harness_failures, 1);
        printf("# %s:%d: %s is %" PRId64 ", expected %" PRId64 "\n", file, line, text, actual,
               expected);
    }
    return actual == expected;
}

static inline bool harness_check_text(const char *actual, const char *expected, const char *text,
                                      const char *file, int line) {
    bool good = actual != NULL && strcmp(actual, expected) == 0;
    if (!good) {
        atomic_fetch_add(&harness_failures, 1);
        printf("# %s:%d: %s is \"%s\", expected \"%s\"\n", file, line, text,
               actual != NULL ? actual : "(NULL)", expected);
    }
    return good;
}

static inline bool harness_check_part(const char *actual, const char *part, const char *text,
                                      const char *file, int line) {
    bool good = actual != NULL && strstr(actual, part) != NULL;
    if (!good) {
        atomic_fetch_add(&harness_failures, 1);
        printf("# %s:%d: %s is \"%s\", which should contain \"%s\"\n", file, line, text,
               actual != NULL ? actual : "(NULL)", part);
    }
    return good;
}

/* By how much this run is slower than a plain one. */
static inline int slowness(void) {
    const char *text = getenv("TEST_SLOWNESS");
    int factor = text != NULL ? atoi(text) : 1;
    return factor > 0 ? factor : 1;
}

/* How many: so many are enough for every day, and full when that is asked for. */
static inline int many_of(int enough, int full) {
    const char *text = getenv("TEST_DEPTH");
    int count = text != NULL && strcmp(text, "full") == 0 ? full : enough;
    return count > slowness() ? count / slowness() : 1;
}

static inline vow_statistics harness_stats(void) {
    vow_statistics stats;
    memset(&stats, 0, sizeof stats);
    stats.size = sizeof stats;
    if (vow_stats(&stats) != 0) {
        CHECK(!"vow_stats works");
    }
    return stats;
}

static inline bool harness_balanced(const vow_statistics *before, const vow_statistics *after) {
    return after->live == before->live && after->pending == before->pending &&
           after->handlers == before->handlers && after->bytes == before->bytes;
}

/* The leak gate: what lives is what lived before. Threads of a pool may let go of their last
 * references a moment after the test saw its result, so they get some time: much, but once in a
 * program only. */
static inline void harness_gate(const vow_statistics *before) {
    static int patience = 60000;
    vow_statistics after = harness_stats();
    for (int tries = 0; tries < patience && !harness_balanced(before, &after); tries++) {
        usleep(1000);
        after = harness_stats();
    }
    if (!harness_balanced(before, &after)) {
        patience = 100;
    }
    CHECK_INT_EQ(after.live, before->live);
    CHECK_INT_EQ(after.pending, before->pending);
    CHECK_INT_EQ(after.handlers, before->handlers);
    CHECK_INT_EQ(after.bytes, before->bytes);
}

static inline void harness_say(const char *text) {
    if (write(1, text, strlen(text)) < 0) {
        _exit(3);
    }
}

static inline void harness_hang(int number) {
    (void)number;
    harness_say("not ok ");
    harness_say(harness_running);
    harness_say("\n# took too long, and the program gives up\n");
    _exit(2);
}

static inline int harness_main(const char *part) {
    int passed = 0;
    int failed = 0;
    signal(SIGALRM, harness_hang);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (harness_test *test = harness_tests; test != NULL; test = test->next) {
        if (part != NULL && strstr(test->sentence, part) == NULL) {
            continue;
        }
        vow_statistics before = harness_stats();
        harness_running = test->sentence;
        atomic_store(&harness_failures, 0);
        alarm((unsigned)(HARNESS_LIMIT * slowness()));
        test->run();
        harness_gate(&before);
        bool good = atomic_load(&harness_failures) == 0;
        printf("%s %s\n", good ? "ok" : "not ok", test->sentence);
        passed += good;
        failed += !good;
    }
    alarm(0);
    printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}

#ifndef HARNESS_OWN_MAIN
int main(int count, char **arguments) {
    return harness_main(count > 1 ? arguments[1] : NULL);
}
#endif

#endif
