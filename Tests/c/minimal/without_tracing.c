/* Tests the library of MINIMAL=1: it has no tracing, and says so; unhandled rejections are reported
 * as ever. */
#include "../checked/aborts.h"
#include "../worker.h"
#include <errno.h>

/* First, as the library looks at the environment where it is first used. */
TEST("VOW_TRACE is refused with a line on standard error, and the program goes on") {
    int ends[2];
    char text[256];
    if (!CHECK_INT_EQ(pipe(ends), 0)) {
        return;
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        setenv("VOW_TRACE", "/tmp/vow-none.json", 1);
        _exit(int_of(fulfilled_int(3)) == 3 ? 0 : 1);
    }
    close(ends[1]);
    read_all(ends[0], text, sizeof text);
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT_EQ(status, 0);
    CHECK(strstr(text, "VOW_TRACE: cannot write /tmp/vow-none.json: ") != NULL);
    CHECK_INT_EQ(access("/tmp/vow-none.json", F_OK), -1);
}

TEST("without tracing vow_trace_start says so, and its neighbours that it is off") {
    errno = 0;
    CHECK_INT_EQ(vow_trace_start(NULL), VOW_EINVAL);
    CHECK_INT_EQ(errno, ENOSYS);
    errno = 0;
    CHECK_INT_EQ(vow_trace_start("/dev/null"), VOW_EINVAL);
    CHECK_INT_EQ(errno, ENOSYS);
    CHECK_INT_EQ(vow_trace_stop(), VOW_EINVAL);
    CHECK_INT_EQ(vow_graph_write(STDERR_FILENO, VOW_GRAPH_JSON), VOW_EINVAL);
    CHECK_INT_EQ(vow_graph_write(STDERR_FILENO, VOW_GRAPH_DOT), VOW_EINVAL);
}

TEST("a label is no harm there, and a chain runs as ever") {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise_set_label(promise, "first");
    vow_promise *next = vow_then(promise, add_one, NULL);
    CHECK(vow_resolve(resolver, vow_int(4)));
    CHECK_INT_EQ(int_of(next), 5);
    vow_resolver_release(resolver);
}
