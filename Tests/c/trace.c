/* Tests tracing: begun, ended, and what is older or lives longer. */
#include "trace_tools.h"

static char line[8192];

TEST("tracing is off until it is started, and then not started again") {
    vow_trace_stop();
    CHECK_INT_EQ(vow_trace_stop(), VOW_EINVAL);
    CHECK_INT_EQ(vow_graph_write(1, VOW_GRAPH_JSON), VOW_EINVAL);
    CHECK_INT_EQ(vow_trace_start(new_path()), 0);
    CHECK_INT_EQ(vow_trace_start(trace_path), VOW_EINVAL);
    CHECK_INT_EQ(vow_trace_start(NULL), VOW_EINVAL);
    char *text = end_trace();
    CHECK_STR_HAS(text, "{\"displayTimeUnit\":\"ns\"");
    CHECK_STR_HAS(text, "\"producer\":\"vow " VOW_VERSION_STRING "\"");
    CHECK_STR_HAS(text, "\n]}\n");
    CHECK_INT_EQ(vow_trace_stop(), VOW_EINVAL);
    free(text);
}

TEST("a file that cannot be made is refused with errno, and tracing stays off") {
    errno = 0;
    CHECK_INT_EQ(vow_trace_start("/nowhere/at/all"), VOW_EINVAL);
    CHECK_INT_EQ(errno, ENOENT);
    char *longest = malloc(10000);
    memset(longest, 'x', 9999);
    longest[9999] = 0;
    CHECK_INT_EQ(vow_trace_start(longest), VOW_EINVAL);
    CHECK_INT_EQ(errno, ENAMETOOLONG);
    CHECK_INT_EQ(vow_trace_start(""), VOW_EINVAL);
    CHECK_INT_EQ(vow_trace_stop(), VOW_EINVAL);
    free(longest);
}

TEST("%p in a path is the number of the process") {
    char wanted[256];
    const char *path = new_path();
    snprintf(wanted, sizeof wanted, "%s.%%p.json", path);
    CHECK_INT_EQ(vow_trace_start(wanted), 0);
    CHECK_INT_EQ(vow_trace_stop(), 0);
    snprintf(wanted, sizeof wanted, "%s.%ld.json", path, (long)getpid());
    CHECK_INT_EQ(access(wanted, R_OK), 0);
    unlink(wanted);
}

static vow_value begins_trace(vow_value input, void *context) {
    (void)input;
    (void)context;
    begin_trace();
    return vow_none();
}

TEST("a promise that is older than the trace is known from its next step on") {
    vow_trace_stop();
    vow_resolver *first;
    vow_resolver *second;
    vow_promise *members[1] = {vow_promise_create(&second)};
    vow_promise *old = vow_promise_create(&first);
    vow_promise *all = vow_all(members, 1);
    vow_promise *link = then_inline(vow_promise_retain(old), add_one, NULL);
    begin_trace();
    called(all, "old all");
    called(link, "old link");
    fulfil(first, vow_int(1));
    fulfil(second, vow_int(1));
    CHECK_INT_EQ(int_of(link), 2);
    CHECK_INT_EQ(code_of(all), 0);
    CHECK_INT_EQ(int_of(old), 1);
    char *text = end_trace();
    CHECK(FIND(text, line, "\"ph\":\"b\"", "old all", "\"kind\":\"all\""));
    CHECK(FIND(text, line, "\"ph\":\"e\"", "old all", "fulfilled"));
    CHECK(FIND(text, line, "\"ph\":\"e\"", "old link", "fulfilled"));
    free(text);
}

TEST("a promise that settled before the trace is not taken for pending") {
    vow_trace_stop();
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise *first = then_inline(vow_promise_retain(promise), begins_trace, NULL);
    vow_promise *second = then_inline(vow_promise_retain(promise), pass, NULL);
    fulfil(resolver, vow_int(1)); /* its handlers run while it is being delivered */
    CHECK_INT_EQ(int_of(second), 1);
    CHECK_INT_EQ(code_of(first), 0);
    called(promise, "was settled");
    char *text = graph(VOW_GRAPH_JSON);
    CHECK(FIND(text, line, "was settled", "\"state\":\"fulfilled\""));
    free(text);
    vow_promise_release(promise);
    char *history = end_trace();
    CHECK_INT_EQ(COUNT(history, "released"), 0);
    free(history);
}

TEST("promises live on after the trace, and its memory is given back") {
    begin_trace();
    vow_resolver *resolver;
    vow_promise *promise = named("longer", &resolver);
    vow_promise *link = then_inline(vow_promise_retain(promise), add_one, NULL);
    free(end_trace());
    fulfil(resolver, vow_int(1));
    CHECK_INT_EQ(int_of(link), 2);
    begin_trace();
    called(promise, "again");
    vow_promise_release(promise);
    char *text = end_trace();
    CHECK_INT_EQ(COUNT(text, "longer"), 0);
    CHECK_INT_EQ(COUNT(text, "released"), 0);
    free(text);
}
