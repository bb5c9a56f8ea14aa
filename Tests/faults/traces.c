/* Tests that a trace hurts nobody: readers that are slow, gone or never there, full disks, ends
 * without a word. The program runs itself, for
 * each a mode of its own. */
#define HARNESS_OWN_MAIN
#include "traces.h"

#include <poll.h>
#include <sys/resource.h>

/* ------------------------------------------------------------------- readers */

/* A pipe with a name, and a reader that does not read; to be closed. */
static int idle_reader(void) {
    new_path();
    CHECK_INT_EQ(mkfifo(trace_path, 0600), 0);
    int reader = open(trace_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    CHECK(reader >= 0);
    return reader;
}

static volatile sig_atomic_t pipe_signals;

static void count_signal(int number) {
    (void)number;
    pipe_signals++;
}

MODE(reader_leaves, "reader leaves") {
    int reader = idle_reader();
    CHECK_INT_EQ(vow_trace_start(trace_path), 0);
    close(reader);
    unlink(trace_path);
    label_many("nobody reads this", 3000);
    int missing = vow_trace_stop();
    CHECK_INT_EQ(errno, EPIPE);
    CHECK(missing > 8000);
}

TEST("a reader that has gone ends the history and not the program, which is told once") {
    char *said = NULL;
    CHECK_INT_EQ(run_self("reader leaves", NULL, NULL, &said), 0);
    CHECK_INT_EQ(COUNT(said, "vow: "), 1);
    CHECK_INT_EQ(COUNT(said, "vow: trace: cannot write ", "Broken pipe"), 1);
    free(said);
}

MODE(handles_signals, "handles signals") {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count_signal;
    sigaction(SIGPIPE, &action, NULL);
    play_reader_leaves();
    CHECK_INT_EQ(pipe_signals, 0);
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    close(ends[0]);
    CHECK_INT_EQ(vow_trace_start(NULL), 0);
    CHECK_INT_EQ(vow_graph_write(ends[1], VOW_GRAPH_JSON), VOW_EINVAL);
    CHECK_INT_EQ(errno, EPIPE);
    CHECK_INT_EQ(pipe_signals, 0);
    CHECK_INT_EQ(write(ends[1], "x", 1), -1);
    CHECK_INT_EQ(pipe_signals, 1);
    CHECK_INT_EQ(vow_trace_stop(), 0);
}

MODE(has_a_signal, "has a signal") {
    sigset_t set;
    sigset_t pending;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, NULL);
    play_reader_leaves();
    sigpending(&pending);
    CHECK(!sigismember(&pending, SIGPIPE));
    raise(SIGPIPE);
    play_reader_leaves();
    sigpending(&pending);
    CHECK(sigismember(&pending, SIGPIPE));
}

TEST("the program's own SIGPIPE is neither raised by a trace or graph nor taken away") {
    CHECK_INT_EQ(run_self("handles signals", NULL, NULL, NULL), 0);
    CHECK_INT_EQ(run_self("has a signal", NULL, NULL, NULL), 0);
}

MODE(stderr_has_gone, "standard error has gone") {
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    dup2(ends[1], 2);
    close(ends[0]);
    vow_promise_release(rejected_code(1)); /* is reported */
}

TEST("a report of an unhandled rejection raises no SIGPIPE") {
    CHECK_INT_EQ(run_self("standard error has gone", NULL, NULL, NULL), 0);
}

MODE(no_reader, "no reader") {
    new_path();
    CHECK_INT_EQ(mkfifo(trace_path, 0600), 0);
    CHECK_INT_EQ(vow_trace_start(trace_path), VOW_EINVAL);
    CHECK_INT_EQ(errno, ENXIO);
    CHECK_INT_EQ(vow_trace_stop(), VOW_EINVAL);
    unlink(trace_path);
}

TEST("a pipe without a reader is refused at once, and the program goes on") {
    CHECK_INT_EQ(run_self("no reader", NULL, NULL, NULL), 0);
    char *said = NULL;
    new_path();
    CHECK_INT_EQ(mkfifo(trace_path, 0600), 0);
    CHECK_INT_EQ(run_self("returns", "VOW_TRACE", trace_path, &said), 0);
    CHECK_INT_EQ(COUNT(said, "vow: VOW_TRACE: cannot write ", "a pipe that nobody reads"), 1);
    CHECK_INT_EQ(COUNT(said, "vow: "), 1);
    unlink(trace_path);
    free(said);
}

