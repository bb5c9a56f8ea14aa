/* Tests tracing where processes begin and end: the environment, exits, kills, forks, cancelled
 * threads. The program runs itself, for each a mode of its own. What a trace must not do to its
 * host: Tests/faults/traces.c. */
#define HARNESS_OWN_MAIN
#include "trace.h"
#include "worker.h"

#include <sys/wait.h>

static char program_path[4096];
static char line[8192];

static void labelled(const char *label) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise_set_label(promise, label);
    vow_resolve(resolver, vow_int(1));
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}

static atomic_int going;

static void *goes_on(void *context) {
    for (;;) {
        labelled("still going");
        atomic_fetch_add(&going, 1);
    }
    return context;
}

/* What the program does when it runs itself: returns its exit status. */
static int play(const char *mode) {
    if (strcmp(mode, "returns") == 0) {
        labelled("by environment");
        /* Leak checks find them here. */
        static vow_resolver *resolver;
        static vow_promise *promise;
        promise = vow_promise_create(&resolver);
        vow_promise_set_label(promise, "never settled");
        return 0;
    }
    if (strcmp(mode, "busy") == 0) {
        for (int i = 0; i < 3; i++) {
            pthread_detach(start_thread(goes_on, NULL));
        }
        return reaches(&going, 2000) ? 0 : 1;
    }
    if (strcmp(mode, "killed") == 0) {
        for (int i = 0; i < 20000; i++) {
            labelled("until killed");
        }
        kill(getpid(), SIGKILL);
    }
    if (strcmp(mode, "stops first") == 0) {
        return vow_trace_stop() == 0 ? 0 : 1;
    }
    if (strcmp(mode, "graph first") == 0) {
        return vow_graph_write(1, VOW_GRAPH_JSON) == 0 ? 0 : 1;
    }
    return 2;
}

/* Runs this program in a mode with one variable set; its standard error output goes to `said`. */
static int run_self(const char *mode, const char *name, const char *value, const char *said) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setenv(name, value, 1);
        int file = open(said != NULL ? said : "/dev/null", O_CREAT | O_TRUNC | O_WRONLY, 0600);
        dup2(file, 2);
        if (said == NULL) {
            dup2(file, 1);
        }
        execl(program_path, program_path, "--play", mode, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* A history that was ended; one that was never begun may be empty. */
static void is_ended(const char *text) {
    size_t length = strlen(text);
    CHECK_STR_EQ(text + (length > 4 ? length - 4 : 0), "\n]}\n");
}

TEST("VOW_TRACE writes the history of a program to its end") {
    const char *path = new_path();
    CHECK_INT_EQ(run_self("returns", "VOW_TRACE", path, NULL), 0);
    char *text = whole_file(path);
    CHECK(FIND(text, line, "\"ph\":\"e\"", "by environment"));
    CHECK(FIND(text, line, "\"ph\":\"b\"", "never settled"));
    CHECK_INT_EQ(COUNT(text, "\"ph\":\"e\"", "never settled"), 0);
    is_ended(text);
    free(text);
    unlink(path);
}

TEST("a program that exits while its threads work leaves a whole file") {
    const char *path = new_path();
    CHECK_INT_EQ(run_self("busy", "VOW_TRACE", path, NULL), 0);
    char *text = whole_file(path);
    CHECK(FIND(text, line, "still going"));
    is_ended(text);
    free(text);
    unlink(path);
}

TEST("what a killed program has left is whole lines, but for the last") {
    const char *path = new_path();
    CHECK_INT_EQ(run_self("killed", "VOW_TRACE", path, NULL), -SIGKILL);
    char *text = whole_file(path);
    int lines = 0;
    for (char *from = strchr(text, '\n'); from != NULL; from = strchr(from + 1, '\n')) {
        const char *end = strchr(from + 1, '\n');
        CHECK(from[1] == '{');
        if (end != NULL) {
            CHECK(end[-1] == ',' && end[-2] == '}');
        }
        lines++;
    }
    CHECK(lines > 100);
    free(text);
    unlink(path);
}

TEST("VOW_TRACE with a path that cannot be written says so, and the program goes on") {
    const char *said = new_path();
    CHECK_INT_EQ(run_self("returns", "VOW_TRACE", "/nowhere/at/all", said), 0);
    char *text = whole_file(said);
    CHECK_STR_EQ(text, "vow: VOW_TRACE: cannot write /nowhere/at/all: No such file or directory\n");
    free(text);
    unlink(said);
}

TEST("VOW_TRACE and VOW_TRACK count from the first call of any function on") {
    const char *path = new_path();
    CHECK_INT_EQ(run_self("stops first", "VOW_TRACE", path, NULL), 0);
    unlink(path);
    CHECK_INT_EQ(run_self("graph first", "VOW_TRACK", "1", NULL), 0);
    CHECK_INT_EQ(run_self("graph first", "VOW_TRACK", "0", NULL), 1);
    CHECK_INT_EQ(run_self("graph first", "VOW_TRACK", "", NULL), 1);
    CHECK_INT_EQ(run_self("graph first", "VOW_TRACE", "", NULL), 1);
}

/* Whether a part goes well in a child made by fork. */
static void in_child(int (*run)(void)) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_LIMIT);
        _exit(run());
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK_INT_EQ(WEXITSTATUS(status), 0);
}

