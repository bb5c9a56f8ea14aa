/* Tests tracing: the history, the live graph, labels, sites, and when it is on. */
#include "trace.h"
#include "worker.h"

#include <link.h>
#include <locale.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

/* NULL in a way that compilers do not refuse as an argument that must not be NULL. */
static vow_promise *no_promise;

static char line[8192];
static char part[2][64];

/* A promise that is called so, and its resolver. */
static vow_promise *named(const char *label, vow_resolver **resolver) {
    vow_promise *promise = vow_promise_create(resolver);
    vow_promise_set_label(promise, label);
    return promise;
}

static void fulfil(vow_resolver *resolver, vow_value value) {
    CHECK(vow_resolve(resolver, value));
    vow_resolver_release(resolver);
}

static vow_promise *called(vow_promise *promise, const char *label) {
    vow_promise_set_label(promise, label);
    return promise;
}

/* ---------------------------------------------------------------- on and off */

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

/* ----------------------------------------------------------------- the events */

TEST("a promise is written with its kind, label, state, value and threads") {
    begin_trace();
    vow_resolver *resolver;
    vow_promise *promise = named("answer", &resolver);
    fulfil(resolver, vow_int(42));
    vow_promise_release(promise);
    vow_promise *bad = called(vow_promise_create(&resolver), "no answer");
    vow_reject(resolver, vow_error("net", 17, "lost"));
    vow_resolver_release(resolver);
    CHECK_INT_EQ(code_of(bad), 17);
    vow_promise *late = called(vow_promise_create(&resolver), "too late");
    CHECK(vow_cancel(late));
    vow_resolver_release(resolver);
    vow_promise_release(late);
    char *text = end_trace();
    id_text id = id_of(text, "answer");
    const char *is = with(part[0], 64, "id", id);
    CHECK(FIND(text, line, "\"ph\":\"b\"", "\"cat\":\"promise\"", is, "\"kind\":\"promise\""));
    CHECK_STR_HAS(line, "\"label\":\"answer\"");
    CHECK(FIND(text, line, "\"ph\":\"e\"", is, "\"state\":\"fulfilled\"", "\"value\":\"integer\""));
    CHECK(FIND(text, line, "\"ph\":\"X\"", "\"cat\":\"settle\"", "\"name\":\"settle answer\"",
               with(part[1], 64, "promise", id)));
    CHECK(FIND(text, line, "\"ph\":\"e\"", "no answer", "\"state\":\"rejected\"",
               "\"error\":\"net 17\""));
    CHECK(FIND(text, line, "\"ph\":\"e\"", "too late", "\"error\":\"VOW_ECANCELLED\""));
    CHECK(FIND(text, line, "\"cat\":\"cancel\"", "\"name\":\"cancel too late\""));
    CHECK(FIND(text, line, "\"ph\":\"M\"", "process_name", program_invocation_short_name));
    CHECK_INT_EQ(COUNT(text, "\"thread_name\""), 1);
    CHECK(FIND(text, line, "\"ph\":\"C\"", "\"live\":"));
    free(text);
}

TEST("a link is written with what it reads, its executor, its run and the way there") {
    begin_trace();
    vow_resolver *resolver;
    vow_promise *source = named("source", &resolver);
    vow_promise *link = called(then_on(vow_executor_pool(), source, add_one, NULL), "link");
    fulfil(resolver, vow_int(1));
    CHECK_INT_EQ(int_of(link), 2);
    CHECK_INT_EQ(int_of(vow_async(vow_executor_pool(), add_one, NULL)), 1);
    char *text = end_trace();
    id_text from = id_of(text, "source");
    id_text to = id_of(text, "link");
    const char *reads = with(part[0], 64, "reads", from);
    CHECK(FIND(text, line, "\"ph\":\"b\"", "\"name\":\"link\"", reads, "\"kind\":\"then\"",
               "\"executor\":\"pool\""));
    CHECK(FIND(text, line, "\"cat\":\"handler\"", with(part[1], 64, "promise", to), reads,
               "\"executor\":\"pool\"", "\"dur\":"));
    CHECK(FIND(text, line, "\"ph\":\"s\"", "\"cat\":\"flow\"", with(part[1], 64, "id", to)));
    CHECK(FIND(text, line, "\"ph\":\"f\"", "\"bp\":\"e\"", with(part[1], 64, "id", to)));
    CHECK(FIND(text, line, "\"ph\":\"b\"", "\"name\":\"async\"", "\"executor\":\"pool\""));
    CHECK(COUNT(text, "\"thread_name\"") >= 2);
    free(text);
}

