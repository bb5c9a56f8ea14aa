/* Tests a shutdown with each choice of failing allocations. It is for good, so each time a process
 * of its own plays the scene: this program, with a plan in its environment. */
#include "replay.h"
#include "scenes_shutdown.h"
#include <sys/wait.h>

static const scene once = {"a shutdown", scene_shutdown};

/* What such a process says when everything went well. */
#define NOTHING_LACKED 0
#define MEMORY_LACKED 10

/* Plays the scene as the environment says, and ends. */
static void play_as_told(void) {
    const char *told = getenv("SHUTDOWN_PLAN");
    if (told != NULL) {
        char *end;
        unsigned long kind = strtoul(told, &end, 10);
        uint64_t number = strtoull(end, &end, 10);
        play_traced(&once, (plan)kind, number, strtol(end, NULL, 10) != 0);
        bool good = atomic_load(&harness_failures) == 0;
        fflush(stdout);
        _exit(!good ? 1 : lacked_memory() ? MEMORY_LACKED : NOTHING_LACKED);
    }
}

/* The same in a new process; its exit status. */
static int play_elsewhere(plan kind, uint64_t number, bool is_traced) {
    char text[64];
    char program[4096] = "";
    /* Read, and not executed as it is: valgrind stands in between. */
    CHECK(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    snprintf(text, sizeof text, "%d %" PRIu64 " %d", (int)kind, number, is_traced);
    setenv("SHUTDOWN_PLAN", text, 1);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_LIMIT);
        execl(program, program, (char *)NULL);
        _exit(2);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    unsetenv("SHUTDOWN_PLAN");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void play_for_each(plan kind, bool is_traced) {
    int status = MEMORY_LACKED;
    uint64_t number = 0;
    while (status == MEMORY_LACKED) {
        number++;
        status = play_elsewhere(kind, number, is_traced);
    }
    CHECK_INT_EQ(status, NOTHING_LACKED);
    CHECK(number > 1);
}

TEST("a shutdown leaves nothing behind") {
    play_as_told();
    CHECK_INT_EQ(play_elsewhere(NO_FAILURE, 0, false), NOTHING_LACKED);
}

TEST("a shutdown survives the failure of each single allocation") {
    play_for_each(ONE_FAILURE, false);
    play_for_each(ONE_FAILURE, true);
}

TEST("a shutdown survives when from some allocation on all fail") {
    play_for_each(FAILURES_FROM, false);
    play_for_each(FAILURES_FROM, true);
}

TEST("a shutdown survives failures at random") {
    for (uint64_t seed = 1; seed <= (slowness() > 1 ? 5 : 50); seed++) {
        int status = play_elsewhere(RANDOM_FAILURES, seed, seed % 2 == 1);
        CHECK(status == NOTHING_LACKED || status == MEMORY_LACKED);
    }
}
