/* Tests the graph of what is pending. */
#include "trace_tools.h"

static char line[8192];
static char part[2][64];

static atomic_int waits;

static void *waits_for(void *context) {
    atomic_store(&waits, 1);
    vow_value out;
    vow_await(context, VOW_FOREVER, &out);
    vow_value_release(out);
    return NULL;
}

TEST("the graph has what is pending, what waits for it, and waiting threads") {
    vow_trace_stop();
    CHECK_INT_EQ(vow_trace_start(NULL), 0);
    vow_resolver *resolvers[2];
    vow_promise *members[2] = {named("one", &resolvers[0]), named("two", &resolvers[1])};
    vow_promise *one = vow_promise_retain(members[0]);
    vow_promise *all = called(vow_all(members, 2), "both");
    vow_promise *link =
        called(then_on(vow_executor_pool(), vow_promise_retain(all), pass, NULL), "after");
    pthread_t thread = start_thread(waits_for, all);
    char *json = graph(VOW_GRAPH_JSON);
    int64_t limit = now_ns() + LONG_ENOUGH;
    while (strstr(json, "\"awaits\"") == NULL && now_ns() < limit) {
        free(json);
        usleep(1000);
        json = graph(VOW_GRAPH_JSON);
    }
    char *dot = graph(VOW_GRAPH_DOT);
    id_text ids[4];
    static const char *const labels[] = {"one", "two", "both", "after"};
    for (int i = 0; i < 4; i++) {
        snprintf(part[0], 64, "\"label\":\"%s\"", labels[i]);
        CHECK(FIND(json, line, "\"id\":", part[0], "\"state\":\"pending\"", "\"age_ns\":"));
        CHECK(text_after(line, "\"id\":", ids[i].text, sizeof ids[i].text));
    }
    CHECK(FIND(json, line, with(part[0], 64, "from", ids[2]), with(part[1], 64, "to", ids[0]),
               "\"kind\":\"member\""));
    CHECK(FIND(json, line, with(part[0], 64, "from", ids[2]), with(part[1], 64, "to", ids[1])));
    CHECK(FIND(json, line, with(part[0], 64, "from", ids[3]), with(part[1], 64, "to", ids[2]),
               "\"kind\":\"reads\""));
    CHECK(FIND(json, line, with(part[0], 64, "awaits", ids[2]), "\"tid\":"));
    CHECK(FIND(json, line, "\"label\":\"both\"", "\"handlers\":2"));
    CHECK_STR_HAS(dot, "digraph vow {");
    snprintf(line, sizeof line, "\"%s\" -> \"%s\";", ids[2].text, ids[0].text);
    CHECK_STR_HAS(dot, line);
    CHECK_STR_HAS(dot, "shape=oval");
    free(json);
    free(dot);
    fulfil(resolvers[0], vow_none());
    fulfil(resolvers[1], vow_none());
    pthread_join(thread, NULL);
    CHECK_INT_EQ(code_of(link), 0);
    vow_promise_release(all);
    vow_promise_release(one);
    limit = now_ns() + LONG_ENOUGH;
    json = graph(VOW_GRAPH_JSON);
    /* The pool's thread may be about to let go of what it ran. */
    while (COUNT(json, "\"id\":") != 0 && now_ns() < limit) {
        free(json);
        usleep(1000);
        json = graph(VOW_GRAPH_JSON);
    }
    CHECK_INT_EQ(COUNT(json, "\"from\":"), 0);
    CHECK_INT_EQ(COUNT(json, "\"awaits\":"), 0);
    CHECK_INT_EQ(COUNT(json, "\"id\":"), 0);
    free(json);
    CHECK_INT_EQ(vow_trace_stop(), 0);
}