static vow_value give_promise(vow_value input, void *context) {
    (void)input;
    return vow_from_promise(vow_promise_retain(context));
}

TEST("a link that adopts still says what it read, and whom it follows") {
    begin_trace();
    vow_resolver *first;
    vow_resolver *second;
    vow_promise *source = named("first", &first);
    vow_promise *inner = named("second", &second);
    vow_promise *outer = called(then_inline(source, give_promise, inner), "outer");
    fulfil(first, vow_none());
    char *pending = graph(VOW_GRAPH_JSON);
    fulfil(second, vow_int(5));
    CHECK_INT_EQ(int_of(outer), 5);
    vow_promise_release(inner);
    char *text = end_trace();
    id_text followed = id_of(text, "second");
    id_text follower = id_of(text, "outer");
    CHECK(FIND(text, line, "\"ph\":\"b\"", "\"name\":\"outer\"",
               with(part[0], 64, "reads", id_of(text, "first"))));
    CHECK(FIND(text, line, "\"name\":\"follows\"", with(part[0], 64, "id", follower),
               with(part[1], 64, "on", followed)));
    CHECK(FIND(pending, line, with(part[0], 64, "from", follower),
               with(part[1], 64, "to", followed), "\"kind\":\"follows\""));
    free(pending);
    free(text);
}

static vow_value pass(vow_value input, void *context) {
    (void)context;
    return vow_value_retain(input);
}

static bool never_again(vow_value state, void *context) {
    (void)state;
    (void)context;
    return false;
}

static vow_value sum(vow_value a, vow_value b, void *context) {
    (void)context;
    return vow_int(a.as.integer + b.as.integer);
}

