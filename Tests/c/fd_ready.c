/* Tests vow_fd_ready, on a loop's thread and elsewhere. */
#include "tools.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

static void write_one(int fd) {
    CHECK_INT_EQ(write(fd, "x", 1), 1);
}

static void read_one(int fd) {
    char byte;
    CHECK_INT_EQ(read(fd, &byte, 1), 1);
}

static bool is_pending(vow_promise *promise) {
    return vow_await(promise, 5 * MILLISECOND, NULL) == (int)VOW_PENDING;
}

static void pipes(void) {
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    vow_promise *readable = vow_fd_ready(ends[0], VOW_READ);
    CHECK(is_pending(readable));
    CHECK_INT_EQ(int_of(vow_fd_ready(ends[1], VOW_WRITE)), VOW_WRITE);
    write_one(ends[1]);
    CHECK_INT_EQ(int_of(readable), VOW_READ);
    CHECK_INT_EQ(int_of(vow_fd_ready(ends[0], VOW_READ)), VOW_READ);
    read_one(ends[0]);
    readable = vow_fd_ready(ends[0], VOW_READ);
    CHECK(is_pending(readable));
    close(ends[1]);
    CHECK_INT_EQ(int_of(readable), VOW_READ);
    close(ends[0]);
}

static void sockets(void) {
    int ends[2];
    CHECK_INT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    CHECK_INT_EQ(int_of(vow_fd_ready(ends[0], VOW_READ | VOW_WRITE)), VOW_WRITE);
    vow_promise *first = vow_fd_ready(ends[0], VOW_READ);
    vow_promise *second = vow_fd_ready(ends[0], VOW_READ);
    CHECK_INT_EQ(int_of(vow_fd_ready(ends[0], VOW_WRITE)), VOW_WRITE);
    CHECK(is_pending(first));
    write_one(ends[1]);
    CHECK_INT_EQ(int_of(first), VOW_READ);
    CHECK_INT_EQ(int_of(second), VOW_READ);
    CHECK_INT_EQ(int_of(vow_fd_ready(ends[0], VOW_READ | VOW_WRITE)), VOW_READ | VOW_WRITE);
    read_one(ends[0]);
    first = vow_fd_ready(ends[0], VOW_READ);
    close(ends[1]);
    CHECK_INT_EQ(int_of(first), VOW_READ);
    CHECK_INT_EQ(int_of(vow_fd_ready(ends[0], VOW_WRITE)), VOW_WRITE);
    close(ends[0]);
}

static void others(void) {
    FILE *file = tmpfile();
    CHECK_INT_EQ(int_of(vow_fd_ready(fileno(file), VOW_READ)), VOW_READ);
    CHECK_INT_EQ(int_of(vow_fd_ready(fileno(file), VOW_READ | VOW_WRITE)), VOW_READ | VOW_WRITE);
    fclose(file);
}

static void bad_input(void) {
    vow_value out = vow_none();
    vow_promise *promise = vow_fd_ready(-1, VOW_READ);
    CHECK_INT_EQ(vow_await(promise, 0, &out), VOW_REJECTED);
    CHECK_INT_EQ(vow_error_code(out), VOW_EINVAL);
    CHECK_STR_EQ(vow_error_message(out), "vow_fd_ready: fd is not open");
    vow_value_release(out);
    vow_promise_release(promise);
    CHECK_INT_EQ(code_of(vow_fd_ready(1000000, VOW_READ)), VOW_EINVAL);
    CHECK_INT_EQ(code_of(vow_fd_ready(0, 0)), VOW_EINVAL);
    CHECK_INT_EQ(code_of(vow_fd_ready(0, 4)), VOW_EINVAL);
}

/* A number that is closed and opened again is another descriptor. */
static void reuse(void) {
    for (int round = 0; round < 200 / slowness() + 1; round++) {
        int ends[2];
        CHECK_INT_EQ(pipe(ends), 0);
        vow_promise *unwanted = vow_fd_ready(ends[0], VOW_READ);
        vow_promise *more = vow_fd_ready(ends[0], VOW_READ);
        vow_promise_release(unwanted);
        vow_promise_release(more);
        close(ends[0]);
        close(ends[1]);
        CHECK_INT_EQ(pipe(ends), 0);
        vow_promise *readable = vow_fd_ready(ends[0], VOW_READ);
        CHECK_INT_EQ(vow_promise_state(readable), VOW_PENDING);
        write_one(ends[1]);
        CHECK_INT_EQ(int_of(readable), VOW_READ);
        close(ends[0]);
        close(ends[1]);
    }
}

