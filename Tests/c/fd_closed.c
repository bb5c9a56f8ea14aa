/* Tests vow_fd_ready for programs that close what they watch: where the kernel shows it, the watch
 * is rejected. */
#include "tools.h"
#include <poll.h>

/* Reading ends of two pipes, of which the second has the number of the first, which was closed. */
typedef struct reused {
    vow_promise *old; /* watched the first */
    int fd;           /* the number */
    int writer;       /* to the second */
} reused;

static reused close_and_reuse(void) {
    int first[2], second[2];
    reused all;
    CHECK_INT_EQ(pipe(first), 0);
    all.fd = first[0];
    all.old = vow_fd_ready(all.fd, VOW_READ);
    close(first[0]);
    close(first[1]);
    CHECK_INT_EQ(pipe(second), 0);
    if (second[0] != all.fd) {
        CHECK_INT_EQ(dup2(second[0], all.fd), all.fd);
        if (second[1] == all.fd) {
            abort();
        }
        close(second[0]);
    }
    all.writer = second[1];
    return all;
}

/* Without a loop, and with one; runs the part with its thread's loop. */
static void off_and_on_a_loop(void (*part)(void)) {
    part();
    vow_loop *loop = vow_loop_create();
    part();
    vow_loop_destroy(loop);
}

static void watch_again(void) {
    reused all = close_and_reuse();
    vow_promise *anew = vow_fd_ready(all.fd, VOW_READ);
    CHECK_INT_EQ(code_of(all.old), VOW_EINVAL);
    CHECK_INT_EQ(vow_await(anew, 5 * MILLISECOND, NULL), VOW_PENDING);
    CHECK_INT_EQ(write(all.writer, "x", 1), 1);
    CHECK_INT_EQ(int_of(anew), VOW_READ);
    close(all.fd);
    close(all.writer);
}

TEST("a closed descriptor whose number is watched again: the old watch is rejected, the new one "
     "fires") {
    off_and_on_a_loop(watch_again);
}

static void say_why(void) {
    reused all = close_and_reuse();
    vow_value error;
    vow_promise *anew = vow_fd_ready(all.fd, VOW_READ);
    CHECK_INT_EQ(vow_await(all.old, LONG_ENOUGH, &error), VOW_REJECTED);
    CHECK_STR_HAS(vow_error_message(error), "vow_fd_ready: the descriptor was closed");
    vow_value_release(error);
    vow_promise_release(all.old);
    vow_promise_release(anew);
    close(all.fd);
    close(all.writer);
}

TEST("the error says so") {
    off_and_on_a_loop(say_why);
}

static void leave_one(void) {
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    vow_promise *one = vow_fd_ready(ends[0], VOW_READ);
    vow_promise *other = vow_fd_ready(ends[0], VOW_READ);
    vow_promise *third = vow_fd_ready(ends[0], VOW_READ);
    close(ends[0]);
    vow_promise_release(one);
    CHECK_INT_EQ(code_of(other), VOW_EINVAL);
    CHECK_INT_EQ(code_of(third), VOW_EINVAL);
    close(ends[1]);
}

TEST("a closed descriptor of which one watch ends: the others are rejected") {
    off_and_on_a_loop(leave_one);
}

/* Has the number of the one that was closed, of which there is a duplicate. */
static void watch_beside_duplicate(void) {
    int first[2];
    CHECK_INT_EQ(pipe(first), 0);
    int duplicate = dup(first[0]);
    vow_promise *old = vow_fd_ready(first[0], VOW_READ);
    int second[2];
    CHECK_INT_EQ(pipe(second), 0);
    CHECK_INT_EQ(dup2(second[0], first[0]), first[0]);
    vow_promise *anew = vow_fd_ready(first[0], VOW_READ);
    CHECK_INT_EQ(code_of(old), VOW_EINVAL);
    CHECK_INT_EQ(vow_await(anew, 5 * MILLISECOND, NULL), VOW_PENDING);
    CHECK_INT_EQ(write(first[1], "x", 1), 1);
    CHECK_INT_EQ(int_of(anew), VOW_READ);
    close(duplicate);
    close(first[0]);
    close(first[1]);
    close(second[0]);
    close(second[1]);
}

TEST("the kernel takes what happens to a duplicate of a closed descriptor for the new one's") {
    off_and_on_a_loop(watch_beside_duplicate);
}

TEST("a readable duplicate of a closed descriptor keeps the loop's own readable") {
    int ends[2];
    vow_loop *loop = vow_loop_create();
    CHECK_INT_EQ(pipe(ends), 0);
    int duplicate = dup(ends[0]);
    vow_promise *old = vow_fd_ready(ends[0], VOW_READ);
    close(ends[0]);
    vow_promise_release(old);
    CHECK_INT_EQ(write(ends[1], "x", 1), 1);
    struct pollfd one = {vow_loop_fd(loop), POLLIN, 0};
    for (int i = 0; i < 3; i++) {
        CHECK_INT_EQ(vow_loop_run_once(loop, 0), 0);
        CHECK_INT_EQ(poll(&one, 1, 0), 1);
    }
    close(duplicate);
    CHECK_INT_EQ(poll(&one, 1, 0), 0);
    close(ends[1]);
    vow_loop_destroy(loop);
}

#ifdef VOW_CHECKED
TEST("the checked library finds it when the loop has nothing else to do") {
    vow_loop *loop = vow_loop_create();
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    vow_promise *readable = vow_fd_ready(ends[0], VOW_READ);
    close(ends[0]);
    CHECK_INT_EQ(code_of(readable), VOW_EINVAL);
    close(ends[1]);
    vow_loop_destroy(loop);
}

TEST("and off loops with the next watch, of whatever descriptor") {
    int closed[2], open[2];
    CHECK_INT_EQ(pipe(closed), 0);
    CHECK_INT_EQ(pipe(open), 0);
    vow_promise *readable = vow_fd_ready(closed[0], VOW_READ);
    close(closed[0]);
    vow_promise_release(vow_fd_ready(open[0], VOW_READ));
    CHECK_INT_EQ(code_of(readable), VOW_EINVAL);
    close(closed[1]);
    close(open[0]);
    close(open[1]);
}
#endif