static void *labels_many(void *context) {
    label_many("in vain", 5000);
    return context;
}

/* All end although not a byte is read meanwhile. */
static void work_unread(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        threads[i] = start_thread(labels_many, NULL);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
}

typedef struct reading {
    int from;
    char *text;
    size_t length;
} reading;

static void *reads_all(void *context) {
    enum { most = 1 << 24 };
    reading *self = context;
    self->text = calloc(1, most);
    for (;;) {
        struct pollfd entry = {self->from, POLLIN, 0};
        poll(&entry, 1, -1);
        ssize_t got = read(self->from, self->text + self->length, most - 1 - self->length);
        if (got <= 0) {
            return NULL;
        }
        self->length += (size_t)got;
    }
}

/* What the events of the trace say is missing. */
static int64_t dropped_in(const char *text) {
    int64_t sum = 0;
    static const char key[] = "\"cat\":\"dropped\"";
    for (const char *at = strstr(text, key); at != NULL; at = strstr(at + 1, key)) {
        const char *number = strstr(at, "\"events\":");
        sum += number != NULL ? strtoll(number + 9, NULL, 10) : 0;
    }
    return sum;
}

TEST("a slow reader holds up no thread: events are dropped, counted, and the rest is whole") {
    vow_trace_stop();
    reading reader = {idle_reader(), NULL, 0};
    CHECK_INT_EQ(vow_trace_start(trace_path), 0);
    unlink(trace_path);
    work_unread();
    pthread_t thread = start_thread(reads_all, &reader);
    label_many("after the gap", 3);
    int missing = vow_trace_stop();
    pthread_join(thread, NULL);
    close(reader.from);
    int events = COUNT(reader.text, "{\"ph\":");
    CHECK(missing > 0);
    CHECK_INT_EQ(dropped_in(reader.text), missing);
    CHECK(events > 100);
    CHECK(events + missing >= 3 * 20003);
    CHECK(is_whole(reader.text));
    free(reader.text);
}

MODE(never_read, "never read") {
    int reader = idle_reader();
    CHECK_INT_EQ(vow_trace_start(trace_path), 0);
    unlink(trace_path);
    work_unread();
    int missing = vow_trace_stop();
    CHECK_INT_EQ(errno, EAGAIN);
    CHECK(missing > 10000);
    close(reader);
}

TEST("what nobody reads to the end is given up by vow_trace_stop, which counts it, and said") {
    char *said = NULL;
    CHECK_INT_EQ(run_self("never read", NULL, NULL, &said), 0);
    CHECK_INT_EQ(COUNT(said, "vow: trace: ", "is slow: events are dropped"), 1);
    CHECK_INT_EQ(COUNT(said, "vow: trace: ", " events are not in "), 1);
    CHECK_INT_EQ(COUNT(said, "vow: "), 2);
    free(said);
}

MODE(says_to_nobody, "says to nobody") {
    int ends[2];
    static char much[4096];
    CHECK_INT_EQ(pipe(ends), 0);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], much, sizeof much) > 0) {
    }
    fcntl(ends[1], F_SETFL, 0);
    int saved = dup(2);
    dup2(ends[1], 2);
    int reader = idle_reader();
    CHECK_INT_EQ(vow_trace_start(trace_path), 0);
    unlink(trace_path);
    work_unread();
    CHECK(vow_trace_stop() > 0);
    dup2(saved, 2);
    close(reader);
}

TEST("a full pipe for standard error holds up nobody who has to say that events are dropped") {
    CHECK_INT_EQ(run_self("says to nobody", NULL, NULL, NULL), 0);
}

/* --------------------------------------------------------------- full disks */

TEST("VOW_TRACE on a full disk says so once, and the program goes on") {
    char *said = NULL;
    CHECK_INT_EQ(run_self("returns", "VOW_TRACE", "/dev/full", &said), 0);
    CHECK_STR_EQ(said, "vow: VOW_TRACE: cannot write /dev/full: No space left on device\n");
    free(said);
}