static void many(void) {
    enum { count = 200 };
    int ends[count][2];
    vow_promise *ready[count];
    for (int i = 0; i < count; i++) {
        CHECK_INT_EQ(pipe(ends[i]), 0);
        ready[i] = vow_fd_ready(ends[i][0], VOW_READ);
    }
    for (int i = 0; i < count; i++) {
        write_one(ends[count - 1 - i][1]);
    }
    for (int i = 0; i < count; i++) {
        CHECK_INT_EQ(int_of(ready[i]), VOW_READ);
        close(ends[i][0]);
        close(ends[i][1]);
    }
}

static void on_a_loop(void (*part)(void)) {
    vow_loop *loop = vow_loop_create();
    part();
    struct pollfd one = {vow_loop_fd(loop), POLLIN, 0};
    CHECK_INT_EQ(poll(&one, 1, 0), 0);
    vow_loop_destroy(loop);
}

TEST("a pipe: data, room, the end; off a loop") {
    pipes();
}

TEST("the same on a loop") {
    on_a_loop(pipes);
}

TEST("a socket: several watches of one descriptor; off a loop") {
    sockets();
}

TEST("the same for sockets on a loop") {
    on_a_loop(sockets);
}

TEST("a regular file is always ready") {
    others();
    on_a_loop(others);
}

TEST("a descriptor that is not open, no events, unknown events: VOW_EINVAL") {
    bad_input();
    on_a_loop(bad_input);
}

TEST("a watch that nobody wants is gone before the release returns; off a loop") {
    reuse();
}

TEST("the same for watches on a loop") {
    on_a_loop(reuse);
}

TEST("200 descriptors, on a loop and off") {
    many();
    on_a_loop(many);
}

TEST("a ready descriptor makes the loop's readable, and run_once counts it") {
    vow_loop *loop = vow_loop_create();
    struct pollfd one = {vow_loop_fd(loop), POLLIN, 0};
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    vow_promise *readable = vow_fd_ready(ends[0], VOW_READ);
    CHECK_INT_EQ(poll(&one, 1, 5), 0);
    write_one(ends[1]);
    CHECK_INT_EQ(poll(&one, 1, 60000 * slowness()), 1);
    CHECK_INT_EQ(vow_loop_run_once(loop, VOW_FOREVER), 1);
    CHECK_INT_EQ(poll(&one, 1, 5), 0);
    CHECK_INT_EQ(int_of(readable), VOW_READ);
    close(ends[0]);
    close(ends[1]);
    vow_loop_destroy(loop);
}

TEST("destroying a loop rejects its watches with VOW_ESHUTDOWN") {
    vow_loop *loop = vow_loop_create();
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    vow_promise *first = vow_fd_ready(ends[0], VOW_READ);
    vow_promise *second = vow_fd_ready(ends[0], VOW_READ);
    vow_loop_destroy(loop);
    CHECK_INT_EQ(code_of(first), VOW_ESHUTDOWN);
    CHECK_INT_EQ(code_of(second), VOW_ESHUTDOWN);
    close(ends[0]);
    close(ends[1]);
}

/* One end of a conversation: reads a number when it is there, and writes the next. */
typedef struct player {
    int fd;
    int64_t left;
    vow_resolver *done;
} player;

static vow_value play(vow_value input, void *context) {
    player *self = context;
    char byte;
    (void)input;
    if (read(self->fd, &byte, 1) != 1 || write(self->fd, &byte, 1) != 1) {
        vow_resolve(self->done, vow_int(self->left));
        return vow_none();
    }
    if (--self->left == 0) {
        vow_resolve(self->done, vow_int(0));
        return vow_none();
    }
    vow_promise_release(vow_then(vow_fd_ready(self->fd, VOW_READ), play, self));
    return vow_none();
}

