/* idle.c: a loop that has nothing to do does nothing: idle SECONDS HOW.
 *
 * It has a timer that is an hour away and a descriptor on which nothing arrives. HOW says where the
 * thread waits: once (vow_loop_run_once), until (vow_loop_run_until), poll (the program's own poll
 * on vow_loop_fd). A thread that wakes up has to go to sleep again, and the kernel counts that as a
 * voluntary switch: 1 for the whole time, of all threads together, is the one sleep that there is.
 * One that does not even sleep is known by its processor time. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "vow.h"

#define SECOND INT64_C(1000000000)

struct usage {
    long switches, microseconds;
};

/* Of all threads that this process has and had. */
static struct usage usage_now(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (struct usage){
        .switches = usage.ru_nvcsw,
        .microseconds = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                        usage.ru_utime.tv_usec + usage.ru_stime.tv_usec,
    };
}

static int64_t clock_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

static int report(bool good, const char *how, const char *what) {
    printf("%s %s: %s\n", good ? "ok" : "not ok", how, what);
    return good ? 0 : 1;
}

/* Waits in the way that is asked for. Whether the time was up and nothing ran. */
static bool wait_idly(vow_loop *loop, vow_promise *promise, int64_t ns, const char *how) {
    if (strcmp(how, "once") == 0) {
        return vow_loop_run_once(loop, ns) == 0;
    }
    if (strcmp(how, "until") == 0) {
        return vow_loop_run_until(loop, promise, ns) == VOW_PENDING;
    }
    struct pollfd watched = {.fd = vow_loop_fd(loop), .events = POLLIN};
    return poll(&watched, 1, (int)(ns / 1000000)) == 0;
}

static vow_value must_not_run(vow_value input, void *context) {
    (void)input;
    *(bool *)context = true;
    return vow_none();
}

static int idle(vow_loop *loop, int fd, int64_t ns, const char *how) {
    bool ran = false;
    char text[160];
    vow_promise *far = vow_then(vow_delay(3600 * SECOND), must_not_run, &ran);
    vow_promise *silent = vow_then(vow_fd_ready(fd, VOW_READ), must_not_run, &ran);
    vow_loop_run_once(loop, 0); /* all that there was to do */

    int64_t begin = clock_now();
    struct usage before = usage_now();
    bool idle = wait_idly(loop, silent, ns, how);
    struct usage after = usage_now();
    int64_t took = clock_now() - begin;

    long sleeps = after.switches - before.switches;
    long busy = after.microseconds - before.microseconds;
    snprintf(text, sizeof text, "%ld wake-ups in %.3f s, %ld us of processor time", sleeps - 1,
             (double)took / (double)SECOND, busy);
    vow_cancel(far);
    vow_cancel(silent);
    vow_promise_release(far);
    vow_promise_release(silent);
    bool slept = idle && !ran && took >= ns && sleeps == 1;
    /* A hundredth of the time that it slept. */
    return report(slept && busy < took / 1000 / 100, how, text);
}

/* The same measure, of a loop that is woken: it would see it. */
static int busy(vow_loop *loop, const char *how) {
    char text[80];
    struct usage before = usage_now();
    for (int i = 0; i < 5; i++) {
        vow_promise *soon = vow_delay(SECOND / 100);
        vow_loop_run_until(loop, soon, VOW_FOREVER);
        vow_promise_release(soon);
    }
    long sleeps = usage_now().switches - before.switches;
    snprintf(text, sizeof text, "5 short timers are seen as %ld wake-ups", sleeps);
    return report(sleeps >= 5, how, text);
}

int main(int count, char **arguments) {
    int ends[2];
    int64_t seconds = count == 3 ? strtol(arguments[1], NULL, 10) : 0;
    vow_loop *loop = vow_loop_create();
    if (seconds < 1 || loop == NULL || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        fprintf(stderr, "idle SECONDS once|until|poll\n");
        return 2;
    }
    int failed = busy(loop, arguments[2]);
    failed |= idle(loop, ends[0], seconds * SECOND, arguments[2]);
    vow_loop_destroy(loop);
    failed |= report(vow_shutdown(60 * SECOND) == 0, arguments[2], "no promise is left");
    close(ends[0]);
    close(ends[1]);
    return failed;
}
