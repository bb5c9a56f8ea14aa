/* Runs a part of a test in a process of its own: this program anew, so that it has all its threads
 * and nothing of what the tests before have left. */
#ifndef VOW_TEST_CHILD_H
#define VOW_TEST_CHILD_H

#define HARNESS_OWN_MAIN
#include "../c/tools.h"
#include <sys/resource.h>
#include <sys/wait.h>

typedef struct part {
    const char *name;
    void (*run)(void);
} part;

typedef struct ended {
    int status;      /* as waitpid says */
    char said[4096]; /* on standard error */
} ended;

#define PART_VARIABLE "VOW_TEST_PART"

/* What main returns: in such a process it runs the part and ends, else all tests. */
static inline int run_part_or_tests(const part *parts, size_t count, const char *sentence) {
    const char *name = getenv(PART_VARIABLE);
    for (size_t i = 0; name != NULL && i < count; i++) {
        if (strcmp(parts[i].name, name) == 0) {
            struct rlimit none = {0, 0};
            setrlimit(RLIMIT_CORE, &none);
            alarm(CHILD_LIMIT);
            parts[i].run();
            exit(0);
        }
    }
    return harness_main(sentence);
}

static inline ended end_of(const char *name) {
    ended end;
    int ends[2];
    size_t length = 0;
    ssize_t got;
    memset(&end, 0, sizeof end);
    fflush(stdout);
    if (pipe(ends) != 0) {
        abort();
    }
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        setenv(PART_VARIABLE, name, 1);
        /* What a sanitizer finds there is looked for in what is said. */
        const char *options = getenv("ASAN_OPTIONS");
        char own[4096];
        snprintf(own, sizeof own, "%s:log_path=stderr", options != NULL ? options : "");
        setenv("ASAN_OPTIONS", own, 1);
        /* Read, and not executed as it is: valgrind stands in between. */
        char path[4096];
        ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
        path[size > 0 ? size : 0] = 0;
        execl(path, "child", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    while (length < sizeof end.said - 1 &&
           (got = read(ends[0], end.said + length, sizeof end.said - 1 - length)) > 0) {
        length += (size_t)got;
    }
    close(ends[0]);
    CHECK(child > 0 && waitpid(child, &end.status, 0) == child);
    return end;
}

/* The part ends badly, with this on standard error. */
static inline void check_fails(const char *name, const char *sentence) {
    ended end = end_of(name);
    CHECK(end.status != 0);
    CHECK_STR_HAS(end.said, sentence);
}

/* The part ends by abort, with this on standard error. */
static inline void check_ends(const char *name, const char *sentence) {
    ended end = end_of(name);
    if (!CHECK_INT_EQ(WIFSIGNALED(end.status) ? WTERMSIG(end.status) : 0, SIGABRT)) {
        printf("# of \"%s\"\n", name);
    }
    CHECK_STR_HAS(end.said, sentence);
}

/* The part ends well, and says nothing. */
static inline void check_quiet(const char *name) {
    ended end = end_of(name);
    if (!CHECK_INT_EQ(end.status, 0)) {
        printf("# of \"%s\"\n", name);
    }
    CHECK_STR_EQ(end.said, "");
}

#endif