TEST("each kind of promise has its name") {
    begin_trace();
    /* Nothing goes on before it has its label: all is run by the waits. */
    vow_loop *loop = vow_loop_create();
    vow_promise *two[2];
    vow_value one = vow_int(1);
#define TWO (two[0] = vow_delay(0), two[1] = vow_delay(0), two)
    int64_t codes = 0;
    codes += code_of(called(vow_all(TWO, 2), "K all"));
    codes += code_of(called(vow_all_settled(TWO, 2), "K all_settled"));
    codes += code_of(called(vow_any(TWO, 2), "K any"));
    codes += code_of(called(vow_some(TWO, 2, 1), "K some"));
    codes += code_of(called(vow_race(TWO, 2), "K race"));
    codes += code_of(called(vow_reduce(TWO, 2, vow_int(0), sum, NULL), "K reduce"));
    codes += code_of(called(vow_map(vow_list(&one, 1), pass, NULL, 0), "K map"));
    codes += code_of(called(vow_repeat(vow_int(1), never_again, pass, NULL), "K repeat"));
    codes += code_of(called(vow_retry(NULL, pass, NULL), "K retry"));
    codes += code_of(called(vow_timeout(vow_delay(1000), SECOND), "K timeout"));
    codes += code_of(called(vow_delay(1000), "K delay"));
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    vow_promise *readable = called(vow_fd_ready(ends[0], VOW_READ), "K descriptor");
    CHECK_INT_EQ(write(ends[1], "x", 1), 1);
    codes += code_of(readable);
    close(ends[0]);
    close(ends[1]);
    codes += code_of(called(vow_then(vow_delay(0), pass, NULL), "K then"));
    codes += code_of(called(vow_catch(vow_delay(0), pass, NULL), "K catch"));
    codes += code_of(called(vow_finally(vow_delay(0), pass, NULL), "K finally"));
    codes += code_of(called(either_on(NULL, vow_delay(0), pass, NULL), "K reaction"));
    codes += code_of(called(vow_async(NULL, pass, NULL), "K async"));
    codes += code_of(vow_promise_with(vow_none()));
    vow_scope *scope = vow_scope_create();
    vow_scope_add(scope, vow_delay(1000));
    codes += code_of(called(vow_scope_close(scope), "K scope"));
    CHECK_INT_EQ(codes, 0);
    vow_loop_destroy(loop);
    char *text = end_trace();
    static const char *const kinds[] = {"all",      "all_settled", "any",    "some",  "race",
                                        "reduce",   "map",         "repeat", "retry", "timeout",
                                        "delay",    "descriptor",  "then",   "catch", "finally",
                                        "reaction", "async",       "scope"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char label[40];
        char kind[40];
        snprintf(label, sizeof label, "\"label\":\"K %s\"", kinds[i]);
        snprintf(kind, sizeof kind, "\"kind\":\"%s\"", kinds[i]);
        if (!CHECK(FIND(text, line, "\"ph\":\"b\"", label, kind))) {
            printf("# no %s\n", kinds[i]);
        }
    }
    CHECK(FIND(text, line, "\"name\":\"waits\"", with(part[0], 64, "id", id_of(text, "K all"))));
    CHECK(FIND(text, line, "\"name\":\"waits\"", with(part[0], 64, "id", id_of(text, "K retry"))));
    CHECK(FIND(text, line, "\"cat\":\"await\"", "\"name\":\"await K delay\""));
    CHECK(FIND(text, line, "\"ph\":\"b\"", "\"kind\":\"value\""));
    free(text);
}

