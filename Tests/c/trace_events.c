/* Tests what a trace says of each kind of promise. */
#include "trace_tools.h"

static char line[8192];
static char part[2][64];

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

static vow_value fulfil_later(vow_value input, void *context) {
    (void)input;
    (void)context;
    return vow_from_promise(vow_delay(1000));
}

TEST("what a using has its functions do begins when it does, and was made where the using was") {
    vow_loop *loop = vow_loop_create();
    begin_trace();
    vow_promise *whole =
        called(vow_using(vow_delay(1000), fulfil_later, pass, NULL, NULL), "whole");
    char *nodes = graph(VOW_GRAPH_JSON);
    CHECK(!FIND(nodes, line, "\"kind\":\"releasing\"") && !FIND(nodes, line, "\"kind\":\"async\""));
    CHECK_INT_EQ(code_of(whole), 0);
    CHECK_INT_EQ(code_of(vow_using(rejected_code(5), pass, pass, NULL, NULL)), 5);
    char *text = end_trace();
    char site[128];
    CHECK(FIND(text, line, "\"ph\":\"b\"", "\"kind\":\"using\"", "\"label\":\"whole\""));
    CHECK(text_after(line, "\"site\":", site, sizeof site));
    static const char *const parts[] = {"\"kind\":\"in-use\"", "\"kind\":\"releasing\""};
    double before = strtod(strstr(line, "\"ts\":") + 5, NULL);
    for (int i = 0; i < 2; i++) {
        CHECK_INT_EQ(COUNT(text, "\"ph\":\"b\"", parts[i]), 1);
        if (CHECK(FIND(text, line, "\"ph\":\"b\"", parts[i], site))) {
            double began = strtod(strstr(line, "\"ts\":") + 5, NULL);
            CHECK(began >= before + 1);
            before = began;
        }
    }
    CHECK_INT_EQ(COUNT(text, "\"kind\":\"async\""), 0);
    free(nodes);
    free(text);
    vow_loop_destroy(loop);
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
