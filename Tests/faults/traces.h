/* Programs that trace, and run themselves for what would hurt the tests: MODE("name") is what such
 * a run does; run_self waits for it. */
#ifndef VOW_TEST_TRACES_H
#define VOW_TEST_TRACES_H

#include "../c/trace.h"
#include "../c/worker.h"

#include <dirent.h>
#include <sys/wait.h>

static char program_path[4096];

typedef struct mode {
    const char *name;
    void (*play)(void);
    struct mode *next;
} mode;

static mode *modes;

#define MODE(id, text)                                                                             \
    static void play_##id(void);                                                                   \
    __attribute__((constructor)) static void add_##id(void) {                                      \
        static mode self = {text, play_##id, NULL};                                                \
        self.next = modes;                                                                         \
        modes = &self;                                                                             \
    }                                                                                              \
    static void play_##id(void)

/* A promise that is called so, and settled with a value (consumed). */
static inline void label_with(const char *label, vow_value value) {
    vow_resolver *resolver;
    vow_promise *promise = vow_promise_create(&resolver);
    vow_promise_set_label(promise, label);
    vow_resolve(resolver, value);
    vow_resolver_release(resolver);
    vow_promise_release(promise);
}

static inline void label_many(const char *label, int count) {
    vow_resolver *resolver;
    for (int i = 0; i < count; i++) {
        vow_promise *promise = vow_promise_create(&resolver);
        vow_promise_set_label(promise, label);
        vow_resolve(resolver, vow_int(i));
        vow_resolver_release(resolver);
        vow_promise_release(promise);
    }
}

MODE(returns, "returns") {
    label_many("by environment", 1);
}

/* Starts this program in a mode, with a variable set if there is a name; what it says on standard
 * error goes to the descriptor, if that is not below 0. */
static inline pid_t start_self(const char *play, const char *name, const char *value, int said) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (name != NULL) {
            setenv(name, value, 1);
        }
        if (said >= 0) {
            dup2(said, 2);
        }
        execl(program_path, program_path, "--play", play, (char *)NULL);
        _exit(127);
    }
    return child;
}

/* The exit status, or below 0 the signal. */
static inline int end_of(pid_t child) {
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Runs one to its end; `said` (NULL: of no interest) gets what it said, to be freed. */
static inline int run_self(const char *play, const char *name, const char *value, char **said) {
    char path[64] = "";
    int file = -1;
    if (said != NULL) {
        make_path(path, sizeof path);
        file = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
    }
    int end = end_of(start_self(play, name, value, file));
    if (said != NULL) {
        close(file);
        *said = whole_file(path);
        unlink(path);
    }
    return end;
}

/* A history that was ended: its first line, an event on each of the others, its last line. */
static inline bool is_whole(const char *text) {
    size_t length = strlen(text);
    const char *from = strchr(text, '\n');
    while (from != NULL && from[1] == '{') {
        const char *end = strchr(from + 1, '\n');
        if (end == NULL || !(end[-1] == '}' || (end[-1] == ',' && end[-2] == '}'))) {
            return false;
        }
        from = end;
    }
    return length > 4 && from != NULL && strcmp(from, "\n]}\n") == 0;
}

static inline int traces_main(int count, char **arguments) {
    /* Read, and not executed as it is: valgrind stands in between. */
    if (readlink("/proc/self/exe", program_path, sizeof program_path - 1) <= 0) {
        return 2;
    }
    if (count < 3 || strcmp(arguments[1], "--play") != 0) {
        return harness_main(count > 1 ? arguments[1] : NULL);
    }
    alarm(CHILD_LIMIT);
    for (mode *each = modes; each != NULL; each = each->next) {
        if (strcmp(each->name, arguments[2]) == 0) {
            each->play();
            return atomic_load(&harness_failures) == 0 ? 0 : 1;
        }
    }
    return 2;
}

#endif