TEST("progress is written, whether anybody listens or not, in any locale") {
    const char *languages[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"};
    for (size_t i = 0; i < 3 && setlocale(LC_ALL, languages[i]) == NULL; i++) {
    }
    begin_trace();
    vow_resolver *resolver;
    vow_promise *promise = named("work", &resolver);
    vow_resolver_set_progress(resolver, 0.25, "a \"note\"");
    vow_resolver_set_progress(resolver, 1.0 / 3, NULL);
    char *nodes = graph(VOW_GRAPH_JSON);
    fulfil(resolver, vow_none());
    vow_promise_release(promise);
    char *text = end_trace();
    setlocale(LC_ALL, "C");
    CHECK(FIND(text, line, "\"name\":\"progress\"", "\"fraction\":0.25",
               "\"note\":\"a \\\"note\\\"\"", with(part[0], 64, "id", id_of(text, "work"))));
    CHECK(FIND(text, line, "\"fraction\":0.333333333}"));
    CHECK(FIND(nodes, line, "\"label\":\"work\"", "\"progress\":0.333333333}"));
    free(nodes);
    free(text);
}

TEST("what is pending when tracing stops is only begun, what is released unsettled says so") {
    begin_trace();
    vow_resolver *resolver;
    vow_promise *promise = named("unfinished", &resolver);
    vow_promise *delay = called(vow_delay(3600 * SECOND), "given up");
    vow_promise_release(delay);
    char *text = end_trace();
    const char *is = with(part[0], 64, "id", id_of(text, "unfinished"));
    CHECK_INT_EQ(COUNT(text, "\"ph\":\"b\"", is, "\"cat\":\"promise\""), 1);
    CHECK_INT_EQ(COUNT(text, "\"ph\":\"e\"", is, "\"cat\":\"promise\""), 0);
    CHECK_INT_EQ(COUNT(text, "\"ph\":\"b\"", "given up"), 1);
    CHECK_INT_EQ(COUNT(text, "\"ph\":\"e\"", "given up", "\"state\":\"released\""), 1);
    free(text);
    fulfil(resolver, vow_none());
    vow_promise_release(promise);
}

/* ------------------------------------------------- older and younger promises */

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

/* ------------------------------------------------------------------- the graph */

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
    json = graph(VOW_GRAPH_JSON);
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

/* ------------------------------------------------------------- labels and sites */

TEST("labels are escaped, cut at 255 bytes, and made valid UTF-8 without what is no character") {
    begin_trace();
    vow_resolver *resolver;
    char longest[600];
    memset(longest, 'l', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    static const char *const given[] = {
        "a \"b\" \\c",
        "tab\there\x01\x7f.",
        "new\nline",
        "\xff\xc3(",
        "\xe2\x82\xac \xf0\x9f\x98\x80",
        "a\xef\xbf\xbe b\xef\xbf\xbf c\xef\xb7\x90 d\xf0\x9f\xbf\xbe",
        "csi \xc2\x9b."};
    static const char *const written[] = {
        "\"label\":\"a \\\"b\\\" \\\\c\"",
        "\"label\":\"tab here  .\"",
        "\"label\":\"new\\nline\"",
        "\"label\":\"\xef\xbf\xbd\xef\xbf\xbd(\"",
        "\"label\":\"\xe2\x82\xac \xf0\x9f\x98\x80\"",
        "\"label\":\"a\xef\xbf\xbd b\xef\xbf\xbd c\xef\xbf\xbd d\xef\xbf\xbd\"",
        "\"label\":\"csi  .\""};
    enum { labels = sizeof given / sizeof *given };
    for (int i = 0; i < labels; i++) {
        vow_promise *promise = named(given[i], &resolver);
        fulfil(resolver, vow_none());
        vow_promise_release(promise);
    }
    vow_promise *overlong = named(longest, &resolver);
    fulfil(resolver, vow_none());
    vow_promise_release(overlong);
    vow_promise *renamed = named("before", &resolver);
    vow_promise_set_label(renamed, "after");
    vow_promise_set_label(renamed, NULL);
    vow_promise_set_label(no_promise, "nobody");
    fulfil(resolver, vow_none());
    vow_promise_release(renamed);
    char *text = end_trace();
    for (int i = 0; i < labels; i++) {
        if (!CHECK(FIND(text, line, "\"ph\":\"b\"", written[i]))) {
            printf("# %s\n", written[i]);
        }
    }
    longest[255] = '"';
    longest[256] = 0;
    CHECK(FIND(text, line, "\"ph\":\"b\"", longest));
    longest[255] = 'l';
    longest[256] = '"';
    longest[257] = 0;
    CHECK_INT_EQ(COUNT(text, longest), 0);
    CHECK_INT_EQ(COUNT(text, "before"), 0);
    CHECK_INT_EQ(COUNT(text, "after"), 0);
    free(text);
}

static vow_value reject_it(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_error("test", 1, "no");
}

/* What goes to the standard error output while fn runs; to be freed. */
static char *said_by(void (*fn)(void)) {
    int saved = dup(2);
    const char *path = new_path();
    int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(file, 2);
    close(file);
    fn();
    dup2(saved, 2);
    close(saved);
    char *text = whole_file(path);
    unlink(path);
    return text;
}

static void leaves_rejections(void) {
    vow_reaction reaction;
    memset(&reaction, 0, sizeof reaction);
    reaction.size = sizeof reaction;
    reaction.on_fulfilled = reject_it;
    reaction.executor = vow_executor_inline();
    vow_promise *plain = then_inline(fulfilled_int(1), reject_it, NULL);
    vow_promise *unnamed = vow_then_with(fulfilled_int(1), &reaction);
    reaction.label = "at first";
    vow_promise *renamed = vow_then_with(fulfilled_int(1), &reaction);
    vow_promise *kept = vow_then_with(fulfilled_int(1), &reaction);
    vow_promise_set_label(plain, "plain");
    vow_promise_set_label(unnamed, "unnamed");
    vow_promise_set_label(renamed, "renamed");
    vow_promise_release(plain);
    vow_promise_release(unnamed);
    vow_promise_release(renamed);
    vow_promise_release(kept);
}

TEST("reports of unhandled rejections have the label that the promise has now, and its site") {
    vow_trace_stop();
    CHECK_INT_EQ(vow_trace_start(NULL), 0);
    char *text = said_by(leaves_rejections);
    CHECK(FIND(text, line, "of 'plain' made at "));
    CHECK(FIND(text, line, "of 'unnamed' made at "));
    CHECK(FIND(text, line, "of 'renamed' made at "));
    CHECK(FIND(text, line, "of 'at first' made at "));
    CHECK_INT_EQ(COUNT(text, "unhandled rejection"), 4);
    free(text);
    CHECK_INT_EQ(vow_trace_stop(), 0);
    text = said_by(leaves_rejections);
    CHECK_INT_EQ(COUNT(text, "of 'at first'"), 2);
    CHECK_INT_EQ(COUNT(text, "made at"), 0);
    free(text);
}

__attribute__((noinline)) static vow_promise *made_here(vow_resolver **resolver) {
    vow_promise *promise = vow_promise_create(resolver);
    vow_promise_set_label(promise, "site plain");
    return promise;
}

__attribute__((noinline)) static vow_promise *combined_here(void) {
    vow_promise *two[2] = {fulfilled_int(1), vow_delay(50 * MILLISECOND)};
    vow_promise *all = vow_all(two, 2);
    vow_promise_set_label(all, "site all");
    return all;
}

static vow_value wait_a_while(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_from_promise(vow_delay(50 * MILLISECOND));
}

__attribute__((noinline)) static vow_promise *mapped_here(void) {
    vow_value one = vow_int(1);
    vow_promise *map = vow_map(vow_list(&one, 1), wait_a_while, NULL, 0);
    vow_promise_set_label(map, "site map");
    return map;
}

/* Of the program, which comes first. */
static int take_base(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    *(uintptr_t *)context = object->dlpi_addr;
    return 1;
}

/* Whether the site is the program's, and in the 512 bytes behind the function. */
static void site_is_in(const char *text, const char *label, const void *function) {
    char site[600];
    char name[80];
    snprintf(name, sizeof name, "\"label\":\"%s\"", label);
    CHECK(FIND(text, line, "\"ph\":\"b\"", name));
    if (!CHECK(text_after(line, "\"site\":", site, sizeof site))) {
        return;
    }
    CHECK(strncmp(site, program_invocation_short_name, strlen(program_invocation_short_name)) == 0);
    const char *plus = strchr(site, '+');
    uintptr_t base = 0;
    dl_iterate_phdr(take_base, &base);
    if (CHECK(plus != NULL)) {
        uintptr_t at = base + strtoull(plus + 1, NULL, 16);
        if (!CHECK(at > (uintptr_t)function && at < (uintptr_t)function + 512)) {
            printf("# %s is at %s\n", label, site);
        }
    }
}

TEST("a promise's site is the program's function that made it") {
    begin_trace();
    vow_resolver *resolver;
    vow_promise *promise = made_here(&resolver);
    fulfil(resolver, vow_none());
    vow_promise_release(promise);
    CHECK_INT_EQ(code_of(combined_here()), 0);
    CHECK_INT_EQ(code_of(mapped_here()), 0);
    char *text = end_trace();
    site_is_in(text, "site plain", (const void *)(uintptr_t)made_here);
    site_is_in(text, "site all", (const void *)(uintptr_t)combined_here);
    site_is_in(text, "site map", (const void *)(uintptr_t)mapped_here);
    free(text);
}
