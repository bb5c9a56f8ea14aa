/* Scenes that are played in a child process, under a limit of the system: the child is this program
 * anew, as in a mere fork the pool has no threads. */
#ifndef VOW_TEST_LIMITED_H
#define VOW_TEST_LIMITED_H

#define HARNESS_OWN_MAIN
#include "../c/tools.h"
#include <sys/resource.h>
#include <sys/wait.h>

/* Sanitizers and valgrind reserve addresses as they like, so there the scenes are played without
 * limits, and nothing is refused. */
static inline bool is_limited(void) {
    return slowness() == 1;
}

static inline int64_t of_status(const char *word) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long long found = -1;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, word, strlen(word)) == 0) {
            found = strtoll(line + strlen(word) + 1, NULL, 10);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    CHECK(found >= 0);
    return found;
}

/* From now on the process gets no more address space than it has and so many bytes. */
static inline void limit_space(int64_t more) {
    if (is_limited()) {
        struct rlimit limit;
        CHECK_INT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
        limit.rlim_cur = (rlim_t)(of_status("VmSize") * 1024 + more);
        CHECK_INT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    }
}

static inline void lift_limit(void) {
    struct rlimit limit;
    CHECK_INT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    CHECK_INT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}

typedef struct piece {
    struct piece *next;
} piece;

/* Takes all the memory that malloc has. */
static inline piece *take_all(void) {
    piece *pieces = NULL;
    limit_space(0);
    for (size_t size = (size_t)1 << 22; is_limited() && size >= sizeof(piece); size /= 2) {
        for (piece *one = malloc(size); one != NULL; one = malloc(size)) {
            one->next = pieces;
            pieces = one;
        }
    }
    return pieces;
}

static inline void give_all_back(piece *pieces) {
    while (pieces != NULL) {
        piece *next = pieces->next;
        free(pieces);
        pieces = next;
    }
    lift_limit();
}

/* A wait that is refused, because it would take the pool's last thread, counts here. */
static atomic_int refused;

static inline bool waits_or_is_refused(vow_promise *promise) {
    int state = vow_await(promise, VOW_FOREVER, NULL);
    if (state == VOW_ENOMEM) {
        atomic_fetch_add(&refused, 1);
        return false;
    }
    return CHECK_INT_EQ(state, VOW_FULFILLED);
}

typedef struct limited_scene {
    const char *name;
    void (*play)(void);
} limited_scene;

static const limited_scene *limited_scenes;

/* In the parent: whether a scene goes well in a child. */
static inline bool goes_well(const char *name) {
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_LIMIT);
        execl(path, path, "--play", name, (char *)NULL);
        _exit(9);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status)) {
        printf("# %s: ended by signal %d\n", name, WTERMSIG(status));
    }
    return CHECK(WIFEXITED(status)) && CHECK_INT_EQ(WEXITSTATUS(status), 0);
}

static inline int limited_main(int count, char **arguments, const limited_scene *scenes) {
    limited_scenes = scenes;
    if (count < 3 || strcmp(arguments[1], "--play") != 0) {
        return harness_main(count > 1 ? arguments[1] : NULL);
    }
    for (const limited_scene *scene = scenes; scene->name != NULL; scene++) {
        if (strcmp(scene->name, arguments[2]) == 0) {
            scene->play();
            return atomic_load(&harness_failures) == 0 ? 0 : 1;
        }
    }
    return 8;
}

#endif