static void ping_pong(void) {
    int ends[2];
    player players[2];
    vow_promise *done[2];
    CHECK_INT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    for (int i = 0; i < 2; i++) {
        players[i].fd = ends[i];
        players[i].left = 5000 / slowness();
        done[i] = vow_promise_create(&players[i].done);
        vow_promise_release(vow_then(vow_fd_ready(ends[i], VOW_READ), play, &players[i]));
    }
    write_one(ends[0]);
    for (int i = 0; i < 2; i++) {
        CHECK_INT_EQ(int_of(done[i]), 0);
        vow_resolver_release(players[i].done);
        close(ends[i]);
    }
}

TEST("two ends of a socket talk, on a loop and off") {
    ping_pong();
    on_a_loop(ping_pong);
}

static void *release_it(void *context) {
    vow_promise_release(context);
    return NULL;
}

TEST("watches released by another thread while they fire") {
    for (int round = 0; round < 300 / slowness() + 1; round++) {
        vow_loop *loop = round % 2 == 0 ? vow_loop_create() : NULL;
        int ends[2];
        CHECK_INT_EQ(pipe(ends), 0);
        vow_promise *one = vow_fd_ready(ends[0], VOW_READ);
        vow_promise *other = vow_fd_ready(ends[0], VOW_READ);
        pthread_t thread = start_thread(release_it, one);
        write_one(ends[1]);
        CHECK_INT_EQ(int_of(other), VOW_READ);
        pthread_join(thread, NULL);
        close(ends[0]);
        close(ends[1]);
        vow_loop_destroy(loop);
    }
}

TEST("in a forked child: VOW_EFORKED off loops, and the parent's watch goes on") {
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    vow_loop *loop = vow_loop_create();
    vow_promise *readable = vow_fd_ready(ends[0], VOW_READ);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        CHECK_INT_EQ(code_of(vow_fd_ready(ends[0], VOW_READ)), VOW_EFORKED);
        vow_loop_destroy(loop);
        CHECK_INT_EQ(code_of(readable), VOW_ESHUTDOWN);
        CHECK_INT_EQ(code_of(vow_fd_ready(ends[0], VOW_READ)), VOW_EFORKED);
        vow_loop *own = vow_loop_create();
        CHECK_INT_EQ(int_of(vow_fd_ready(ends[1], VOW_WRITE)), VOW_WRITE);
        vow_loop_destroy(own);
        fflush(stdout);
        _exit(atomic_load(&harness_failures) == 0 ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    write_one(ends[1]);
    CHECK_INT_EQ(int_of(readable), VOW_READ);
    close(ends[0]);
    close(ends[1]);
    vow_loop_destroy(loop);
}

TEST("cancelling a watch rejects it, and leaves the others of the descriptor alone") {
    for (int i = 0; i < 2; i++) {
        vow_loop *loop = i == 0 ? NULL : vow_loop_create();
        int ends[2];
        CHECK_INT_EQ(pipe(ends), 0);
        vow_promise *one = vow_fd_ready(ends[0], VOW_READ);
        vow_promise *other = vow_fd_ready(ends[0], VOW_READ);
        CHECK(vow_cancel(one));
        CHECK_INT_EQ(code_of(one), VOW_ECANCELLED);
        write_one(ends[1]);
        CHECK_INT_EQ(int_of(other), VOW_READ);
        close(ends[0]);
        close(ends[1]);
        vow_loop_destroy(loop);
    }
}

static vow_value await_given(vow_value input, void *context) {
    (void)input;
    return vow_int(vow_await(context, LONG_ENOUGH, NULL));
}

TEST("an inline handler of one watch may wait for another that is ready as well") {
    vow_loop *loop = vow_loop_create();
    int ends[2];
    CHECK_INT_EQ(pipe(ends), 0);
    vow_promise *first = vow_fd_ready(ends[0], VOW_READ);
    vow_promise *second = vow_fd_ready(ends[0], VOW_READ);
    first = then_inline(first, await_given, second);
    write_one(ends[1]);
    CHECK_INT_EQ(int_of(first), VOW_FULFILLED);
    CHECK_INT_EQ(int_of(second), VOW_READ);
    close(ends[0]);
    close(ends[1]);
    vow_loop_destroy(loop);
}
