/* Scenes of executors on the program's own dispatch queues, and on the main queue. */
#ifndef VOW_TEST_SCENES_QUEUES_H
#define VOW_TEST_SCENES_QUEUES_H

#include "../c/dispatch.h"
#include "cast.h"
#include <poll.h>

static void scene_queue(cast *self, void *attribute, uint32_t flags) {
    void *queue = dispatch_queue_create("faults", attribute);
    vow_executor *executor = vow_executor_dispatch(queue, flags);
    dispatch_release(queue);
    vow_promise *promises[6];
    for (int i = 0; i < 6; i++) {
        promises[i] =
            cast_link(self, executor, vow_promise_with(cast_object(self)), make_promise, pass_on);
        promises[i] = cast_link(self, executor, promises[i], make_string, NULL);
    }
    vow_executor_release(executor);
    for (int i = 0; i < 6; i++) {
        settles(promises[i], 0);
    }
}

static void scene_serial_queue_of_program(cast *self) {
    scene_queue(self, QUEUE_SERIAL, VOW_SERIAL);
}

static void scene_plain_queue(cast *self) {
    scene_queue(self, QUEUE_CONCURRENT, 0);
}

static void scene_barriers(cast *self) {
    scene_queue(self, QUEUE_CONCURRENT, VOW_BARRIER);
}

/* Does what the main queue has, until no reaction waits any more, in this scene or behind it. */
static void run_main_queue(void) {
    int64_t limit = now_ns() + LONG_ENOUGH;
    struct pollfd ready = {_dispatch_get_main_queue_handle_4CF(), POLLIN, 0};
    while (harness_stats().handlers > 0 && now_ns() < limit) {
        if (poll(&ready, 1, 1) > 0) {
            uint64_t count;
            CHECK(read(ready.fd, &count, sizeof count) == (ssize_t)sizeof count);
            _dispatch_main_queue_callback_4CF(NULL);
        }
    }
}

static void scene_main(cast *self) {
    vow_promise *promise = vow_promise_with(cast_object(self));
    promise = cast_link(self, vow_executor_main(), promise, make_promise, NULL);
    promise = cast_link(self, vow_executor_pool(), promise, make_string, NULL);
    promise = cast_link(self, vow_executor_main(), promise, make_chain, NULL);
    run_main_queue();
    settles(promise, 0);
}

#define SCENES_QUEUES                                                                              \
    {"a serial dispatch queue", scene_serial_queue_of_program},                                    \
        {"a concurrent dispatch queue", scene_plain_queue}, {"barriers", scene_barriers}, {        \
        "the main queue", scene_main                                                               \
    }

#endif