MODE(fills_up, "fills up") {
    struct rlimit limit = {100000, RLIM_INFINITY};
    new_path();
    CHECK_INT_EQ(vow_trace_start(trace_path), 0);
    CHECK_INT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    label_many("before the gap", 1000);
    limit.rlim_cur = RLIM_INFINITY;
    CHECK_INT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    label_many("after the gap", 1000);
    int missing = vow_trace_stop();
    CHECK_INT_EQ(errno, EFBIG);
    char *text = whole_file(trace_path);
    unlink(trace_path);
    int events = COUNT(text, "{\"ph\":", "}");
    CHECK(missing >= 3000 && events + missing >= 6000);
    CHECK_INT_EQ(strlen(text), 100000);
    CHECK_INT_EQ(COUNT(text, "after the gap"), 0);
    free(text);
}

TEST("a disk that fills up ends the history, raises no signal, and is said once") {
    char *said = NULL;
    CHECK_INT_EQ(run_self("fills up", NULL, NULL, &said), 0);
    CHECK_INT_EQ(COUNT(said, "vow: trace: cannot write ", "File too large"), 1);
    CHECK_INT_EQ(COUNT(said, "vow: "), 1);
    free(said);
}

MODE(never_begins, "never begins") {
    struct rlimit limit = {0, RLIM_INFINITY};
    new_path();
    CHECK_INT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_INT_EQ(vow_trace_start(trace_path), VOW_EINVAL);
    CHECK_INT_EQ(errno, EFBIG);
    CHECK_INT_EQ(access(trace_path, F_OK), -1);
    CHECK_INT_EQ(vow_trace_start("/dev/full"), VOW_EINVAL);
    CHECK_INT_EQ(errno, ENOSPC);
}

TEST("a history whose first line cannot be written is refused, and no file is left") {
    CHECK_INT_EQ(run_self("never begins", NULL, NULL, NULL), 0);
}

/* ------------------------------------------------------- ends without a word */

MODE(leaves_at_once, "leaves at once") {
    label_many("before it leaves", 20);
    _exit(harness_failures == 0 ? 0 : 1);
}

TEST("what a program has done before _exit is in its trace, each event") {
    new_path();
    CHECK_INT_EQ(run_self("leaves at once", "VOW_TRACE", trace_path, NULL), 0);
    char *text = whole_file(trace_path);
    CHECK_INT_EQ(COUNT(text, "\"ph\":\"e\"", "before it leaves"), 20);
    CHECK_INT_EQ(text[strlen(text) - 1], '}');
    unlink(trace_path);
    free(text);
}

MODE(is_killed, "is killed") {
    label_many("until killed", 20000);
    kill(getpid(), SIGKILL);
}

TEST("a killed program has lost no more than 32 KB of its trace") {
    new_path();
    CHECK_INT_EQ(run_self("is killed", "VOW_TRACE", trace_path, NULL), -SIGKILL);
    char *text = whole_file(trace_path);
    CHECK(COUNT(text, "\"ph\":\"e\"", "until killed") >= 20000 - 32768 / 100);
    unlink(trace_path);
    free(text);
}

static int threads_here(void) {
    char *status = NULL;
    size_t size = 0;
    int count = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && getline(&status, &size, file) > 0) {
        sscanf(status, "Threads: %d", &count);
    }
    fclose(file);
    free(status);
    return count;
}

MODE(counts_threads, "counts threads") {
    vow_trace_stop();
    int before = threads_here();
    CHECK(before >= 1);
    new_path();
    CHECK_INT_EQ(vow_trace_start(trace_path), 0);
    label_many("alone", 2000);
    CHECK_INT_EQ(threads_here(), before);
    CHECK_INT_EQ(vow_trace_stop(), 0);
    unlink(trace_path);
}

TEST("a trace has no thread of its own, so a limit of threads does not stop it") {
    CHECK_INT_EQ(run_self("counts threads", NULL, NULL, NULL), 0);
}

int main(int count, char **arguments) {
    return traces_main(count, arguments);
}
