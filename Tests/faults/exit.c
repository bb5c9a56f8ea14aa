/* Tests programs that end in the middle of work: at once, cleanly, whatever is queued where. */
#define HARNESS_OWN_MAIN
#include "../c/worker.h"
#include <signal.h>
#include <sys/wait.h>

/* Pieces of work of which the first ends and no other one: done to the end, it would take for ever.
 */
#define PIECES 3000
#define STATUS 5

static const char *executors[] = {"pool", "serial", "custom", "main"};
static const char *ways[] = {"returns from main", "calls exit", "calls exit in a handler",
                             "calls quick_exit", "is ended by a signal"};

/* The child: queues work, and ends in one of the ways. */
static worker own;
static atomic_int begun;
static const char *way;

static vow_value never_end(vow_value input, void *context) {
    (void)context;
    int before = atomic_fetch_add(&begun, 1);
    if (before == 0) {
        return vow_value_retain(input);
    }
    if (before == 1 && strcmp(way, ways[2]) == 0) {
        exit(STATUS);
    }
    for (;;) {
        pause();
    }
}

/* The library can be used while the process ends. */
static void use_at_exit(void) {
    vow_promise *promise = then_inline(fulfilled_int(1), add_one, NULL);
    if (int_of(then_inline(promise, add_one, NULL)) != 3) {
        _exit(6);
    }
}

static vow_executor *executor_named(const char *name) {
    if (strcmp(name, "serial") == 0) {
        return vow_executor_serial("queued");
    }
    if (strcmp(name, "custom") == 0) {
        worker_start(&own);
        return vow_executor_custom(&worker_class, &own);
    }
    return strcmp(name, "main") == 0 ? vow_executor_main() : vow_executor_pool();
}

static int queue_and_end(const char *name) {
    static vow_promise *last; /* kept, as a program does that is in the middle of something */
    vow_executor *executor = executor_named(name);
    atexit(use_at_exit);
    at_quick_exit(use_at_exit);
    for (int i = 0; i < PIECES; i++) {
        vow_promise_release(last);
        last = vow_async(executor, never_end, NULL);
        last = vow_then(then_on(executor, last, never_end, NULL), never_end, NULL);
    }
    vow_executor_release(executor);
    /* Nobody runs the main queue here. */
    if (strcmp(name, "main") != 0) {
        reaches(&begun, 2);
    }
    if (strcmp(way, ways[4]) == 0) {
        raise(SIGTERM);
    }
    if (strcmp(way, ways[1]) == 0 || strcmp(name, "main") == 0) {
        exit(STATUS);
    }
    if (strcmp(way, ways[2]) == 0) {
        pause();
    }
    if (strcmp(way, ways[3]) == 0) {
        quick_exit(STATUS);
    }
    return STATUS;
}

/* The parent: starts this program anew, as libdispatch has no threads in a mere fork. */
static void check_end(const char *name, const char *how) {
    char path[4096];
    int status = -1;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (!CHECK(length > 0)) {
        return;
    }
    path[length] = 0;
    char *arguments[] = {path, "--end", (char *)(uintptr_t)name, (char *)(uintptr_t)how, NULL};
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_LIMIT);
        execv(path, arguments);
        _exit(9);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    bool good = strcmp(how, ways[4]) == 0
                    ? CHECK(WIFSIGNALED(status)) && CHECK_INT_EQ(WTERMSIG(status), SIGTERM)
                    : CHECK(WIFEXITED(status)) && CHECK_INT_EQ(WEXITSTATUS(status), STATUS);
    if (!good) {
        printf("# work on %s, and the program %s\n", name, how);
    }
}

TEST("a program ends at once while work is queued, and can use the library as it ends") {
    for (size_t i = 0; i < sizeof executors / sizeof executors[0]; i++) {
        for (size_t j = 0; j < sizeof ways / sizeof ways[0]; j++) {
            check_end(executors[i], ways[j]);
        }
    }
}

int main(int count, char **arguments) {
    if (count == 4 && strcmp(arguments[1], "--end") == 0) {
        way = arguments[3];
        return queue_and_end(arguments[2]);
    }
    return harness_main(count > 1 ? arguments[1] : NULL);
}