/* Calls a combinator off in many ways, each of which takes the eyes of its members back. */
TEST("no member of a combinator that is over is left in the graph") {
    vow_trace_stop();
    CHECK_INT_EQ(vow_trace_start(NULL), 0);
    for (int way = 0; way < 6; way++) {
        vow_resolver *resolvers[3];
        vow_promise *members[3];
        vow_promise *kept[3];
        for (int i = 0; i < 3; i++) {
            members[i] = vow_promise_create(&resolvers[i]);
            kept[i] = vow_promise_retain(members[i]);
        }
        vow_promise *group = NULL;
        if (way < 4) {
            group = way == 1 ? vow_race(members, 3) : vow_all(members, 3);
        } else if (way == 4) {
            vow_promise_release(members[1]);
            vow_promise_release(members[2]);
            group = vow_timeout(members[0], MILLISECOND);
        } else {
            vow_scope *scope = vow_scope_create();
            for (int i = 0; i < 3; i++) {
                vow_scope_add(scope, members[i]);
            }
            vow_scope_cancel(scope);
            group = vow_scope_close(scope);
        }
        if (way == 0) {
            vow_cancel(group);
        } else if (way == 1) {
            vow_resolve(resolvers[1], vow_none());
        } else if (way == 2) {
            vow_reject(resolvers[2], vow_error("test", 1, "no"));
        }
        if (way == 3) {
            vow_promise_release(group);
        } else {
            code_of(group);
        }
        char *json = graph(VOW_GRAPH_JSON);
        if (!CHECK_INT_EQ(COUNT(json, "\"from\":"), 0)) {
            printf("# way %d: %s\n", way, json);
        }
        free(json);
        for (int i = 0; i < 3; i++) {
            vow_resolver_release(resolvers[i]);
            vow_promise_release(vow_catch(kept[i], give_code, NULL));
        }
    }
    CHECK_INT_EQ(vow_trace_stop(), 0);
}

TEST("a graph for a descriptor that takes nothing is refused with errno") {
    vow_trace_stop();
    CHECK_INT_EQ(vow_trace_start(NULL), 0);
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    CHECK_INT_EQ(vow_graph_write(1, 7), VOW_EINVAL);
    errno = 0;
    CHECK_INT_EQ(vow_graph_write(-1, VOW_GRAPH_DOT), VOW_EINVAL);
    CHECK_INT_EQ(errno, EBADF);
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], line, sizeof line) > 0) {
    }
    errno = 0;
    CHECK_INT_EQ(vow_graph_write(ends[1], VOW_GRAPH_JSON), VOW_EINVAL);
    CHECK_INT_EQ(errno, EAGAIN);
    signal(SIGPIPE, SIG_IGN);
    close(ends[0]);
    CHECK_INT_EQ(vow_graph_write(ends[1], VOW_GRAPH_JSON), VOW_EINVAL);
    CHECK_INT_EQ(errno, EPIPE);
    signal(SIGPIPE, SIG_DFL);
    close(ends[1]);
    fulfil(resolver, vow_none());
    vow_promise_release(promise);
    CHECK_INT_EQ(vow_trace_stop(), 0);
}

static int full_pipe[2];

static void *writes_graph(void *context) {
    atomic_store((atomic_int *)context, vow_graph_write(full_pipe[1], VOW_GRAPH_JSON));
    return NULL;
}

TEST("a graph that waits for its reader holds up nobody") {
    enum { size = 65536 };
    int written = 0;
    vow_trace_stop();
    CHECK_INT_EQ(vow_trace_start(NULL), 0);
    CHECK_INT_EQ(pipe(full_pipe), 0);
    fcntl(full_pipe[1], F_SETPIPE_SZ, 4096); /* less than the graph */
    vow_promise *some[100];
    for (int i = 0; i < 100; i++) {
        some[i] = fulfilled_int(i);
    }
    atomic_int result = 1;
    pthread_t thread = start_thread(writes_graph, &result);
    int64_t limit = now_ns() + LONG_ENOUGH;
    while (written == 0 && now_ns() < limit) {
        usleep(100);
        CHECK_INT_EQ(ioctl(full_pipe[0], FIONREAD, &written), 0);
    }
    CHECK(written > 0);
    for (int i = 0; i < 100; i++) {
        vow_promise_release(then_inline(some[i], add_one, NULL));
    }
    CHECK_INT_EQ(atomic_load(&result), 1);
    size_t got = 0;
    char *text = calloc(1, size);
    while (got < 4 || strcmp(text + got - 4, "\n]}\n") != 0) {
        ssize_t more = read(full_pipe[0], text + got, size - 1 - got);
        if (!CHECK(more > 0)) {
            break;
        }
        got += (size_t)more;
    }
    pthread_join(thread, NULL);
    CHECK_INT_EQ(atomic_load(&result), 0);
    close(full_pipe[1]);
    CHECK_INT_EQ(COUNT(text, "\"kind\":\"value\""), 100);
    CHECK_STR_HAS(text, "\n]}\n");
    close(full_pipe[0]);
    free(text);
    CHECK_INT_EQ(vow_trace_stop(), 0);
}
