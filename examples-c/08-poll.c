/* 08-poll.c: promises in a program that has a poll(2) loop of its own, and keeps it. */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "common.h"

/* ---------------------------------------------------------------- The program as it was
 *
 * A thermometer measures on a thread of its own and writes each reading, one byte, into a pipe. The
 * program's loop polls that pipe. */

struct thermometer {
    int from, to; /* the pipe */
    bool measuring;
    pthread_t thread;
    vow_resolver *waiting; /* new: who wants the reading */
};

static void *measure(void *context) {
    const struct thermometer *thermometer = context;
    unsigned char degrees = 21;
    return write(thermometer->to, &degrees, 1) == 1 ? context : NULL;
}

static void on_reading(struct thermometer *thermometer) {
    unsigned char degrees;
    if (read(thermometer->from, &degrees, 1) == 1) {
        vow_resolve(thermometer->waiting, vow_int(degrees)); /* new: its handler runs next turn */
        vow_resolver_release(thermometer->waiting);
        thermometer->waiting = NULL;
    }
}

/* ---------------------------------------------------------------- What is new */

static vow_value say(vow_value input, void *context) {
    (void)input;
    printf("%s\n", (const char *)context);
    return vow_none();
}

/* A handler, so it runs on the loop's thread, as everything here does: no field needs a lock. */
static vow_value switch_on(vow_value input, void *context) {
    struct thermometer *thermometer = context;
    vow_promise *reading = vow_promise_create(&thermometer->waiting);
    (void)input;
    thermometer->measuring = pthread_create(&thermometer->thread, NULL, measure, thermometer) == 0;
    if (!thermometer->measuring) {
        vow_resolver_release(thermometer->waiting); /* a broken promise */
    }
    return vow_from_promise(reading);
}

int main(void) {
    int ends[2];
    vow_loop *loop = vow_loop_create();
    if (loop == NULL || pipe(ends) != 0) {
        return 1;
    }
    struct thermometer thermometer = {.from = ends[0], .to = ends[1]};

    /* Made on the thread of a loop and outside of any handler, these run on that loop. */
    vow_promise_release(vow_then(vow_delay(10 * VOW_MS), say, "after 10 ms"));
    vow_promise_release(vow_then(vow_delay(20 * VOW_MS), say, "after 20 ms"));
    vow_promise *reading = vow_then(vow_delay(30 * VOW_MS), say, "after 30 ms");
    reading = vow_then(reading, switch_on, &thermometer);

    /* The program's loop: one entry more. The descriptor can be read while a handler waits to be
     * run or a timer is due; nothing runs but inside vow_loop_run_once. */
    struct pollfd watched[] = {
        {.fd = thermometer.from, .events = POLLIN},
        {.fd = vow_loop_fd(loop), .events = POLLIN},
    };
    while (vow_promise_state(reading) == VOW_PENDING) {
        if (poll(watched, 2, -1) < 0) {
            continue; /* a signal */
        }
        if (watched[0].revents != 0) {
            on_reading(&thermometer);
        }
        if (watched[1].revents != 0) {
            vow_loop_run_once(loop, 0);
        }
    }
    show_result("degrees", reading);

    if (thermometer.measuring) {
        pthread_join(thermometer.thread, NULL);
    }
    close(ends[0]);
    close(ends[1]);
    vow_loop_destroy(loop);
    return nothing_left();
}
