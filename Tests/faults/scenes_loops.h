/* Scenes of event loops: handlers, descriptors, other threads, and the end of a loop. */
#ifndef VOW_TEST_SCENES_LOOPS_H
#define VOW_TEST_SCENES_LOOPS_H

#include "cast.h"

static void scene_loop(cast *self) {
    vow_loop *loop = vow_loop_create();
    if (is_made(loop)) {
        vow_executor *executor = vow_loop_executor(loop);
        CHECK(executor != NULL && vow_loop_fd(loop) >= 0);
        vow_promise *promise = vow_promise_with(cast_object(self));
        promise = cast_link(self, executor, promise, make_promise, NULL);
        promise = cast_link(self, vow_executor_pool(), promise, make_string, NULL);
        promise = cast_link(self, executor, promise, make_chain, NULL);
        promise = vow_then(promise, make_promise, &shared);
        vow_loop_wake(loop);
        CHECK(vow_loop_run_once(loop, SECOND) >= 0);
        int state = vow_loop_run_until(loop, promise, LONG_ENOUGH);
        CHECK(state == (int)VOW_FULFILLED || (state == (int)VOW_REJECTED && lacked_memory()));
        settles(promise, 0);
        vow_loop_destroy(loop);
    }
}

/* Runs the others inside a handler of the loop. */
static vow_value run_others(vow_value input, void *context) {
    vow_promise *other = vow_then(fulfilled_int(1), make_chain, &shared);
    (void)input;
    runs_now(context);
    int state = vow_await(other, LONG_ENOUGH, NULL);
    CHECK(state == (int)VOW_FULFILLED || lacked_memory());
    vow_promise_release(other);
    return vow_none();
}

static void scene_loop_in_loop(cast *self) {
    vow_loop *loop = vow_loop_create();
    vow_promise *promise =
        cast_link(self, vow_loop_executor(loop), fulfilled_int(1), run_others, NULL);
    vow_promise *second =
        cast_link(self, vow_loop_executor(loop), fulfilled_int(1), run_others, NULL);
    is_made(loop);
    settles(promise, 0);
    settles(second, 0);
    vow_loop_destroy(loop);
}

static void scene_loop_destroyed(cast *self) {
    vow_loop *loop = vow_loop_create();
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    if (is_made(loop)) {
        vow_executor *executor = vow_executor_retain(vow_loop_executor(loop));
        vow_promise *all[6];
        for (int i = 0; i < 4; i++) {
            all[i] = cast_link(self, executor, vow_promise_with(cast_object(self)), pass_on, NULL);
        }
        all[4] = cast_inline(self, vow_delay(3600 * SECOND), pass_on, NULL);
        all[5] = cast_inline(self, vow_fd_ready(ends[0], VOW_READ), pass_on, NULL);
        vow_loop_destroy(loop);
        for (int i = 0; i < 6; i++) {
            CHECK_INT_EQ(vow_promise_state(all[i]), VOW_REJECTED);
            settles(all[i], VOW_ESHUTDOWN);
        }
        settles(cast_link(self, executor, vow_promise_with(cast_object(self)), pass_on, NULL),
                VOW_ESHUTDOWN);
        vow_executor_release(executor);
    }
    close(ends[0]);
    close(ends[1]);
}

static vow_value destroy_loop(vow_value input, void *context) {
    vow_loop_destroy(context);
    return vow_value_retain(input);
}

static void scene_loop_destroys_itself(cast *self) {
    vow_loop *loop = vow_loop_create();
    if (is_made(loop)) {
        vow_executor *executor = vow_loop_executor(loop);
        vow_promise *last = vow_promise_with(cast_object(self));
        vow_promise *first = then_on(executor, fulfilled_int(1), destroy_loop, loop);
        last = cast_link(self, executor, last, pass_on, NULL);
        int64_t code = code_of(vow_promise_retain(first));
        if (code != 0 && code != VOW_ESHUTDOWN) {
            /* The handler that was to destroy it could not be made. */
            is_code(code, 0);
            vow_loop_destroy(loop);
        }
        settles_or(first, 0, VOW_ESHUTDOWN);
        settles(last, VOW_ESHUTDOWN);
    }
}

static void wait_for_descriptors(cast *self) {
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    vow_promise *given_up = vow_fd_ready(ends[0], VOW_READ);
    vow_promise *writable = cast_inline(self, vow_fd_ready(ends[1], VOW_WRITE), pass_on, NULL);
    vow_promise *readable = cast_inline(self, vow_fd_ready(ends[0], VOW_READ), pass_on, NULL);
    vow_promise_release(vow_fd_ready(ends[0], VOW_READ));
    settles_int(writable, VOW_WRITE);
    CHECK(vow_cancel(given_up) || lacked_memory());
    settles(given_up, VOW_ECANCELLED);
    CHECK_INT_EQ(write(ends[1], "x", 1), 1);
    settles_int(readable, VOW_READ);
    close(ends[0]);
    close(ends[1]);
    settles(vow_fd_ready(ends[0], VOW_READ), VOW_EINVAL);
}

static void scene_descriptors(cast *self) {
    wait_for_descriptors(self);
}

static void scene_descriptors_on_loop(cast *self) {
    vow_loop *loop = vow_loop_create();
    is_made(loop);
    wait_for_descriptors(self);
    vow_loop_destroy(loop);
}

/* Another thread gives work to the loop, while this one runs it. */
typedef struct giver {
    cast *owner;
    vow_executor *executor;
    atomic_int ends;
} giver;

static void *give_work(void *context) {
    giver *self = context;
    for (int i = 0; i < 3; i++) {
        vow_promise *promise = vow_promise_with(cast_object(self->owner));
        settles(cast_link(self->owner, self->executor, promise, make_chain, pass_on), 0);
    }
    atomic_store(&self->ends, 1);
    return NULL;
}

static void scene_loop_of_two(cast *self) {
    vow_loop *loop = vow_loop_create();
    if (is_made(loop)) {
        giver other = {self, vow_executor_retain(vow_loop_executor(loop)), 0};
        int64_t limit = now_ns() + LONG_ENOUGH;
        pthread_t thread = start_thread(give_work, &other);
        while (atomic_load(&other.ends) == 0 && now_ns() < limit) {
            CHECK(vow_loop_run_once(loop, MILLISECOND) >= 0);
        }
        pthread_join(thread, NULL);
        vow_executor_release(other.executor);
        vow_loop_destroy(loop);
    }
}

#define SCENES_LOOPS                                                                               \
    {"a loop", scene_loop}, {"a loop in a loop", scene_loop_in_loop},                              \
        {"a loop that is destroyed", scene_loop_destroyed},                                        \
        {"a loop that destroys itself", scene_loop_destroys_itself},                               \
        {"descriptors", scene_descriptors}, {"descriptors on a loop", scene_descriptors_on_loop},  \
    {                                                                                              \
        "a loop that gets work of another thread", scene_loop_of_two                               \
    }

#endif
