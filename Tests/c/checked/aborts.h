/* Runs a part in a forked child that must abort with a message that names a function. */
#ifndef VOW_TEST_ABORTS_H
#define VOW_TEST_ABORTS_H

#include "../tools.h"
#include <sys/resource.h>
#include <sys/wait.h>

/* Reads all that comes out of a pipe's end, up to size - 1 bytes, and closes it. */
static inline void read_all(int end, char *text, size_t size) {
    size_t length = 0;
    ssize_t got;
    while (length < size - 1 && (got = read(end, text + length, size - 1 - length)) > 0) {
        length += (size_t)got;
    }
    text[length] = 0;
    close(end);
}

static inline void check_aborts(void (*part)(void), const char *function) {
    int ends[2];
    char text[4096];
    fflush(stdout);
    if (pipe(ends) != 0) {
        abort();
    }
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        alarm(CHILD_LIMIT);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        part();
        _exit(0);
    }
    close(ends[1]);
    read_all(ends[0], text, sizeof text);
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK_INT_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGABRT);
    CHECK_STR_HAS(text, function);
}

#endif