static int child_is_not_traced(void) {
    labelled("child's");
    return vow_graph_write(1, VOW_GRAPH_JSON) == VOW_EINVAL && vow_trace_stop() == VOW_EINVAL ? 0
                                                                                              : 1;
}

static int child_has_its_own(void) {
    char path[80];
    snprintf(path, sizeof path, "%s.child", trace_path);
    if (vow_trace_start(path) != 0) {
        return 1;
    }
    labelled("child's own");
    if (vow_trace_stop() != 0) {
        return 2;
    }
    char *text = whole_file(path);
    unlink(path);
    return COUNT(text, "\"ph\":\"b\"", "child's own") == 1 && COUNT(text, "parent's") == 0 &&
                   strcmp(text + strlen(text) - 4, "\n]}\n") == 0
               ? 0
               : 3;
}

TEST("a forked child is not traced, unless it begins a trace of its own") {
    begin_trace();
    char path[64];
    snprintf(path, sizeof path, "%s", trace_path);
    for (int i = 0; i < 2000; i++) {
        labelled("parent's");
    }
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise_set_label(promise, "parent's, too");
    in_child(child_is_not_traced);
    in_child(child_has_its_own);
    vow_resolver_release(resolver);
    vow_promise_release(vow_catch(promise, give_code, NULL));
    char *text = end_trace();
    CHECK_INT_EQ(COUNT(text, "\"ph\":\"b\"", "\"name\":\"parent's\""), 2000);
    CHECK_INT_EQ(COUNT(text, "child's"), 0);
    free(text);
}

static atomic_int stop_working;

static void *works(void *context) {
    while (atomic_load(&stop_working) == 0) {
        labelled("work");
    }
    return context;
}

TEST("forks while other threads are traced go well") {
    begin_trace();
    atomic_store(&stop_working, 0);
    pthread_t threads[2] = {start_thread(works, NULL), start_thread(works, NULL)};
    for (int i = 0; i < many_of(10, 50); i++) {
        in_child(i % 2 == 0 ? child_is_not_traced : child_has_its_own);
    }
    atomic_store(&stop_working, 1);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    char *text = end_trace();
    is_ended(text);
    free(text);
}

static void *works_until_cancelled(void *context) {
    for (;;) {
        labelled("cancelled one day");
        pthread_testcancel();
    }
    return context;
}

TEST("a thread that is cancelled leaves the trace to the others") {
    begin_trace();
    for (int i = 0; i < 20; i++) {
        pthread_t thread = start_thread(works_until_cancelled, NULL);
        usleep(20000);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
        labelled("next");
    }
    char *text = end_trace();
    CHECK_INT_EQ(COUNT(text, "\"ph\":\"b\"", "\"name\":\"next\""), 20);
    free(text);
}

TEST("very many promises at once are all known") {
    enum { many = 100000 };
    begin_trace();
    static vow_promise *all[many];
    static vow_resolver *resolvers[many];
    int count = many_of(many / 10, many);
    for (int i = 0; i < count; i++) {
        all[i] = vow_promise_create(&resolvers[i]);
    }
    char *json = graph(VOW_GRAPH_JSON);
    CHECK_INT_EQ(COUNT(json, "\"state\":\"pending\""), count);
    free(json);
    for (int i = 0; i < count; i++) {
        vow_resolve(resolvers[i], vow_int(i));
        vow_resolver_release(resolvers[i]);
    }
    for (int i = 0; i < count; i += 2) {
        vow_promise_release(all[i]);
    }
    for (int i = 1; i < count; i += 2) {
        vow_promise_release(all[i]);
    }
    json = graph(VOW_GRAPH_JSON);
    CHECK_INT_EQ(COUNT(json, "\"id\":"), 0);
    free(json);
    char *text = end_trace();
    CHECK_INT_EQ(COUNT(text, "\"ph\":\"e\""), count);
    free(text);
}

int main(int count, char **arguments) {
    /* Read, and not executed as it is: valgrind stands in between. */
    if (readlink("/proc/self/exe", program_path, sizeof program_path - 1) <= 0) {
        return 2;
    }
    if (count > 2 && strcmp(arguments[1], "--play") == 0) {
        return play(arguments[2]);
    }
    return harness_main(count > 1 ? arguments[1] : NULL);
}
